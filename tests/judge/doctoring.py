"""The Case of the planted faults, and means to doctor what a perfect server leaves of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.row_images import RowImage
from conformance.cases.script import ReadBack, Script, build_script
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.binlog.event import decode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import FOOTER_SIZE, checksum_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query, Status
from conformance.reference.binlog.rows import Row, RowsBody
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.diffs import Diff, decode_diffs, encode_diffs
from conformance.reference.partial.expression import Assignment, Constant, Increment, Literal, SqlNull
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table
from conformance.reference.tables.table_map import TableMap
from tests.faults.fault import Fault
from tests.judge.perfect_server import Groups, is_update

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.observation import ReadBackRow, StatementOutcome

PAD: Final = "p" * 60
D: Final = f'{{"a": 1, "b": "str", "c": [1, 2, 3], "d": {{"x": 1}}, "pad": "{PAD}"}}'

TABLE: Final = Table(
    schema="lab",
    name="t",
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="n", type="INT"),
        Column(name="j", type="JSON"),
        Column(name="k", type="JSON"),
        Column(name="at", type="DATETIME", scale=0),
    ),
    primary_key=((0, 0),),
)


def _set(sql: str, column: str = "j") -> Assignment:
    return Assignment(column, parse_expression(sql, column))


# Numbers of the steps, by what is interesting in them.
STEPS: Final[dict[str, Step]] = {
    "one diff": Step((_set("JSON_SET(j, '$.a', 5)"),), (0,)),
    "two diffs, two rows": Step((_set("JSON_SET(JSON_REMOVE(j, '$.b'), '$.new', 1)"),), (0, 1)),
    "border full": Step((_set("JSON_SET(k, '$[0]', 'xxxx')", "k"),), (0,)),
    "empty": Step((Assignment("n", Increment("n", 1)), _set("JSON_SET(j, '$.a', 5)")), (0,)),
    "two columns": Step((_set("JSON_SET(j, '$.d.x', 2)"), _set("JSON_SET(k, '$[1]', 'z')", "k")), (1,)),
    "unchanged": Step((_set("JSON_REPLACE(j, '$.zz', 1)"),), (0, 1)),
    "refused": Step((_set("JSON_SET(j, '$[*]', 1)"),), (0,)),
    "hole": Step((_set("JSON_SET(j, '$.pad', 'x')"),), (0,)),
    "border partial": Step((_set("JSON_SET(k, '$[0]', 'xxxx')", "k"),), (2,)),
    "time zone": Step((_set("JSON_SET(j, '$.pad', TIMESTAMP'2024-02-29 12:34:56')"),), (1,)),
    "json null": Step((Assignment("k", Literal(None)),), (0,)),
    "sql null": Step((Assignment("k", SqlNull()),), (1,)),
    "open transaction": Step((Assignment("n", Constant(9)), _set("JSON_REMOVE(j, '$.c[0]')")), (2,), commit=False),
    "second of two": Step((_set("JSON_SET(j, '$.c[0]', 'long')"),), (2,)),
}
NUMBERS: Final = {name: number for number, name in enumerate(STEPS)}


@cache
def script(*, image: RowImage = RowImage.MINIMAL, compression: bool = False, rows_query: bool = False) -> Script:
    """The Case of all planted faults."""
    rows = tuple(
        (number + 1, 0, encode(parse_text(D)), encode(parse_text(text)), None)
        for number, text in enumerate(('["kkkk", ""]', '["a", "bb"]', '["kkkk", "z"]'))
    )
    case = UpdateCase(
        id="planted",
        table=TABLE,
        selector="id",
        session=Session(row_image=image, compression=compression, rows_query=rows_query),
        rows=rows,
        steps=tuple(STEPS.values()),
    )
    return build_script(case)


def group_of(step: str) -> int:
    """Which transaction a step is in: the INSERT comes first, and what changes nothing has none."""
    made = script()
    number = NUMBERS[step]
    before = [steps for steps in made.transactions if any(made.predictions[each].events for each in steps)]
    return 1 + next(place for place, steps in enumerate(before) if number in steps)


PARTIAL: Final = EventType.PARTIAL_UPDATE_ROWS
P: Final = "PARTIAL_UPDATE_ROWS_EVENT"
GTID: Final = "GTID_LOG_EVENT"
ONE_DIFF: Final = bytes.fromhex("0900000000 03242e61 03050500")
WIDE: Final = bytes.fromhex("0b00000000 03242e61 050705000000")


def fault(name: str, breaks: str, kind: str, field: str, step: str | None, observation: Any, run: Any = None) -> Fault:
    """``kind`` and ``field`` (its beginning) of the first mismatch; ``step``: the name of the step it must blame."""
    return Fault(name, breaks, name, observation, kind, at=step, says=field, run=run or {})


# --- means -----------------------------------------------------------------------------------------------------------


def body(step: str, change: Callable[[Any], Any], *, where: Callable[[Any], bool] = is_update) -> dict[str, Any]:
    """Change the one body of a step's transaction that ``where`` finds."""

    def doctor(groups: Groups) -> None:
        group = groups[group_of(step)]
        places = [place for place, item in enumerate(group) if where(item)]
        place = places[0]
        group[place] = change(group[place])

    return {"doctor": doctor}


