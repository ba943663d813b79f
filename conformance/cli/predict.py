"""``binlog-lab predict``: the bytes that MySQL will write for ``UPDATE t SET j = EXPR``, without a server."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.cli.console import Usage
from conformance.cli.dialects import named_dialect
from conformance.exit_code import ExitCode

if TYPE_CHECKING:
    from conformance.reference.dialect import Dialect, JsonForms
    from conformance.reference.errors import MysqlError
    from conformance.reference.partial.decision import Decision
    from conformance.reference.partial.diffs import Diff
    from conformance.reference.partial.expression import Expression
    from conformance.reference.partial.update import ColumnChange

_COLUMN: Final = "j"
_OTHER: Final = "n"
_KEY: Final = "id"
_SHOWN: Final = 64  # bytes of hex in the text output
_UNCHANGED: Final = "unchanged"  # not a rule of the decision: the row compares equal (partial-update 1.1)


@dataclass(frozen=True, slots=True)
class Step:
    """One statement: its outcome, or the error that MySQL returns."""

    sql: str
    error: MysqlError | None = None
    change: ColumnChange | None = None
    decision: Decision | None = None
    stored: bytes | None = None  # the column's value after the statement

    @property
    def event(self) -> bool:
        """Whether the statement writes a row event."""
        return self.decision is not None


@click.command
@click.option("--document", metavar="JSON", help="The document before the update, as JSON text; stored without holes.")
@click.option(
    "--document-hex", metavar="JSONB|-", help="The document's stored bytes, in hexadecimal; - reads them from stdin."
)
@click.option("--update", required=True, metavar="EXPR", help="The right-hand side: UPDATE t SET j = EXPR.")
@click.option("--then", "then", multiple=True, metavar="EXPR", help="Right-hand side of a further UPDATE; repeatable.")
@click.option("--row-changes", is_flag=True, help="Another column of the row changes too, in every step.")
@click.option(
    "--dialect", default="mysql-9.7", show_default=True, metavar="V", help="The server to model: a version or a name."
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(
    document: str | None,
    document_hex: str | None,
    update: str,
    then: tuple[str, ...],
    row_changes: bool,
    dialect: str,
    form: str,
) -> int:
    """Predict the binary log of UPDATE t SET j = EXPR, byte for byte.

    EXPR is SQL on the column j: nested JSON_SET, JSON_REPLACE and JSON_REMOVE with literals, CAST, JSON_OBJECT,
    JSON_ARRAY, REPEAT and CONCAT. Each step starts from the document that the previous step left, with its holes. The
    table is InnoDB, with binlog_row_value_options = PARTIAL_JSON, binlog_row_image = FULL and the default sql_mode.
    """
    model = _dialect(dialect)
    before = _document(document, document_hex, model.json)
    steps = _run(before, (update, *then), row_changes=row_changes, dialect=model)
    if form == "json":
        output = "[" + ",\n ".join(_json(step, model) for step in steps) + "]"
    else:
        output = "\n".join(_text(number, step, model) for number, step in enumerate(steps, 1))
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


def _run(before: bytes, expressions: tuple[str, ...], *, row_changes: bool, dialect: Dialect) -> list[Step]:
    from conformance.cases.predict import Model
    from conformance.cases.session import Session
    from conformance.cases.update_case import Step as Statement
    from conformance.reference.errors import MysqlError
    from conformance.reference.partial.expression import Assignment, Increment
    from conformance.reference.tables.definitions import Column, Table

    columns = (Column(name=_KEY, type="INT"), Column(name=_COLUMN, type="JSON"), Column(name=_OTHER, type="INT"))
    table = Table(schema="lab", name="t", columns=columns, primary_key=((0, 0),))
    model = Model(table, _KEY, Session(), [{_KEY: 1, _COLUMN: before, _OTHER: 0}], dialect=dialect)
    others = (Assignment(_OTHER, Increment(_OTHER, 1)),) if row_changes else ()
    steps: list[Step] = []
    for sql, parsed in [(sql, _parse(sql, dialect.json)) for sql in expressions]:
        refused = parsed if isinstance(parsed, MysqlError) else None
        expression = parsed.decoded if isinstance(parsed, MysqlError) else parsed
        if expression is None:
            steps.append(Step(sql, refused))
            continue
        prediction = model.predict(Statement((Assignment(_COLUMN, expression), *others), (0,)))
        if prediction.error is not None:
            steps.append(Step(sql, prediction.error))
            continue
        (row,) = prediction.rows
        change = row.change.columns[_COLUMN]
        if refused is not None and change.after is not None:  # the server reaches the value that it refuses
            steps.append(Step(sql, refused))
            continue
        model.advance(prediction)
        stored = row.change.after[_COLUMN]
        assert stored is None or isinstance(stored, bytes)
        steps.append(Step(sql, None, change, row.decisions[_COLUMN] if row.change.logged else None, stored))
    return steps


def _parse(sql: str, forms: JsonForms) -> Expression | MysqlError:
    """The expression, or the error with which MySQL refuses it. Text outside the grammar ends the command."""
    from conformance.reference.errors import CodecError, MysqlError
    from conformance.reference.sql.expressions import parse_expression

    try:
        return parse_expression(sql, _COLUMN, forms)
    except MysqlError as error:
        return error
    except CodecError as error:
        where = ""
        if error.offset is not None and len(sql) <= 200 and sql.isprintable():
            where = f"\n  {sql}\n  {' ' * error.offset}^"
        raise Usage(f"{error}{where}", hint="see: binlog-lab predict --help") from error


# --- output ----------------------------------------------------------------------------------------------------------


def _storage(stored: bytes | None, forms: JsonForms) -> tuple[int | None, int | None, str | None]:
    """JSON_STORAGE_SIZE, JSON_STORAGE_FREE and the text; no text when the server could not print it."""
    from conformance.reference.errors import CodecError
    from conformance.reference.jsonb.decode import decode
    from conformance.reference.jsonb.layout import storage_free
    from conformance.reference.jsonb.text import format_text

    if stored is None:
        return None, None, None
    try:
        text: str | None = format_text(decode(stored), forms)
        if text is not None:
            text.encode()
    except (CodecError, UnicodeEncodeError):
        text = None
    return len(stored), storage_free(stored), text


def _diffs(step: Step) -> tuple[Diff, ...] | None:
    """The collected diffs. For a partial event: the diffs that it carries, none if the bytes did not change."""
    assert step.change is not None
    decision = step.decision
    if step.change.diffs and decision is not None and decision.partial and not decision.data:
        return ()
    return step.change.diffs


def _value(diff: Diff) -> str | None:
    """The value of a diff in MySQL's text; ``None`` for REMOVE, which has none."""
    from conformance.reference.jsonb.text import format_text
    from conformance.reference.partial.diffs import Operation

    return None if diff.operation is Operation.REMOVE else format_text(diff.value)


