"""Faults of the text, of a replay, of the log with the option off, and of old servers: written down from
mysqlbinlog-output 3, mysqlbinlog-output 4, requirements FR3, requirements FR8 before the checks that must catch them.

Each is a change of what a faulty program would have given: printed text, rows after a replay, captured events, answers
to statements.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault: what is promised, and the change that breaks the promise."""

    id: str
    requirement: str
    sentence: str  # of docs/spec, in our words
    change: Callable[[Any], Any]


def _swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def change(text: bytes) -> bytes:
        assert old in text, old
        return text.replace(old, new, 1)

    return change


# --- FR7: the worklog's example with seven diffs, as mysqlbinlog -v prints it ----------------------------------------

TEXT_FAULTS: Final = [
    Fault(
        id="text/lost-diff",
        requirement="FR7",
        sentence="Every diff of the list is printed.",
        change=_swap(b",\n###      '$.b[1]', 'bb')", b")"),
    ),
    Fault(
        id="text/lost-last-run",
        requirement="FR7",
        sentence="Every diff of the list is printed, the last one too.",
        change=lambda text: _swap(b",\n###      '$.g', 'gg')", b"")(_swap(b"JSON_INSERT(\n###      ", b"")(text)),
    ),
    Fault(
        id="text/order-of-diffs",
        requirement="FR7",
        sentence="Diffs are printed in the order of the list.",
        change=lambda text: _swap(b"'$.X'", b"'$.d[0]'")(
            _swap(b"'$.d[0]'", b"'$.c'")(_swap(b"'$.c'", b"'$.X'")(text)),
        ),
    ),
    Fault(
        id="text/order-of-functions",
        requirement="FR7",
        sentence="Functions are printed in the reverse order of their runs.",
        change=lambda text: _swap(b"X(", b"JSON_REMOVE(")(
            _swap(b"JSON_REMOVE(", b"JSON_REPLACE(")(_swap(b"JSON_REPLACE(", b"X(")(text))
        ),
    ),
    Fault(
        id="text/array-insert",
        requirement="FR7",
        sentence="An INSERT whose path ends in an array cell is JSON_ARRAY_INSERT.",
        change=_swap(b"JSON_ARRAY_INSERT(", b"JSON_INSERT("),
    ),
    Fault(
        id="text/value",
        requirement="FR7",
        sentence="The value of a diff is the value in the event.",
        change=_swap(b"'$.a', 7", b"'$.a', 8"),
    ),
    Fault(
        id="text/type-of-value",
        requirement="FR7",
        sentence="Numbers are bare, strings are quoted.",
        change=_swap(b"'$.a', 7", b"'$.a', '7'"),
    ),
    Fault(
        id="text/path",
        requirement="FR7",
        sentence="The path stands as it is in the event.",
        change=_swap(b"'$.f[1]'", b"'$.f[3]'"),
    ),
    Fault(
        id="text/comma",
        requirement="FR7",
        sentence="A comma stands between two diffs of a run.",
        change=_swap(b"'$.c',\n", b"'$.c'\n"),
    ),
    Fault(
        id="text/indentation",
        requirement="FR7",
        sentence="Continuation lines begin with ### and six spaces.",
        change=_swap(b"\n###      '$.e'", b"\n###        '$.e'"),
    ),
    Fault(
        id="text/lost-row",
        requirement="FR7",
        sentence="There is one block for each row.",
        change=lambda _: b"",
    ),
    Fault(
        id="text/column-number",
        requirement="FR7",
        sentence="Columns are numbered over all columns of the table.",
        change=_swap(b"###   @2=", b"###   @3="),
    ),
]

# --- FR7: the examples of the executed pseudo-SQL --------------------------------------------------------------------

EXECUTED_FAULTS: Final = [
    Fault(id=f"executed/{name}", requirement="FR7", sentence=sentence, change=change)
    for name, sentence, change in (
        ("value", "The text has the value of the diff.", _swap(b"'$.b[7]', 8", b"'$.b[7]', 9")),
        ("type", "A number is not quoted.", _swap(b"'$.b[7]', 8", b"'$.b[7]', '8'")),
        ("path", "The text has the path of the diff.", _swap(b"'$.b[7]'", b"'$.b[0]'")),
        ("function", "The text has the operation of the diff.", _swap(b"JSON_ARRAY_INSERT(", b"JSON_REPLACE(")),
        (
            "function-dropped",
            "Every run of diffs is a function.",
            _swap(b"JSON_REMOVE(@2, '$.b[0]',\n###      '$.b[1]')", b"@2"),
        ),
        (
            "order",
            "Diffs stand in their order.",
            _swap(b"'$.b[0]',\n###      '$.b[1]'", b"'$.b[1]',\n###      '$.b[0]'"),
        ),
        (
            "nesting",
            "The last function is the outermost.",
            _swap(b"JSON_INSERT(\n###      JSON_REMOVE(", b"JSON_REMOVE(\n###      JSON_INSERT("),
        ),
        ("quoting", "A quote in a string is escaped.", _swap(rb"'it\'s'", b"'its'")),
        ("lost-type", "Of a DATE the text has its day.", _swap(b"'2024-01-02'", b"'2024-01-03'")),
        ("another-loss", "A DATE is a string in the text, and nothing else.", _swap(b"'2024-01-02'", b"20240102")),
        ("column", "The text is about the column itself.", _swap(b"ARRAY_INSERT(@2", b"ARRAY_INSERT(@1")),
        ("lost-row", "Each row is printed.", lambda text: text[: text.rindex(b"### UPDATE ")]),
    )
]

