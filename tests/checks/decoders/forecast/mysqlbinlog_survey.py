"""The counts of ``binlog-lab check``, taken from the text of mysqlbinlog alone.

mysqlbinlog prints the rows of a statement behind its last event. Where a statement has several row events, the text
does not say whose row is whose: then a feature of some rows has a least and a largest number of events.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_OPTIONS: Final = ("--no-defaults", "-vv", "--base64-output=DECODE-ROWS", "--print-table-metadata")
_EVENT: Final = re.compile(r"#\d{6} .{8} server id \d+  end_log_pos (\d+)(?: CRC32 0x[0-9a-f]{8})? ?\t(.*)")
_ROWS: Final = re.compile(r"(Write|Update|Delete)_rows(_partial|_v1)?: table id (\d+)(.*)")
_MAP: Final = re.compile(r"Table_map: (`.*`) mapped to number (\d+)")
_GTID: Final = re.compile(r"SET @@SESSION.GTID_NEXT= '([^']*)'")
_ROW: Final = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) (`.*`)")
_VALUE: Final = re.compile(r"###   @(\d+)=(.*)")
_DOCUMENT: Final = re.compile(r"###   @\d+=(?!NULL ).* /\* JSON meta=")
_OPERATION: Final = {"INSERT INTO": "insert", "UPDATE": "update", "DELETE FROM": "delete"}


@dataclass(slots=True)
class Printed:
    """The counts. ``least`` and ``most``: fewest and most events with a feature."""

    version: str = ""
    is_open: bool = False
    checksums: bool = False
    positions: set[int] = field(default_factory=set)
    row_events: Counter[str] = field(default_factory=Counter)  # by table
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)  # by table and operation
    json_columns: dict[str, int] = field(default_factory=dict)
    least: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    lengths: list[tuple[str, int]] = field(default_factory=list)  # GTID, transaction_length
    text: str = ""


@dataclass(slots=True)
class _Map:
    name: str
    columns: list[str] = field(default_factory=list)


def printed(program: Sequence[str], path: Path) -> Printed:
    """Run mysqlbinlog and count."""
    done = subprocess.run([*program, *_OPTIONS, str(path)], capture_output=True, check=False)
    found = Printed(text=done.stdout.decode("utf-8", "replace"))
    maps: dict[str, _Map] = {}
    last = _Map("")
    events: list[tuple[_Map, bool]] = []  # row events of the statement, and whether each is partial
    rows: list[list[str]] = []
    for line in found.text.split("\n"):
        if line.startswith("# at "):
            # Events of a payload are printed at its place, or, in a relay log, at one before it.
            if (place := int(line.split()[2])) > max(found.positions, default=0):
                found.positions.add(place)
        elif line.startswith("### "):
            if _ROW.match(line):
                rows.append([])
            if rows:
                rows[-1].append(line)
            continue
        if rows and events:
            _statement(found, events, rows)
            events, rows = [], []
        if line.startswith(("# Columns(", "#         ")) and line.rstrip(",)") != "#":
            last.columns.append(line[10:].rstrip(","))
        if gtid := _GTID.match(line):
            if gtid[1].count(":") == 2:
                _both(found, "tagged-gtid")
            if found.lengths and gtid[1] != "AUTOMATIC":
                found.lengths[-1] = gtid[1], found.lengths[-1][1]
        event = _EVENT.match(line)
        if event is None:
            continue
        found.checksums = found.checksums or " CRC32 " in line
        what = event[2]
        if started := re.match(r"Start: binlog v 4, server v (\S+)", what):
            found.version = started[1]
            found.is_open = "not closed properly" in found.text
        elif table := _MAP.match(what):
            last = maps[table[2]] = _Map(table[1].replace("`", ""))
        elif change := _ROWS.match(what):
            events.append((maps[change[3]], change[2] == "_partial"))
        elif "transaction_length=" in what:
            found.lengths.append(("", int(what.rpartition("transaction_length=")[2])))
        elif what.startswith("XA PREPARE "):
            _both(found, "xa")
        elif what.startswith("Transaction_Payload"):
            _both(found, "payload")
    return found


def _both(found: Printed, feature: str, count: int = 1) -> None:
    found.least[feature] += count
    found.most[feature] += count


def _statement(found: Printed, events: list[tuple[_Map, bool]], rows: list[list[str]]) -> None:
    """Count the row events of a statement, by what its rows look like."""
    for table, _ in events:
        found.row_events[table.name] += 1
        found.json_columns[table.name] = sum(column.startswith("JSON") or " JSON" in column for column in table.columns)
        if not _named(table):
            _both(found, "no-names")
            if any(re.search(r"\b(ENUM|SET)\b", column) for column in table.columns):
                _both(found, "no-members")
            if any(re.search(r"\b(BINARY|VARBINARY|\w*BLOB)\b", column) for column in table.columns):
                _both(found, "no-names-binary")
            if any(re.search(r"\bCHARSET (?!utf8mb[34]|ascii|binary)", column) for column in table.columns):
                _both(found, "no-names-charset")
        if any(re.search(r"\bVECTOR\([1-9]", column) for column in table.columns):
            _both(found, "vector")
    for row in rows:
        head = _ROW.match(row[0])
        assert head is not None
        found.rows[head[2].replace("`", ""), _OPERATION[head[1]]] += 1
    if len(events) == 1 or not any(is_partial for _, is_partial in events):
        documents = [any(_DOCUMENT.match(line) for line in row) and not events[0][1] for row in rows]
        having = sum(documents)
        if having:
            found.least["json"] += len(events) if having == len(rows) else 1
            found.most["json"] += min(len(events), having)
    for name in {table.name for table, _ in events}:
        count = sum(table.name == name for table, _ in events)
        partial = sum(table.name == name and is_partial for table, is_partial in events)
        own_table = next(table for table, _ in events if table.name == name)
        width = len(own_table.columns)
        own = [row for row in rows if row[0].endswith(f" {_quoted(name)}")]
        kinds = [_kinds(row, width, is_partial=bool(partial)) for row in own]
        for feature in (
            "partial-diffs",
            "partial-several-diffs",
            "partial-unchanged",
            "partial-plain",
            "partial-image",
        ):
            having = sum(feature in kind for kind in kinds)
            events_of = count if feature == "partial-image" else partial
            if having and feature == "partial-image" and not _named(own_table):
                feature = "partial-image-unnamed"
            if having:
                found.least[feature] += events_of if having == len(kinds) else 1
                found.most[feature] += min(events_of, having) if feature != "partial-plain" else events_of
                found.most[feature] = max(found.most[feature], found.least[feature])


def _named(table: _Map) -> bool:
    """Whether the log has column names; mysqlbinlog knows that of a generated primary key itself."""
    return any("`" in column and "`my_row_id`" not in column for column in table.columns)


def _quoted(name: str) -> str:
    schema, _, table = name.partition(".")
    return f"`{schema}`.`{table}`"


def _kinds(row: list[str], width: int, *, is_partial: bool) -> set[str]:
    """The features of one row."""
    found = set()
    images = re.split(r"### (?:WHERE|SET)\n", "\n".join(row[1:]) + "\n")[1:]
    if any(len(_VALUE.findall(image)) < width for image in images):
        found.add("partial-image")
    if is_partial:
        after = dict(_VALUE.findall(images[-1]))
        values = [(number, value.partition(" /*")[0]) for number, value in after.items()]
        if any(re.match(r"JSON_(REPLACE|INSERT|REMOVE|ARRAY_INSERT|SET)\(", value) for _, value in values):
            # Each further diff stands on a line of its own.
            found.add("partial-several-diffs" if "\n###      " in images[-1] else "partial-diffs")
        if any(value == f"@{number}" for number, value in values):
            found.add("partial-unchanged")
        if not found & {"partial-diffs", "partial-several-diffs", "partial-unchanged"}:
            found.add("partial-plain")
    return found
