"""The output of mysqlbinlog as row changes: its pseudo-SQL, with the comments of ``-vv`` and the table metadata.

The text says less than the log (mysqlbinlog-output 3). What it does not say is not made up: a JSON string that is the
whole document has no quotes, so a text that reads as JSON is taken for that.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.pseudo_sql_reader import Bare, Calls, CastJson, PseudoSqlError, Quoted, parse_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.judge.pseudo_sql_reader import PseudoSqlDiff, PseudoSqlRow, PseudoValue

_POSITION: Final = re.compile(rb"# at (\d+)$")
_TABLE_MAP: Final = re.compile(rb"#\d{6} .*\tTable_map: (`.*`) mapped to number \d+")
_COLUMNS: Final = b"# Columns("
_MORE_COLUMNS: Final = b"#         "
_NAME_ESCAPE: Final = re.compile(rb"\\([0btnr'\\])")
_NAME_ESCAPES: Final = {
    b"0": b"\0", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"r": b"\r", b"'": b"'", b"\\": b"\\",
}  # fmt: skip
_COLUMN: Final = re.compile(rb"(?:`((?:[^`]|``)*)` )?([A-Z][A-Z ]*)")
_HEAD: Final = re.compile(rb"### (INSERT INTO|UPDATE|DELETE FROM) ")
# Messages in the place of a value, which has no quotes there; the last form follows the beginning of a list of diffs.
_UNREADABLE: Final = re.compile(
    rb"###   @\d+=((?:!!|\*\*\*|Error |Invalid JSON|Failed to ).*)|###   .*[ (](Error [^']*while printing JSON diff)$"
)
_BACKSLASH: Final = re.compile(rb"\\(?!x(?:[01][0-9a-f]|27))")
_COMMENT_ALONE: Final = b" /* "  # of -vv, behind a message that ends in a newline
_COLUMN_LINE: Final = b"###   @"
_UNKNOWN_TABLE: Final = re.compile(rb"### Row event for unknown table #\d+")
_EXTRA: Final = b"### Extra row "  # partitions, and what NDB adds
_OPERATIONS: Final = {b"JSON_REPLACE": "REPLACE", b"JSON_REMOVE": "REMOVE"}


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """A column of ``# Columns(…)``; the name is empty where the log has none."""

    name: str
    unsigned: bool


@dataclass(slots=True)
class Printed:
    """The result of reading a text. ``problem``: where the text leaves the grammar."""

    changes: list[dict[str, Any]] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)  # messages in the text, and the positions before them
    problem: str = ""


def read_printed(text: bytes, *, mariadb: bool = False) -> Printed:
    """All row changes of an output; ``mariadb``: strings have no escape for a backslash."""
    out = Printed()
    tables: dict[bytes, list[PrintedColumn]] = {}
    position = 0
    for lines in _blocks(text):
        first = lines[0]
        try:
            if first.startswith(b"### "):
                lines = [_escaped(line) for line in lines] if mariadb else lines
                for row in parse_rows(_readable(lines, position, out)):
                    out.changes.append(_change(row, tables.get(f"`{row.schema}`.`{row.table}`".encode(), [])))
            elif found := _POSITION.match(first):
                position = int(found[1])
            elif (found := _TABLE_MAP.match(first)) is not None:
                table = found[1].replace(b"``", b"`")
                tables[table] = []
            elif first.startswith(_COLUMNS) and tables:
                tables[next(reversed(tables))] = [_column(line) for line in lines]
        except PseudoSqlError as error:
            out.problem = f"the text is not as the grammar has it: {error}"
            return out
    return out


def _blocks(text: bytes) -> Iterator[list[bytes]]:
    """Runs of lines that belong together: rows of a statement, a list of columns; any other line is alone."""
    block: list[bytes] = []
    for line in text.split(b"\n"):
        together = block and (
            (line.startswith((b"### ", _COMMENT_ALONE)) and block[0].startswith(b"### "))
            or (line.startswith(_MORE_COLUMNS) and block[0].startswith(_COLUMNS))
        )
        if not together and block:
            yield block
            block = []
        block.append(line)
    yield block


def _escaped(line: bytes) -> bytes:
    """A line of mariadb-binlog in mysqlbinlog's form: it writes a quote as ``\\x27`` and a backslash as it is."""
    return _BACKSLASH.sub(rb"\\\\", line).replace(rb"\x27", rb"\'") if line.startswith(_COLUMN_LINE) else line