# --- FR3: rows after a replay, as (text rows, stored rows) -----------------------------------------------------------


def _rows(change: Callable[[list[Any]], None], stored: bool) -> Callable[[Any], Any]:
    def doctored(state: Any) -> Any:
        texts, rows = list(state[0]), list(state[1])
        change(rows if stored else texts)
        return texts, rows

    return doctored


def _last_byte(rows: list[Any]) -> None:
    row, changed = list(rows[-1]), False
    for place, value in enumerate(row):
        if isinstance(value, bytes) and value and not changed:
            row[place] = value[:-1] + bytes((value[-1] ^ 1,))
            changed = True
    assert changed
    rows[-1] = tuple(row)


REPLAY_FAULTS: Final = [
    Fault(
        id="replay/lost-row",
        requirement="FR3",
        sentence="All rows are there after the replay.",
        change=_rows(lambda rows: rows.pop(), stored=False),
    ),
    Fault(
        id="replay/stored-byte",
        requirement="FR3",
        sentence="Stored bytes of all rows are identical.",
        change=_rows(_last_byte, stored=True),
    ),
    Fault(
        id="replay/text",
        requirement="FR3",
        sentence="The text of all rows is equal.",
        change=_rows(_last_byte, stored=False),
    ),
]

# --- FR8: events of the run with the global option on and the session's off ------------------------------------------


def sealed(event: bytes) -> bytes:
    """With length and checksum put right."""
    whole = event[:9] + len(event).to_bytes(4, "little") + event[13:-4]
    return whole + zlib.crc32(whole).to_bytes(4, "little")


def _first(kind: int, change: Callable[[bytes], bytes]) -> Callable[[tuple[bytes, ...]], tuple[bytes, ...]]:
    def doctored(events: tuple[bytes, ...]) -> tuple[bytes, ...]:
        out = list(events)
        place = next(number for number, event in enumerate(out) if event[4] == kind)
        out[place] = sealed(change(out[place]))
        return tuple(out)

    return doctored


_UPDATE_ROWS, _PARTIAL_UPDATE_ROWS, _TABLE_MAP, _WRITE_ROWS = 31, 39, 19, 30

OFF_FAULTS: Final = [
    Fault(
        id="off/type",
        requirement="FR8",
        sentence="With the session's option off there is no event of type 39.",
        change=_first(_UPDATE_ROWS, lambda event: event[:4] + bytes((_PARTIAL_UPDATE_ROWS,)) + event[5:]),
    ),
    Fault(
        id="off/flag",
        requirement="FR8",
        sentence="Two runs with the option off are identical but for what no model can know.",
        change=_first(_UPDATE_ROWS, lambda event: event[:25] + bytes((event[25] ^ 2,)) + event[26:]),
    ),
    Fault(
        id="off/lost-event",
        requirement="FR8",
        sentence="All events of the one run are in the other.",
        change=lambda events: events[:-1],
    ),
]
ON_FAULTS: Final = [
    Fault(
        id="on/insert",
        requirement="FR8",
        sentence="With the option on, all events that are not updates are identical.",
        change=_first(_WRITE_ROWS, lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:]),
    ),
    Fault(
        id="on/table-map",
        requirement="FR8",
        sentence="With the option on, all events that are not updates are identical.",
        change=_first(_TABLE_MAP, lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:]),
    ),
    Fault(
        id="on/flag-of-update",
        requirement="FR8",
        sentence="With the option on, updates differ only in type, value_options and the diffs.",
        change=_first(_PARTIAL_UPDATE_ROWS, lambda event: event[:25] + bytes((event[25] ^ 2,)) + event[26:]),
    ),
]

# --- FR9: answers to SET with a member that the server does not know, as (error, value read back) --------------------

