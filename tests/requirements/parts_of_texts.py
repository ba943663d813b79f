"""Faults of the parts of FR7 and FR3: texts of ``mysqlbinlog`` that say something else than the event.

The judge reads the text back by the grammar and compares it with the event; the printer of the reference is not asked.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from conformance.checks.boundaries.marked_files import binlog_events
from conformance.checks.mysqlbinlog_output.completeness import compare_text
from conformance.checks.mysqlbinlog_output.generate import EXAMPLE_TEXT, example_bodies
from conformance.checks.mysqlbinlog_output.judge import reference_text
from conformance.checks.mysqlbinlog_output.run import row_events
from conformance.checks.mysqlbinlog_replay.judge import compare_states, expected_of
from conformance.checks.mysqlbinlog_replay.run import TableContent
from conformance.reference.binlog.rows import Row, RowsBody, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.table_map import TableMap
from tests.faults.fault import Fault
from tests.judge.doctoring import ONE_DIFF, script, swap
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _text(
    name: str, requirement: str, sentence: str, text: bytes, bodies: Sequence[RowsBody], *changes: tuple[bytes, bytes]
) -> Fault:
    """Parts of a text replaced, each once."""

    def judged(wrong: bool) -> object:
        shown = text
        for old, new in changes if wrong else ():
            assert old in shown, old
            shown = shown.replace(old, new, 1)
        return compare_text(shown, bodies).problems

    return Fault(name, requirement, sentence, judged)


def _example(name: str, requirement: str, sentence: str, *changes: tuple[bytes, bytes]) -> Fault:
    return _text(name, requirement, sentence, EXAMPLE_TEXT, [example_bodies()[1]], *changes)


def _body(path: str, value: str) -> RowsBody:
    """One diff that puts a string somewhere."""
    columns = (ColumnType(3), ColumnType(245, 4))
    table = TableMap(table_id=153, schema="test", table="t", columns=columns, nullable=(False, True))
    row = Row((1,), (PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path(path), value)])),))
    return rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[1])


_SERVER: Final = row_events(observe(script()).events)
_SERVER_TEXT: Final = reference_text(_SERVER, types=False)
_QUOTED: Final = [_body("$.a", "it's \\ and\na line")]
_ARTICLE: Final = [_body("$[0]", "XY")]
_ARTICLE_TEXT: Final = (
    b"### UPDATE `test`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2=JSON_REPLACE(@2, '$[0]', 'XY')\n"
)
_QUOTED_TEXT: Final = (
    b"### UPDATE `test`.`t`\n### WHERE\n###   @1=1\n### SET\n"
    rb"###   @2=JSON_REPLACE(@2, '$.a', 'it\'s \\ and\na line')" + b"\n"
)
"""By the rules of mysqlbinlog-output 4.3, not by the printer."""

TEXTS: Final = [
    _example("replace-as-set", "P2", "REPLACE prints as JSON_REPLACE.", (b"JSON_REPLACE(", b"JSON_SET(")),
    _example("cell-as-member", "P2", "An INSERT into an array prints as JSON_ARRAY_INSERT.",
             (b"JSON_ARRAY_INSERT(", b"JSON_INSERT(")),
    _example("last-one-innermost", "P3", "The last function stands outermost.", (b"JSON_REMOVE(", b"X("),
             (b"JSON_REPLACE(", b"JSON_REMOVE("), (b"X(", b"JSON_REPLACE(")),
    _example("two-calls-of-one-kind", "P4", "Neighbouring diffs of one operation are one call.",
             (
                 b"JSON_REPLACE(@2, '$.a', 7,\n###      '$.b[1]', 'bb')",
                 b"JSON_REPLACE(\n###      JSON_REPLACE(@2, '$.a', 7),\n###      '$.b[1]', 'bb')",
             )),
    _example("two-diffs-in-a-line", "P5", "A new line stands between diffs.",
             (b"'$.c',\n###      '$.d[0]'", b"'$.c', '$.d[0]'")),
    _example("column-in-the-middle", "P6", "The column stands in the innermost function alone.",
             (b"'$.e', 'ee'", b"@2, '$.e', 'ee'")),
    _example("example-without-its-last", "P7", "All seven diffs of the example are there.",
             (b"JSON_INSERT(\n###      ", b""), (b",\n###      '$.g', 'gg')", b"")),
    _text("empty-list-as-null", "P8", "An empty list prints the column.", _SERVER_TEXT, _SERVER,
          (b"@3=@3", b"@3=NULL")),
    _text("whole-without-quotes", "P8", "A whole document is quoted.", _SERVER_TEXT, _SERVER,
          (b"""'["xxxx", ""]'""", b"""["xxxx",""]""")),
    _text("null-as-json-null", "P8", "NULL prints as NULL.", _SERVER_TEXT, _SERVER, (b"@4=NULL", b"@4='null'")),
    _text("quote-not-escaped", "LLD18", "A quote inside a string is escaped.", _QUOTED_TEXT, _QUOTED, (rb"\'s", b"'s")),
    _text("line-break-not-escaped", "LLD18", "A line break is printed as an escape.", _QUOTED_TEXT, _QUOTED,
          (rb"\na line", b"\na line")),
    _text("another-value-in-the-example", "LOB33", "The example of the article prints so.", _ARTICLE_TEXT, _ARTICLE,
          (b"'XY'", b"'XYZ'")),
    _text("backslash-once", "LLD18", "A backslash is printed twice.", _QUOTED_TEXT, _QUOTED, (rb" \\ and", rb" \ and")),
]  # fmt: skip

# --- BINLOG statements -----------------------------------------------------------------------------------------------


def _binlog_text(events: Sequence[bytes]) -> bytes:
    """One BINLOG statement for each row event with its table map, in lines of 76 characters."""
    lines = [
        b"\n".join(base64.b64encode(event)[at : at + 76] for at in range(0, len(event) * 2, 76)) for event in events
    ]
    return b"".join(b"BINLOG '\n" + line.rstrip(b"\n") + b"\n'/*!*/;\n" for line in lines)


def _replayed(change: Callable[[bytes], bytes]) -> Callable[[bool], object]:
    """A second server takes the events out of the text and applies them; its rows against the first one's."""

    def judged(wrong: bool) -> object:
        made = script()
        events = list(observe(made).events)
        places = [place for place, event in enumerate(events) if event[4] == EventType.PARTIAL_UPDATE_ROWS]
        printed = [events[place] for place in places]
        if wrong:
            printed[0] = change(printed[0])
        for place, event in zip(places, binlog_events(_binlog_text(printed)), strict=True):
            events[place] = event
        got = expected_of(made, events).model.rows
        wanted = [made.model.rows[number] for number in range(len(got))]
        names = list(made.model.columns.json)
        states = [TableContent([], [tuple(row[name] for name in names) for row in rows]) for rows in (wanted, got)]
        return compare_states(states[0], states[1], names)

    return judged


def _other_path(event: bytes) -> bytes:
    """The first diff puts its value elsewhere."""
    return swap(ONE_DIFF, ONE_DIFF.replace(b"$.a", b"$.b"))(event)


REPLAYS: Final = [
    Fault("binlog-statement-of-another-event", "P1", "The BINLOG statement holds the event's bytes.",
          _replayed(_other_path)),
]  # fmt: skip

FAULTS: Final = [*TEXTS, *REPLAYS]
