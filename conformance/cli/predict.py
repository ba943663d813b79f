"""``binlog-lab predict``: the bytes that MySQL will write for ``UPDATE t SET j = EXPR``, without a server."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeVar

import click

from conformance.cli.console import Usage
from conformance.cli.dialects import named_dialect
from conformance.cli.predict_output import Step, as_json, as_text
from conformance.exit_code import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.reference.dialect import Dialect, JsonForms
    from conformance.reference.errors import MysqlError
    from conformance.reference.sql.row_expressions import ReadExpression, RowFacts
    from conformance.reference.sql.values import SqlValue

_T = TypeVar("_T")
_COLUMN: Final = "j"
_OTHER: Final = "other"
_KEY: Final = "id"


@click.command
@click.option("--document", metavar="JSON", help="The document before the update, as JSON text; stored without holes.")
@click.option(
    "--document-hex", metavar="JSONB|-", help="The document's stored bytes, in hexadecimal; - reads them from stdin."
)
@click.option("--update", required=True, metavar="EXPR", help="The right-hand side: UPDATE t SET j = EXPR.")
@click.option("--then", "then", multiple=True, metavar="EXPR", help="Right-hand side of a further UPDATE; repeatable.")
@click.option("--row-changes", is_flag=True, help="Another column of the row changes too, in every step.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another column of the row, which EXPR may read; VALUE as SQL, CAST('…' AS JSON) for a JSON column.",
)
@click.option("--now", metavar="MOMENT", help="What NOW() gives: YYYY-MM-DD HH:MM:SS[.ffffff]; in UTC.")
@click.option(
    "--row-value-options",
    type=click.Choice(("PARTIAL_JSON", "")),
    default="PARTIAL_JSON",
    show_default=True,
    help="The session's binlog_row_value_options.",
)
@click.option(
    "--dialect", default="mysql-9.7", show_default=True, metavar="V", help="The server to model: a version or a name."
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(
    document: str | None,
    document_hex: str | None,
    update: str,
    then: tuple[str, ...],
    columns: tuple[str, ...],
    now: str | None,
    row_value_options: str,
    row_changes: bool,
    dialect: str,
    form: str,
) -> int:
    """Predict the binary log of UPDATE t SET j = EXPR, byte for byte.

    EXPR is SQL on the column j and columns given with --column: the JSON functions that change documents, ->, ->>,
    JSON_EXTRACT, IFNULL, CAST, arithmetic, NOW() and its like, literals. Each step starts from the document that the
    previous step left, with its holes. Where MySQL logs the document whole, the output says why, and which form would
    be logged as diffs. The table is InnoDB, with binlog_row_image = FULL, the default sql_mode and the time zone UTC.
    """
    model = _dialect(dialect)
    before = _document(document, document_hex, model.json)
    row = _row(columns, now, model.json)
    steps = _run(
        before,
        (update, *then),
        row,
        row_changes=row_changes,
        dialect=model,
        partial_json=bool(row_value_options),
        known_moment=now is not None,
    )
    if form == "json":
        output = "[" + ",\n ".join(as_json(step, model) for step in steps) + "]"
    else:
        output = "\n".join(as_text(number, step, model) for number, step in enumerate(steps, 1))
    # Bytes that are not UTF-8 (a --document-hex may hold some) are printed as escapes.
    click.echo(output.encode("utf-8", "backslashreplace"))
    return int(ExitCode.OK)


# --- input -----------------------------------------------------------------------------------------------------------


def _document(text: str | None, hexadecimal: str | None, forms: JsonForms) -> bytes:
    from conformance.reference.errors import CodecError, MysqlError
    from conformance.reference.jsonb.decode import decode
    from conformance.reference.jsonb.encode import encode
    from conformance.reference.jsonb.parse import parse_text

    if (text is None) == (hexadecimal is None):
        raise Usage("give the document with either --document or --document-hex")
    try:
        if text is not None:
            return encode(parse_text(text, forms))
    except MysqlError as error:
        raise Usage(f"the document: {error} ({error.symbol})") from error
    assert hexadecimal is not None
    data = _from_hex(sys.stdin.buffer.read() if hexadecimal == "-" else hexadecimal.encode())
    try:
        decode(data)
    except CodecError as error:
        if not isinstance(error, MysqlError) or error.number != 3157:  # in-place updates can nest it so deep
            raise Usage(f"the document is not JSONB: {error}") from error
    return data


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


def _dialect(name: str) -> Dialect:
    """A dialect by its name, or by the version of a server: 9.7.4, 8.4, 8.0.36-28."""
    dialect = named_dialect(name)
    if not dialect.json.exists:
        raise Usage(f"MySQL {name} has no JSON type", hint="it came with 5.7.8")
    if not dialect.log.has_event39 and dialect.server.lob_format == "new":
        raise Usage(f"MySQL {name} is one of the first milestones of 8.0, of which nobody knows what it does in place")
    return dialect


def _row(columns: tuple[str, ...], now: str | None, forms: JsonForms) -> RowFacts:
    """The columns beside the document, and the moment: the present one, if none is given."""
    from conformance.reference.jsonb.encode import encode
    from conformance.reference.sql.row_expressions import RowFacts, read_value
    from conformance.reference.sql.values import SqlType

    documents: dict[str, bytes | None] = {}
    values: dict[str, SqlValue] = {}
    for item in columns:
        name, equals, sql = item.partition("=")
        if not equals or name.lower() in (_COLUMN, _OTHER, _KEY, *documents, *values):
            raise Usage(f"--column {item}: NAME=VALUE, with a name of its own", hint=f"not {_COLUMN}, {_OTHER}, {_KEY}")
        value = _read(sql, lambda sql=sql: read_value(sql, RowFacts({}), forms))  # type: ignore[misc]
        if value.type is SqlType.JSON:
            documents[name] = encode(value.json)
        else:
            values[name] = value
    try:
        moment = datetime.now(UTC).replace(tzinfo=None) if now is None else datetime.fromisoformat(now)
    except ValueError as error:
        raise Usage(f"--now: {error}", hint="YYYY-MM-DD HH:MM:SS[.ffffff]") from error
    return RowFacts(documents, values, moment.replace(tzinfo=None))


def _run(
    before: bytes,
    expressions: tuple[str, ...],
    others: RowFacts,
    *,
    row_changes: bool,
    dialect: Dialect,
    partial_json: bool,
    known_moment: bool,
) -> list[Step]:
    from conformance.cases.predict import Model
    from conformance.cases.session import Session
    from conformance.cases.update_case import Step as Statement
    from conformance.reference.errors import MysqlError
    from conformance.reference.partial.expression import Assignment, Increment
    from conformance.reference.tables.definitions import Column, Table

    documents = [Column(name=name, type="JSON") for name in (_COLUMN, *others.documents)]
    columns = (Column(name=_KEY, type="INT"), *documents, Column(name=_OTHER, type="INT"))
    table = Table(schema="lab", name="t", columns=columns, primary_key=((0, 0),))
    start = {_KEY: 1, _COLUMN: before, **others.documents, _OTHER: 0}
    model = Model(table, _KEY, Session(partial_json=partial_json), [start], dialect=dialect, literals_are_sql=False)
    beside = (Assignment(_OTHER, Increment(_OTHER, 1)),) if row_changes else ()
    steps: list[Step] = []
    for sql in expressions:
        now = model.rows[0][_COLUMN]
        assert now is None or isinstance(now, bytes)
        parsed = _parse(sql, replace(others, documents={_COLUMN: now, **others.documents}), dialect.json)
        refused = parsed if isinstance(parsed, MysqlError) else None
        expression = parsed.decoded if isinstance(parsed, MysqlError) else parsed.expression
        if expression is None:
            steps.append(Step(sql, refused))
            continue
        prediction = model.predict(Statement((Assignment(_COLUMN, expression), *beside), (0,)))
        if prediction.error is not None:
            steps.append(Step(sql, prediction.error))
            continue
        (row,) = prediction.rows
        change = row.change.columns[_COLUMN]
        if refused is not None and change.after is not None:  # the server reaches the value that it refuses
            steps.append(Step(sql, refused))
            continue
        stored = row.change.after[_COLUMN]
        assert stored is None or isinstance(stored, bytes)
        step = Step(sql, None, change, row.decisions[_COLUMN] if row.change.logged else None, stored)
        if not isinstance(parsed, MysqlError):
            step = _advised(step, parsed, model.rows[0], dialect, known_moment=known_moment)
        steps.append(step)
        model.advance(prediction)
    return steps


def _advised(
    step: Step, parsed: ReadExpression, row: Mapping[str, object], dialect: Dialect, *, known_moment: bool
) -> Step:
    """The step with the reason why it is logged whole, the form that would not be, and what was assumed."""
    from conformance.reference.errors import EncodeError
    from conformance.reference.partial.reasons import why_whole
    from conformance.reference.partial.rewriting import diff_form
    from conformance.reference.sql.formatting import format_expression

    if step.decision is None:
        return step
    step = replace(step, assumed=() if known_moment else parsed.moments)
    assert step.change is not None
    assert step.decision is not None
    reason = why_whole(parsed.expression, _COLUMN, step.change, step.decision, dialect)
    if reason is None:
        return step
    step = replace(step, why_whole=reason)
    form = None
    if step.stored is not None and reason.code not in ("option-off", "version"):
        form = diff_form(parsed.expression, _COLUMN, row, step.stored, dialect)
    if form is None:
        return step
    try:
        return replace(step, as_diffs=format_expression(form.expression), general=form.general)
    except EncodeError:
        return step  # a value that no literal makes


def _parse(sql: str, row: RowFacts, forms: JsonForms) -> ReadExpression | MysqlError:
    """The expression, or the error with which MySQL refuses it. Text outside the grammar ends the command."""
    from conformance.reference.errors import MysqlError
    from conformance.reference.sql.row_expressions import read_expression

    try:
        return _read(sql, lambda: read_expression(sql, row, forms))
    except MysqlError as error:
        return error


def _read(sql: str, read: Callable[[], _T]) -> _T:
    from conformance.reference.errors import CodecError, MysqlError

    try:
        return read()
    except MysqlError:
        raise
    except CodecError as error:
        where = ""
        if error.offset is not None and len(sql) <= 200 and sql.isprintable():
            where = f"\n  {sql}\n  {' ' * error.offset}^"
        raise Usage(f"{error}{where}", hint="see: binlog-lab predict --help") from error