def _readable(lines: list[bytes], position: int, out: Printed) -> bytes:
    """The lines of rows that can be read.

    A type that the program does not know costs the row's other columns behind it; a damaged value costs the row.
    """
    kept: list[bytes] = []
    row = 0  # where the present row begins in ``kept``
    is_left_out = False
    for number, line in enumerate(lines):
        if _HEAD.match(line):
            row, is_left_out = len(kept), False
        if line.startswith((_EXTRA, _COMMENT_ALONE)):
            continue
        if found := _UNKNOWN_TABLE.match(line):  # and no newline: the next line stands behind it
            out.marks.append((found[0].decode("ascii"), position))
        elif found := _UNREADABLE.match(line):
            message = found[1] or found[2]
            out.marks.append((message.decode("utf-8", "replace"), position))
            if not message.startswith(b"!!"):
                del kept[row:]
                is_left_out = True
            elif kept[row].startswith(b"### UPDATE") and not _has_set(lines, number):
                kept.append(b"### SET")
        elif not is_left_out:
            kept.append(line)
    return b"".join(line + b"\n" for line in kept)


def _has_set(lines: list[bytes], number: int) -> bool:
    """Whether the row around a line has its second image, before or after that line."""
    begin = max(place for place, line in enumerate(lines[: number + 1]) if _HEAD.match(line))
    end = next((place for place, line in enumerate(lines) if place > number and _HEAD.match(line)), len(lines))
    return b"### SET" in lines[begin:end]


def _column(line: bytes) -> PrintedColumn:
    text = line.removeprefix(_COLUMNS).removeprefix(_MORE_COLUMNS)
    found = _COLUMN.match(text)
    name = found[1] if found is not None and found[1] is not None else b""
    unsigned = re.search(rb" UNSIGNED\b", text[len(name) + 2 :] if name else text) is not None
    name = _NAME_ESCAPE.sub(lambda part: _NAME_ESCAPES[part[1]], name.replace(b"``", b"`"))
    return PrintedColumn(name.decode("utf-8", "surrogateescape"), unsigned)


def _change(row: PseudoSqlRow, columns: list[PrintedColumn]) -> dict[str, Any]:
    def image(values: dict[int, PseudoValue] | None) -> dict[str, Any] | None:
        if values is None:
            return None
        out = {}
        for number, value in values.items():
            column = columns[number - 1] if number <= len(columns) else PrintedColumn("", unsigned=False)
            out[column.name or f"@{number}"] = _value(value, row.types.get(number, ""), unsigned=column.unsigned)
        return out

    before, after = image(row.where), image(row.changes)
    return {
        "schema": row.schema,
        "table": row.table,
        "operation": row.verb.lower(),
        "before": before,
        "after": after,
    }


def _value(value: PseudoValue, kind: str, *, unsigned: bool) -> Any:
    if value is None:
        return None
    if isinstance(value, Calls):
        return {"diffs": [_diff(diff) for diff in value.diffs]}
    if isinstance(value, Quoted):
        if kind == "JSON":
            return _document(value.text)
        if kind == "DATE":
            return value.text.decode("ascii", "replace").replace(":", "-")
        if kind.startswith(("TIME", "DATETIME")):
            return value.text.decode("ascii", "replace")
        return {"hex": value.text.hex()}
    return _bare(value, kind, unsigned=unsigned)


def _bare(value: Bare, kind: str, *, unsigned: bool) -> Any:
    text = value.text.decode("ascii")
    if kind == "JSON":
        return {"json_text": text}
    if text.startswith("b'"):
        number = int(text[2:-1] or "0", 2)
        return {"index": number} if kind.startswith("SET") else number
    if kind.startswith("ENUM"):
        return {"index": int(text)}
    if text.startswith("["):
        return text[1:-1].split(",") if len(text) > len("[]") else []
    return value.unsigned.decode("ascii") if unsigned and value.unsigned else text


def _document(text: bytes) -> dict[str, str]:
    shown = text.decode("utf-8", "surrogateescape")
    try:
        json.loads(shown)
    except (ValueError, RecursionError):
        return {"json_text": json.dumps(shown)}
    return {"json_text": shown}


def _diff(diff: PseudoSqlDiff) -> dict[str, Any]:
    operation = _OPERATIONS.get(diff.function, "INSERT")
    out: dict[str, Any] = {"operation": operation, "path": diff.path.decode("utf-8", "surrogateescape")}
    if isinstance(diff.value, CastJson | Bare):
        out["value"] = {"json_text": diff.value.text.decode("utf-8", "surrogateescape")}
    elif diff.value is not None:
        out["value"] = {"json_text": json.dumps(diff.value.text.decode("utf-8", "surrogateescape"))}
    return out
