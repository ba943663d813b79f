"""Faulty servers of WL#4618: the fields of TABLE_MAP, the variable, and what a reader of the log finds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.event import decode_event
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.tables.metadata import Field, UnknownField
from conformance.reference.tables.table_map import TableMap
from tests.faults.servers.edits import accepted, after, each, events_of, refused, rewritten, typed
from tests.faults.servers.fault import server

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.fault import Fault
    from tests.faults.servers.fault import ChangedAnswer, ChangedLog
    from tests.faults.servers.packets import Answer

_MAPS: Final = frozenset((EventType.TABLE_MAP,))
_CHECK: Final = "test_table_maps"
_VALUES: Final = "test_values_from_the_log_alone"
_MODE: Final = r"(SET (GLOBAL )?@?@?(GLOBAL\.)?binlog_row_metadata *= *)'?(FULL|MINIMAL)'?"


def _field(number: Field, change: Callable[[Any], Any]) -> ChangedLog:
    """Change one optional field; ``None`` in its place leaves it out."""

    def changed(table: TableMap) -> TableMap:
        made = (change(item) if item.field == number else item for item in table.metadata)
        return replace(table, metadata=tuple(item for item in made if item is not None))

    return typed(_MAPS, changed)


def _map(change: Callable[[TableMap], TableMap]) -> ChangedLog:
    return typed(_MAPS, change)


def _in_another_order(sql: str) -> bool:
    """Whether a BINLOG statement has a TABLE_MAP whose fields do not stand in the order of their numbers."""
    for event in events_of(sql):
        if event[4] == EventType.TABLE_MAP:
            table = decode_event(event).body
            assert isinstance(table, TableMap)
            numbers = [int(item.field) for item in table.metadata]
            if numbers != sorted(numbers):
                return True
    return False


def _behind_damage(sql: str) -> str:
    """The update of the row, where the statement has a TABLE_MAP that cannot be read."""
    for event in events_of(sql):
        if event[4] == EventType.TABLE_MAP:
            try:
                decode_event(event)
            except CodecError:
                return "UPDATE t SET j = JSON_SET(j, '$.a', 'planted')"
    return sql


def _fault(
    name: str, requirements: str, does: str, says: str, log: ChangedLog, checks: str = _CHECK, also: str = ""
) -> Fault:
    return server(name, requirements, does, says, checks=checks, also=also, log=log)


def _swapped(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return (items[1], items[0], *items[2:]) if len(items) > 1 else items


def _of_unknown_fields(change: Callable[[Answer], Answer]) -> ChangedAnswer:
    """Change the answers to BINLOG statements whose TABLE_MAP has a field beyond the known ones."""

    def changed(sql: str, answer: Answer) -> Answer:
        maps = [event for event in events_of(sql) if event[4] == EventType.TABLE_MAP]
        tables = [decode_event(event, verify=False).body for event in maps]
        fields = [item for table in tables if isinstance(table, TableMap) for item in table.metadata]
        return change(answer) if any(isinstance(item, UnknownField) for item in fields) else answer

    return changed


TABLE_FAULTS: Final = (
    _fault("signs-inverted", "TMF1", "The bit for an unsigned column is 0.", "SIGNEDNESS",
           _field(Field.SIGNEDNESS, lambda item: replace(item, bits=tuple(not bit for bit in item.bits)))),
    _fault("signs-left-out", "TMF1", "SIGNEDNESS is not logged.", "SIGNEDNESS.*None",
           _field(Field.SIGNEDNESS, lambda _: None)),
    _fault("another-default-charset", "TMF2", "The default character set is the table's neighbour in the list.",
           "DEFAULT_CHARSET", _field(Field.DEFAULT_CHARSET, lambda item: replace(item, default=item.default + 1))),
    _fault("charsets-of-exceptions-lost", "TMF2", "Columns with another character set than the default are not named.",
           "DEFAULT_CHARSET", _field(Field.DEFAULT_CHARSET, lambda item: replace(item, exceptions=()))),
    _fault("names-exchanged", "TMF3", "The first two column names stand in each other's place.", "COLUMN_NAME",
           _field(Field.COLUMN_NAME, lambda item: replace(item, names=_swapped(item.names)))),
    _fault("names-lose-a-letter", "TMF3", "Column names lose their last letter.", "COLUMN_NAME",
           _field(Field.COLUMN_NAME, lambda item: replace(item, names=tuple(name[:-1] or "x" for name in item.names)))),
    server("printed-columns-are-visible", "TMP1", "mysqlbinlog says of no column that it is invisible.", "text with",
           checks=_CHECK, printed=lambda text: text.replace(b" INVISIBLE", b"")),
    server("printed-signs-are-lost", "TMP1", "mysqlbinlog says of no column that it is unsigned.", "text with",
           checks=_CHECK, printed=lambda text: text.replace(b" UNSIGNED", b"")),
    _fault("members-of-sets-exchanged", "TMF4", "The first two members of a SET stand in each other's place.",
           "SET_STR_VALUE",
           _field(Field.SET_STR_VALUE, lambda item: replace(item, members=tuple(map(_swapped, item.members))))),
    _fault("last-member-of-a-set-lost", "TMF4", "The last member of a SET is not logged.", "SET_STR_VALUE",
           _field(Field.SET_STR_VALUE, lambda item: replace(item, members=tuple(one[:-1] for one in item.members)))),
    _fault("enumerations-exchanged", "TMF5", "The first two members of an ENUM stand in each other's place.",
           "ENUM_STR_VALUE",
           _field(Field.ENUM_STR_VALUE, lambda item: replace(item, members=tuple(map(_swapped, item.members))))),
    _fault("enumerations-left-out", "TMF5", "The members of ENUM columns are not logged with FULL.", "ENUM_STR_VALUE",
           _field(Field.ENUM_STR_VALUE, lambda _: None), also="TMM1"),
    _fault("key-of-the-next-column", "TMF6", "The primary key names the column behind each of its own.", "PRIMARY_KEY",
           _field(
               Field.SIMPLE_PRIMARY_KEY, lambda item: replace(item, numbers=tuple(one + 1 for one in item.numbers))
           )),
    _fault("prefixes-forgotten", "TMF6", "A key over prefixes is logged as one over whole columns.", "PRIMARY_KEY",
           _field(
               Field.PRIMARY_KEY_WITH_PREFIX,
               lambda item: replace(item, parts=tuple((one, 0) for one, _ in item.parts)),
           )),
    _fault("geometries-are-points", "TMF7", "Every geometry column is logged as the next type.", "GEOMETRY_TYPE",
           _field(
               Field.GEOMETRY_TYPE, lambda item: replace(item, numbers=tuple((one + 1) % 8 for one in item.numbers))
           )),
    _fault("geometries-left-out", "TMF7", "The types of geometry columns are not logged.", "GEOMETRY_TYPE",
           _field(Field.GEOMETRY_TYPE, lambda _: None)),
    _fault("schema-of-another-table", "TMG1", "The schema's name has another last letter.", "schema",
           _map(lambda table: replace(table, schema=table.schema[:-1] + "_"))),
    _fault("null-bits-inverted", "TMG1", "The bitmap of columns that can be NULL is inverted.", "null",
           _map(lambda table: replace(table, nullable=tuple(not bit for bit in table.nullable)))),
    _fault("charsets-of-enumerations-lost", "TMG2", "ENUM and SET columns lose their character set.", "ENUM_AND_SET",
           _field(Field.ENUM_AND_SET_DEFAULT_CHARSET, lambda _: None)),
    _fault("charset-of-enumerations-is-another", "TMG2", "The character set of ENUM and SET columns is another one.",
           "ENUM_AND_SET",
           _field(Field.ENUM_AND_SET_DEFAULT_CHARSET, lambda item: replace(item, default=item.default + 1))),
    _fault("invisible-columns-are-visible", "TMG3", "The bit of an invisible column says visible.", "COLUMN_VISIBILITY",
           _field(Field.COLUMN_VISIBILITY, lambda item: replace(item, bits=tuple(True for _ in item.bits)))),
    _fault("visibility-left-out", "TMG3", "The visibility of columns is not logged.", "COLUMN_VISIBILITY",
           _field(Field.COLUMN_VISIBILITY, lambda _: None)),
    _fault("vectors-of-one-more", "TMG4", "A VECTOR column has one dimension more than it was made with.", "VECTOR",
           _field(Field.VECTOR_DIMENSIONALITY, lambda item: replace(item, numbers=tuple(n + 1 for n in item.numbers)))),
    _fault("vectors-without-a-number", "TMG4", "The dimensions of VECTOR columns are not logged.", "VECTOR",
           _field(Field.VECTOR_DIMENSIONALITY, lambda _: None)),
    server("full-is-minimal", "TMM1", "binlog_row_metadata=FULL is taken, and the log has the fields of MINIMAL.",
           "COLUMN_NAME.*expected logged.*got not logged", checks=_CHECK, also="TMF3 TMF4 TMF5 TMF6 TMG2 TMG3",
           statement=rewritten(r"(SET GLOBAL binlog_row_metadata = )FULL", r"\1MINIMAL")),
    server("minimal-is-full", "TMM1", "With MINIMAL the log has the fields of FULL.",
           "COLUMN_NAME.*expected not logged.*got logged", checks=_CHECK,
           statement=rewritten(r"(SET GLOBAL binlog_row_metadata = )MINIMAL", r"\1FULL")),
    _fault("reader-finds-another-name", "TMV1", "A reader of the log finds the names of two columns exchanged.",
           "name|row", _field(Field.COLUMN_NAME, lambda item: replace(item, names=_swapped(item.names))), _VALUES),
    _fault("reader-finds-no-names", "TMV1", "A reader of the log finds columns without names.", "name|row",
           _field(Field.COLUMN_NAME, lambda _: None), _VALUES),
    server("metadata-takes-any-word", "TMS1", "binlog_row_metadata takes values that are none of its own.",
           "expected error 1231.*got success", answer=after("binlog_row_metadata", accepted(1231))),
    server("metadata-refuses-numbers", "TMS1", "binlog_row_metadata refuses the number of its second value.",
           "expected success.*got error 1231", answer=after("SET .*binlog_row_metadata *= *1$", refused(1231))),
    server("metadata-has-a-session-value", "TMS2",
           "SET SESSION binlog_row_metadata is taken, though the variable is global.",
           "expected error 1229.*got success", answer=after("binlog_row_metadata", accepted(1229))),
    server("metadata-cannot-persist", "TMS2", "SET PERSIST does not take binlog_row_metadata.",
           "expected success.*got error 1238", answer=after("SET PERSIST.*binlog_row_metadata", refused(1238))),
    server("metadata-changes-nothing", "TMS3", "A change of binlog_row_metadata has no effect on the log.",
           r"expected FULL; got MINIMAL", statement=rewritten(r"(binlog_row_metadata *= *)'?FULL'?", r"\1MINIMAL")),
    server("metadata-always-full", "TMS3", "Once FULL, a table's fields stay, whatever the variable says.",
           r"expected MINIMAL; got FULL", statement=rewritten(r"(binlog_row_metadata *= *)'?MINIMAL'?", r"\1FULL")),
    server("metadata-needs-no-privilege", "TMS4", "Accounts without a privilege set binlog_row_metadata.",
           "expected error 12|expected an error", answer=after("SET .*binlog_row_metadata", accepted(1227, 3630))),
    server("metadata-persists-for-nobody", "TMS4",
           "SYSTEM_VARIABLES_ADMIN does not suffice to persist binlog_row_metadata.",
           "expected success.*got error 1227", answer=after("SET PERSIST .*binlog_row_metadata", refused(1227))),
    _fault("rows-with-another-value", "TMV2", "The last byte of a row in the log is another one.", "row",
           each(frozenset((EventType.WRITE_ROWS,)), lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:]),
           _VALUES, also="TMV1"),
    _fault("rows-without-the-last-byte", "TMV2", "The last byte of an INSERT's rows is not logged.",
           "expected a log that can be read; got WRITE_ROWS_EVENT",
           each(frozenset((EventType.WRITE_ROWS,)), lambda event: event[:-5] + event[-4:]), _VALUES, also="TMV1"),
    server("unknown-fields-are-refused", "TMNF3", "A TABLE_MAP with a field that the server does not know is refused.",
           "applied, with field.*expected error None; got error 1610", answer=_of_unknown_fields(refused(1610))),
    server("unknown-fields-hide-the-columns", "TMNF3", "mysqlbinlog prints no columns of a table.", "text, with field",
           printed=lambda text: re.sub(rb"# Columns\(.*\n", b"", text)),
    server("texts-with-another-letter", "TMV1",
           "SELECT shows other letters than the row in the log has, and so texts that are no JSON.", "row",
           checks=_VALUES,
           answer=lambda _, answer: (
               replace(
                   answer, rows=tuple(tuple(cell and cell.replace(b"a", b"b") for cell in row) for row in answer.rows)
               )
               if len(answer.columns) > 3
               else answer
           )),
    server("damaged-maps-are-taken", "SC6",
           "A TABLE_MAP that is damaged is no error: the update behind it is left out in silence.",
           "an update behind a damaged TABLE_MAP is accepted", answer=after("^BINLOG", accepted())),
    server("updates-behind-damaged-maps-are-applied", "SC6",
           "The update behind a damaged TABLE_MAP goes to the table that it was made for.",
           "an update behind a damaged TABLE_MAP is accepted", statement=_behind_damage),
    server("fields-in-another-order-are-not-applied", "TMNF4",
           "Rows behind a TABLE_MAP whose fields are not in order are not stored.",
           "the order of the fields changes what is read",
           statement=lambda sql: "DO 0" if _in_another_order(sql) else sql),
    server("fields-in-another-order-name-no-columns", "TMNF4",
           "mysqlbinlog prints no columns of the first table in a file.",
           "the order of the fields changes what is read",
           printed=lambda text: re.sub(rb"# Columns\(.*\n", b"", text, count=1)),
)  # fmt: skip
