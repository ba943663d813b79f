"""Predictions printed: the document and the columns as a user gives them, and the steps as text or JSON."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from conformance.cases.prediction_text import as_json, as_text
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from conformance.cases.one_row import UnreadableSqlError
    from conformance.reference.dialect import Dialect, JsonForms


def print_prediction(
    *,
    document: str | None,
    document_hex: str | None,
    update: str,
    then: tuple[str, ...],
    columns: tuple[str, ...],
    now: str | None,
    row_value_options: str,
    row_changes: bool,
    dialect: Dialect,
    version: str,
    form: str,
) -> int:
    """Predict each step and print it. ``version``: the name of the dialect in messages."""
    from conformance.cases.one_row import UnreadableSqlError, predict
    from conformance.reference.errors import CodecError
    from conformance.runs.predicted_statements import read_steps

    _require_json(dialect, version)
    before = _document(document, document_hex, dialect.json)
    try:
        asked = read_steps((update, *then))
    except CodecError as error:
        raise Usage(
            f"the statement: {error}", hint="give the right-hand side alone: binlog-lab predict --help"
        ) from error
    if asked.beside:
        narrate(f"taken to change too: {', '.join(asked.beside)}")
    try:
        steps = predict(
            before,
            *asked.updates,
            column=asked.column,
            columns=_columns(columns, asked.column),
            now=None if now is None else _moment(now),
            partial_json=bool(row_value_options),
            row_changes=row_changes or bool(asked.beside),
            dialect=dialect,
        )
    except ValueError as error:
        if not isinstance(error, UnreadableSqlError):
            raise Usage(str(error)) from error
        raise Usage(f"{error}{_where(error)}", hint="see: binlog-lab predict --help") from error
    if form == "json":
        output = "[" + ",\n ".join(as_json(step, dialect) for step in steps) + "]"
    else:
        output = "\n".join(as_text(number, step, dialect) for number, step in enumerate(steps, 1))
    # Bytes that are not UTF-8 (a --document-hex may hold some) are printed as escapes.
    click.echo(output.encode("utf-8", "backslashreplace"))
    return int(ExitCode.OK)


def _where(error: UnreadableSqlError) -> str:
    """The SQL with a mark below the place of the error."""
    if error.offset is None or len(error.sql) > 200 or not error.sql.isprintable():
        return ""
    return f"\n  {error.sql}\n  {' ' * error.offset}^"


def _document(text: str | None, hexadecimal: str | None, forms: JsonForms) -> bytes:
    from conformance.cases.one_row import stored_document
    from conformance.reference.errors import CodecError, MysqlError

    if (text is None) == (hexadecimal is None):
        raise Usage("give the document with either --document or --document-hex")
    if text is not None and text.startswith("@"):
        text = _text_of(text[1:])
    if text is not None:
        try:
            return stored_document(text, forms)
        except MysqlError as error:
            raise Usage(f"the document: {error} ({error.symbol})") from error
    assert hexadecimal is not None
    try:
        return stored_document(
            _from_hex(sys.stdin.buffer.read() if hexadecimal == "-" else hexadecimal.encode()), forms
        )
    except CodecError as error:
        raise Usage(f"the document is not JSONB: {error}") from error


def _text_of(path: str) -> str:
    from pathlib import Path

    try:
        return Path(path).read_text("utf-8")
    except OSError as problem:
        raise Usage(f"--document @{path}: {problem.strerror or problem}") from problem
    except UnicodeDecodeError as problem:
        raise Usage(f"--document @{path}: no UTF-8 at byte {problem.start}") from problem


def _from_hex(raw: bytes) -> bytes:
    """The bytes of hexadecimal digits, with optional white space between them; a pipe may also give the bytes
    themselves.
    """
    if raw[:1] and raw[0] < 0x10 and raw.split()[:1] and not raw.split()[0].isalnum():
        return raw
    try:
        return bytes.fromhex(raw.decode("ascii"))
    except ValueError as error:
        raise Usage(f"--document-hex: {error}") from error


def _require_json(dialect: Dialect, name: str) -> None:
    """Raise unless a server has documents, and the lab knows what it does with them."""
    if not dialect.json.exists:
        raise Usage(f"MySQL {name} has no JSON type", hint="it came with 5.7.8")
    if not dialect.log.has_event39 and dialect.server.lob_format == "new":
        raise Usage(f"MySQL {name} is one of the first milestones of 8.0, of which nobody knows what it does in place")


def _columns(items: tuple[str, ...], document: str) -> dict[str, str]:
    """The columns beside the document by their names, each with its value as SQL."""
    from conformance.cases.one_row import INTERNAL

    taken = (document.lower(), *INTERNAL)
    columns: dict[str, str] = {}
    for item in items:
        name, equals, sql = item.partition("=")
        if not equals or name.lower() in (*taken, *map(str.lower, columns)):
            raise Usage(f"--column {item}: NAME=VALUE, with a name of its own", hint=f"not {', '.join(taken)}")
        columns[name] = sql
    return columns


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Usage(f"--now: {error}", hint="YYYY-MM-DD HH:MM:SS[.ffffff]") from error