def row(step: str, change: Callable[[Row], Row], number: int = 0) -> dict[str, Any]:
    """Change one row of a step's row event. Options and bits follow from the new values unless they are given."""

    def changed(rows: RowsBody) -> RowsBody:
        new = change(rows.rows[number]._replace(value_options=None, partial_columns=None))
        return replace(rows, rows=(*rows.rows[:number], new, *rows.rows[number + 1 :]))

    return body(step, changed)


def diffs(step: str, change: Callable[[list[Diff]], list[Diff]], number: int = 0) -> dict[str, Any]:
    """Change the diffs of the only JSON value of a row."""

    def changed(old: Row) -> Row:
        assert old.after is not None
        place = next(place for place, value in enumerate(old.after) if isinstance(value, PartialJson))
        value = old.after[place]
        assert isinstance(value, PartialJson)
        new = PartialJson(encode_diffs(change(list(decode_diffs(value.diffs)))))
        return old._replace(after=(*old.after[:place], new, *old.after[place + 1 :]))

    return row(step, changed, number)


def after(step: str, value: Any, number: int = 0, place: int = 0) -> dict[str, Any]:
    """Put another value into the after image."""

    def changed(old: Row) -> Row:
        assert old.after is not None
        return old._replace(after=(*old.after[:place], value, *old.after[place + 1 :]))

    return row(step, changed, number)


def query(step: str, change: Callable[[Query], Query]) -> dict[str, Any]:
    return body(step, change, where=lambda item: isinstance(item, Query))


def table_map(step: str, change: Callable[[TableMap], TableMap]) -> dict[str, Any]:
    return body(step, change, where=lambda item: isinstance(item, TableMap))


def status(step: str, code: Status) -> dict[str, Any]:
    """Leave a status variable out of BEGIN."""

    def changed(old: Query) -> Query:
        kept = tuple(item for item in old.status if item.code != code)
        assert len(kept) == len(old.status) - 1, "the status variable is not there"
        return replace(old, status=kept)

    return query(step, changed)


def groups(change: Callable[[Groups], None]) -> dict[str, Any]:
    return {"doctor": change}


def sealed(event: bytes) -> bytes:
    """An event with its length and checksum made right again."""
    event = event[:9] + len(event).to_bytes(4, "little") + event[13:]
    return event[:-FOOTER_SIZE] + checksum_of(event[:-FOOTER_SIZE]).to_bytes(FOOTER_SIZE, "little")


def patch(code: EventType, change: Callable[[bytes], bytes], *, last: bool = False) -> dict[str, Any]:
    """Change the bytes of the first (or last) finished event of a type. GTID events learn the new length."""

    def patched(events: list[bytes]) -> None:
        places = [place for place, event in enumerate(events) if event[4] == code]
        place = places[-1 if last else 0]
        before = len(events[place])
        events[place] = change(events[place])
        if len(events[place]) == before or code == EventType.GTID:
            return
        start = max(index for index in range(place) if events[index][4] == EventType.GTID)
        gtid = decode_event(events[start]).body
        assert isinstance(gtid, Gtid)
        assert gtid.transaction_length is not None
        longer = replace(gtid, transaction_length=gtid.transaction_length + len(events[place]) - before)
        events[start] = sealed(events[start][:19] + longer.encode() + bytes(4))

    return {"patch": patched}


def swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Replace bytes that stand in an event once."""

    def changed(event: bytes) -> bytes:
        assert event.count(old) == 1, event.hex()
        return sealed(event.replace(old, new))

    return changed


def at(offset: int, value: int) -> Callable[[bytes], bytes]:
    """Replace one byte, and seal."""
    return lambda event: sealed(event[:offset] + bytes((value,)) + event[offset + 1 :])


def answer(step: str, outcome: StatementOutcome) -> dict[str, Any]:
    def client(answers: list[StatementOutcome], _: list[list[ReadBackRow]]) -> None:
        answers[NUMBERS[step]] = outcome

    return {"client": client}


def cell(step: str, index: int, place: int, value: bytes | None) -> dict[str, Any]:
    """Change one cell that is read back after a step, of a start row: size, free, text of j, then of k."""
    wanted = (index, NUMBERS[step])

    def client(_: list[StatementOutcome], rows: list[list[ReadBackRow]]) -> None:
        expected = [item for item in script().items if isinstance(item, ReadBack)]
        for number, item in enumerate(expected):
            for line, (row_index, last_step, _values) in enumerate(item.rows):
                if (row_index, last_step) == wanted:
                    old = rows[number][line]
                    assert old[place] != value
                    rows[number][line] = (*old[:place], value, *old[place + 1 :])
                    return
        raise AssertionError(f"{wanted} is not read back")

    return {"client": client}


def lose_read_back(_: list[StatementOutcome], rows: list[list[ReadBackRow]]) -> None:
    rows[0] = rows[0][:-1]


def delete_body(step: str, where: Callable[[Any], bool]) -> dict[str, Any]:
    def doctor(found: Groups) -> None:
        group = found[group_of(step)]
        del group[next(place for place, item in enumerate(group) if where(item))]

    return {"doctor": doctor}


def merge_transactions(found: Groups) -> None:
    """Two transactions as one: the first's XID and the second's GTID and BEGIN are missing."""
    place = group_of("one diff")
    found[place : place + 2] = [[*found[place][:-1], *found[place + 1][2:]]]


def flag_in_header(event: bytes) -> bytes:
    return sealed(event[:17] + b"\x01\x00" + event[19:])


def types_lie(event: bytes) -> bytes:
    return sealed(event[:4] + bytes((EventType.UPDATE_ROWS,)) + event[5:])


def broken_checksum(event: bytes) -> bytes:
    return event[:-1] + bytes((event[-1] ^ 1,))


def broken_frame(event: bytes) -> bytes:
    return sealed(event[:60] + bytes((event[60] ^ 0xFF,)) + event[61:])


def as_update_rows(rows: RowsBody) -> RowsBody:
    full = [Row(item.before, (encode(parse_text(D)),)) for item in rows.rows]
    return replace(rows, type=EventType.UPDATE_ROWS, rows=tuple(full))


def reversed_rows(rows: RowsBody) -> RowsBody:
    return replace(rows, rows=rows.rows[::-1])


def options_at(event: bytes) -> int:
    """Where value_options is in a MINIMAL event of one INT key: after the header, head, bitmaps, null byte and key."""
    return 19 + 10 + 1 + 1 + 1 + 1 + 4


def patch_options(event: bytes, value: int) -> bytes:
    assert event[options_at(event)] == 1
    return at(options_at(event), value)(event)


def patch_bits(event: bytes, value: int) -> bytes:
    assert event[options_at(event) : options_at(event) + 2] == b"\x01\x01"
    return at(options_at(event) + 1, value)(event)


def change_payload(event: bytes, **changes: Any) -> bytes:
    old = TransactionPayload.decode(event[19:-4])
    return sealed(event[:19] + replace(old, **changes).encode() + event[-4:])


def append_to_payload(event: bytes, data: bytes) -> bytes:
    """With bytes behind the last event inside; the sizes are right."""
    whole = TransactionPayload.compress(TransactionPayload.decode(event[19:-4]).uncompressed() + data)
    return change_payload(event, payload=whole.payload, uncompressed_size=whole.uncompressed_size)


def change_insert(found: Groups) -> None:
    place = next(place for place, item in enumerate(found[0]) if isinstance(item, RowsBody))
    rows = found[0][place]
    first = rows.rows[0]
    value = decode(first.after[2])
    changed = (*first.after[:2], encode([value]), *first.after[3:])
    found[0][place] = replace(rows, rows=(first._replace(after=changed), *rows.rows[1:]))


def drop_last_statement(group: list[Any]) -> None:
    """Its TABLE_MAP and row event, which stand in front of the XID."""
    del group[-3:-1]
