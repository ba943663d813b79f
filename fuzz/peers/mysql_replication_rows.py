"""Compares how python-mysql-replication reads TABLE_MAP and row events."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.decoding.column_values import differences_of_values
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.rows import V1_TYPES, RowsBody, decode_rows_event, included
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.layout import decode_strict
from conformance.reference.partial.diffs import decode_diffs
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap
from fuzz.prefixed import split
from fuzz.targets import rows
from fuzz.violation import Violation, require

try:  # imported with this module, so that the peer's code is instrumented too
    from pymysql.protocol import MysqlPacket
    from pymysqlreplication import packet
except ImportError:
    packet = None

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE: Final = "mysql-replication"
INVARIANT: Final = "Row events that a server could have written give as many rows, with the columns that are in them."
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.binlog.rows", "pymysqlreplication.row_event")
MAX_LEN: Final = rows.MAX_LEN
DICTIONARY: Final = rows.DICTIONARY
mutate = rows.mutate
seeds = rows.seeds


class _Connection:
    """The facts about its server that the package requires."""

    charset = "utf8mb4"

    def _get_dbms(self) -> str:
        return "mysql"


@cache
def _reader() -> Callable[[bytes, dict[int, Any]], Any]:
    if packet is None:
        raise ModuleNotFoundError(f"pip install {PACKAGE}")
    wrapper_class = packet.BinLogPacketWrapper
    kinds = set(wrapper_class._BinLogPacketWrapper__event_map.values())  # noqa: SLF001 - it has no other way

    def read(event: bytes, tables: dict[int, Any]) -> Any:
        wrapper = wrapper_class(
            MysqlPacket(b"\0" + event, "utf8"), tables, _Connection(), (9, 7, 4), True, kinds,
            None, None, None, None, False, False, False, True, False,
        )  # fmt: skip
        return wrapper.event

    return read


def check(data: bytes) -> None:
    """Check the input of the target ``rows``; give the peer only events that encode to the same bytes again."""
    body, table = _sound(data)
    if body is None or table is None or body.type in V1_TYPES:
        return
    try:
        known: dict[int, Any] = {}
        mapped = _reader()(encode_event(table), known)
        known[mapped.table_id] = mapped.get_table()
        event = _reader()(encode_event(body), known)
        found = event.rows
    except Exception as error:  # noqa: BLE001 - whatever a stranger raises is a refusal
        raise Violation(f"{EventType(body.type).name} is read, not refused: {error!r}"[:100], body) from None
    require(len(found) == len(body.rows), f"{EventType(body.type).name} gives all its rows", found, body)
    for ours, theirs in zip(body.rows, found, strict=True):
        for image, bitmap, names in (
            (ours.before, body.before_columns, ("before_values", "values")),
            (ours.after, body.after_columns, ("after_values", "values")),
        ):
            values = next((theirs[name] for name in names if name in theirs), None)
            if image is None or bitmap is None or values is None:
                continue
            places = list(values.values())
            for place, value in zip(included(bitmap, len(table.columns)), image, strict=True):
                whole = isinstance(value, int) and not table.columns[place].is_enum_or_set
                if value is None or (whole and not isinstance(places[place], (str, bytes, set))):
                    found = differences_of_values(None, value, places[place], None, "")
                    words = found[0].cause or "another number" if found else ""
                    require(not found, f"NULL and integers come as they are, not otherwise: {words}", value, found)


def _readable(table: TableMap, place: int, value: object) -> None:
    """Refuse damaged documents: nobody can compare them, and some occupy the peer for ever."""
    if isinstance(value, PartialJson):
        decode_diffs(value.diffs, strict=True)
    elif isinstance(value, bytes) and place in table.json_columns:
        decode_strict(value)


def _sound(data: bytes) -> tuple[RowsBody | None, TableMap | None]:
    code = rows.CODES[data[0] % len(rows.CODES)] if data else rows.CODES[0]
    first, second = split(data[1:], 2)
    try:
        table = TableMap.decode(first)
        body = decode_rows_event(code, second, {int.from_bytes(second[:6], "little"): table}).typed()
        whole = body.encode() == second and table.encode() == first and body.table_id == table.table_id
        for row in body.rows:
            for image, bitmap in ((row.before, body.before_columns), (row.after, body.after_columns)):
                for place, value in zip(included(bitmap or 0, len(table.columns)), image or (), strict=True):
                    _readable(table, place, value)
    except CodecError:
        return None, None
    columns = (body.before_columns or 0) | (body.after_columns or 0)
    return (body, table) if whole and body.rows and columns else (None, None)