OPTION_FAULTS: Final = [
    Fault(
        id="option/accepted",
        requirement="FR9",
        sentence="An unknown member is refused with 1231.",
        change=lambda _: (None, "PARTIAL_JSON"),
    ),
    Fault(
        id="option/changed",
        requirement="FR9",
        sentence="After the refusal the value is unchanged.",
        change=lambda answer: (answer[0], "PARTIAL_JSON" if answer[1] == "" else ""),
    ),
]

# --- FR10, and old and new servers together: answers of an old server, and its rows ----------------------------------

OLD_FAULTS: Final = [
    Fault(
        id="old/accepts",
        requirement="FR10",
        sentence="A BINLOG statement with an event of type 39 is an error on an old server.",
        change=lambda answer: (None, *answer[1:]),
    ),
    Fault(
        id="old/changes-the-row",
        requirement="FR10",
        sentence="Nothing of the event of type 39 is applied.",
        change=lambda answer: (answer[0], [*answer[1][:-1], (b"0", *answer[1][-1][1:])]),
    ),
]
RELAY_FAULTS: Final = [
    Fault(
        id="relay/runs-on",
        requirement="FR10",
        sentence="The old applier stops with an error.",
        change=lambda stop: (0, *stop[1:]),
    ),
    Fault(
        id="relay/position",
        requirement="FR10",
        sentence="The applier's position stays before the failing transaction.",
        change=lambda stop: (stop[0], stop[1] + 1, *stop[2:]),
    ),
    Fault(
        id="relay/earlier-updates",
        requirement="X2",
        sentence="What stands before the event of type 39 was applied, the event itself was not.",
        change=lambda stop: (*stop[:2], stop[2][:-1]),
    ),
    Fault(
        id="relay/other-value",
        requirement="X2",
        sentence="An old applier gives the rows of the updates that a new server logs with the option off.",
        change=lambda stop: (*stop[:2], [*stop[2][:-1], (*stop[2][-1][:-1], b"?")]),
    ),
]
ROWS_FAULTS: Final = [
    Fault(
        id="rows/lost",
        requirement="X1",
        sentence="All rows are there after an old server's log was applied by a new one.",
        change=lambda rows: rows[:-1],
    ),
    Fault(
        id="rows/value",
        requirement="X1",
        sentence="Rows are the same after an old server's log was applied by a new one.",
        change=lambda rows: [*rows[:-1], (*rows[-1][:-1], b"?")],
    ),
]
UPDATE_FAULTS: Final = [
    Fault(
        id="old/lost-update",
        requirement="X2",
        sentence="An old server applies every update that a new one logs with the option off.",
        change=lambda answer: (answer[0], [*answer[1][:-1], (answer[1][-1][0], b"-1", *answer[1][-1][2:])]),
    ),
    Fault(
        id="old/refuses-update",
        requirement="X2",
        sentence="An old server takes every row event that is logged with the option off.",
        change=lambda answer: (1105, answer[1]),
    ),
]

# --- NFR1: what a server did with an event whose value_options is written in another way, as an InjectionOutcome -----

FORMAT_FAULTS: Final = [
    Fault(
        id="format/unknown-bit",
        requirement="NFR1",
        sentence="Bits of value_options that the server does not know are refused.",
        change=lambda outcome: replace(outcome, error=0),
    ),
    Fault(
        id="format/longer-form",
        requirement="NFR1",
        sentence="A longer form of the packed integer is the same number.",
        change=lambda outcome: replace(outcome, error=1610, after=outcome.before),
    ),
    Fault(
        id="format/changed",
        requirement="NFR1",
        sentence="A refused event changes nothing, an accepted one makes the document that it describes.",
        change=lambda outcome: replace(outcome, after=replace(outcome.after, text=b"{}")),
    ),
]

# --- P9: what mysqlbinlog prints of a damaged event, as (exit status, text) ------------------------------------------

DAMAGE_FAULTS: Final = [
    Fault(
        id="damage/silent",
        requirement="P9",
        sentence="The text says that the event is damaged.",
        change=lambda shown: (shown[0], b"### UPDATE `d`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2=@2\n"),
    ),
    Fault(
        id="damage/dies",
        requirement="P9",
        sentence="The program lives to the end of the file.",
        change=lambda shown: (-11, shown[1]),
    ),
]

FAULTS: Final = [
    *DAMAGE_FAULTS,
    *FORMAT_FAULTS,
    *TEXT_FAULTS,
    *REPLAY_FAULTS,
    *OFF_FAULTS,
    *ON_FAULTS,
    *OPTION_FAULTS,
    *OLD_FAULTS,
    *RELAY_FAULTS,
    *ROWS_FAULTS,
    *UPDATE_FAULTS,
]