def _json(step: Step, dialect: Dialect) -> str:
    """The JSON object that the documentation of ``predict`` describes. Values in diffs keep MySQL's text."""
    if step.error is not None:
        return json.dumps({"error": {"number": step.error.number, "symbol": step.error.symbol_in(dialect.terms)}})
    change, decision = step.change, step.decision
    assert change is not None
    size, free, text = _storage(step.stored, dialect.json)
    field = None if decision is None or decision.field is None else decision.field.hex()
    members: list[tuple[str, Any]] = [
        ("event", step.event),
        ("partial", decision is not None and decision.partial),
        ("reason", _UNCHANGED if decision is None else decision.reason),
        ("field_hex", field),
        ("diffs", None),
        ("in_place", change.in_place),
        ("binary_diffs", _ranges(step)),
        ("jsonb_hex", None if step.stored is None else step.stored.hex()),
        ("storage_size", size),
        ("storage_free", free),
        ("text", text),
    ]
    diffs = _diffs(step)
    parts = []
    for name, value in members:
        if name == "diffs" and diffs is not None:
            rendered = "[" + ", ".join(map(_json_diff, diffs)) + "]"
        else:
            rendered = json.dumps(value, ensure_ascii=False)
        parts.append(f'"{name}": {rendered}')
    return "{" + ", ".join(parts) + "}"


def _json_diff(diff: Diff) -> str:
    text = f'"operation": "{diff.operation.name}", "path": {json.dumps(str(diff.path), ensure_ascii=False)}'
    value = _value(diff)
    return "{" + text + (f', "value": {value}' if value is not None else "") + "}"


def _ranges(step: Step) -> list[dict[str, int]] | None:
    """The byte ranges that the server reports to the storage engine: none when the row is not written."""
    if step.change is None or step.change.ranges is None or not step.change.in_place:
        return None
    return [{"offset": offset, "length": length} for offset, length in step.change.ranges] if step.event else []


def _text(number: int, step: Step, dialect: Dialect) -> str:
    lines = [f"step {number}: {step.sql}"]
    if step.error is not None:
        return "\n".join((*lines, f"  refused    {step.error.number} {step.error.symbol}: {step.error.message}"))
    change, decision = step.change, step.decision
    assert change is not None
    if decision is None:
        lines.append("  event      none: the row does not change")
    else:
        kind = "SQL NULL" if decision.field is None else "partial" if decision.partial else "full"
        lines.append(f"  event      {kind}" + (f" ({decision.reason})" if decision.field is not None else ""))
        if decision.field is not None:
            lines.append(f"  field      {_hex(decision.field)}")
    diffs = _diffs(step)
    if diffs is None:
        lines.append("  diffs      none collected")
    else:
        for position, diff in enumerate(diffs):
            value = _value(diff)
            rest = "" if value is None else f" {value}"
            lines.append(f"  {'diffs' if position == 0 else '':11}{diff.operation.name} {diff.path}{rest}")
        if not diffs:
            lines.append("  diffs      empty")
    ranges = _ranges(step)
    if ranges is None:
        lines.append("  in place   no")
    else:
        written = " ".join(f"{item['offset']}+{item['length']}" for item in ranges)
        lines.append(f"  in place   yes, {f'bytes written: {written}' if written else 'nothing written'}")
    size, free, text = _storage(step.stored, dialect.json)
    if size is None:
        lines.append("  document   SQL NULL")
    else:
        lines.append(f"  document   {size} bytes, {free} of them free")
        lines.append(f"  text       {text if text is not None else '(cannot be printed)'}")
    return "\n".join(lines)


def _hex(data: bytes) -> str:
    if len(data) <= _SHOWN:
        return f"{data.hex()} ({len(data)} bytes)"
    return f"{data[:_SHOWN].hex()}... ({len(data)} bytes)"
