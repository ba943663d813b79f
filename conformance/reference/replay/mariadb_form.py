"""A log of MySQL in the words of MariaDB: what a replica of MariaDB 10.11 reads, and nothing of what stops it.

MariaDB has no type for JSON: its JSON is LONGTEXT, so documents become their text. It has no tagged GTIDs, and collates
utf8mb4 otherwise. Observed: which events and fields stop a replica of 10.11.18, and that it reads what is made here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.gtid import NIL_UUID, Gtid, GtidTagged
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusVariable
from conformance.reference.binlog.rows import Row, RowsBody, included
from conformance.reference.errors import Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.portable import shown
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.tables.columns import BLOB, JSON, VECTOR, ColumnType
from conformance.reference.tables.metadata import Field, MetadataField, Numbers, charset_columns
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.event import Body
    from conformance.reference.binlog.images import Image

_UTF8MB4: Final = 45  # utf8mb4_general_ci
_DOCUMENTS: Final = 46  # utf8mb4_bin, the collation of MariaDB's JSON
_FIRST_UNKNOWN: Final = 248  # gb18030, then the collations of MySQL 8.0
_LONGTEXT: Final = ColumnType(BLOB, 4)
_CHARSETS: Final = frozenset((Field.DEFAULT_CHARSET, Field.COLUMN_CHARSET))
_LAST_SHARED: Final = Status.UPDATED_DB_NAMES  # of the status variables: MariaDB gave later numbers other meanings
_COLLATED: Final = frozenset((Status.CHARSET, Status.CHARSET_DATABASE))


def mariadb_body(body: Body) -> Body:
    """An event as MariaDB reads it; the same object where it needs no change. Rows: :func:`mariadb_rows`.

    Raises :class:`Unsupported` for what MariaDB has no words for.
    """
    if isinstance(body, GtidTagged):
        return Gtid(
            type=EventType.ANONYMOUS_GTID, gtid_flags=body.gtid_flags or 0, uuid=NIL_UUID, gno=0,
            last_committed=body.last_committed or 0, sequence_number=body.sequence_number or 0,
            immediate_commit_timestamp=body.immediate_commit_timestamp or 0,
            original_commit_timestamp=body.original_commit_timestamp,
            transaction_length=body.transaction_length or 0,
            immediate_server_version=body.immediate_server_version or 0,
            original_server_version=body.original_server_version,
        )  # fmt: skip
    if isinstance(body, Query):
        return _query(body)
    if isinstance(body, TableMap):
        return mariadb_map(body)
    return body


def _query(query: Query) -> Query:
    if b"_0900_" in query.text or b"gb18030" in query.text.lower():
        raise Unsupported(
            "collation", "the statement names a collation that MariaDB 10.11 does not have",
            got=shown(query.text[:80].decode("utf-8", "backslashreplace")),
        )  # fmt: skip
    status = tuple(_variables(query.status))
    return query if status == query.status else replace(query, status=status)


def _variables(status: Iterable[StatusVariable]) -> Iterable[StatusVariable]:
    microseconds = None
    for item in status:
        if isinstance(item, StatusIntegers) and item.code in _COLLATED:
            yield replace(item, values=tuple(map(_collation, item.values)))
        elif isinstance(item, StatusInteger) and item.code in _COLLATED:
            yield replace(item, value=_collation(item.value))
        elif isinstance(item, StatusInteger) and item.code == Status.MICROSECONDS:
            microseconds = StatusInteger(Status.MARIADB_MICROSECONDS, item.value)
        elif item.code <= _LAST_SHARED:
            yield item
    if microseconds is not None:
        yield microseconds


def _collation(number: int) -> int:
    """A collation of the same character set that MariaDB has."""
    if number < _FIRST_UNKNOWN:
        return number
    known = COLLATIONS.get(number)
    if known is None or known.charset != "utf8mb4":
        name = "an unknown one" if known is None else known.name
        raise Unsupported("collation", "a collation that MariaDB 10.11 does not have", got=f"{number} ({name})")
    return _UTF8MB4


def mariadb_map(table: TableMap) -> TableMap:
    """The TABLE_MAP with LONGTEXT in the place of JSON; kept with the one that it is made of."""
    known: TableMap | None = table.plans.get("mariadb")
    if known is None:
        known = _map(table)
        table.plans["mariadb"] = known
    return known


def _map(table: TableMap) -> TableMap:
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type == VECTOR:
            raise Unsupported("column-type", "MariaDB 10.11 has no VECTOR", got=f"{table.schema}.{table.table}.{name}")
    if table.flags & GENERATED_INVISIBLE_PK:
        raise Unsupported(
            "generated-key", "MariaDB makes no invisible primary key", got=f"{table.schema}.{table.table}"
        )
    if not table.json_columns:
        return table
    columns = tuple(_LONGTEXT if column.type == JSON else column for column in table.columns)
    return replace(table, columns=columns, metadata=tuple(_metadata(table, columns)))


def _metadata(table: TableMap, columns: tuple[ColumnType, ...]) -> Iterable[MetadataField]:
    """The metadata, with the collations of the columns that are text now."""
    told = any(field.field in _CHARSETS for field in table.metadata)
    for field in table.metadata:
        if field.field not in _CHARSETS:
            yield field
    if told or (table.metadata and not charset_columns(table.columns)):
        numbers = [table.described[index].collation for index in charset_columns(columns)]
        yield Numbers(Field.COLUMN_CHARSET, tuple(_DOCUMENTS if each is None else each for each in numbers))


def mariadb_rows(rows: RowsBody) -> RowsBody:
    """Rows with the texts of documents. ``rows`` has whole documents, and no diffs."""
    table = rows.map()
    other = mariadb_map(table)
    if other is table:
        return rows
    count = len(table.columns)
    before, after = ([index in table.json_columns for index in included(columns or 0, count)]
                     for columns in (rows.before_columns, rows.after_columns))  # fmt: skip
    changed = tuple(Row(_image(row.before, before), _image(row.after, after)) for row in rows.rows)
    return replace(rows, table=other, rows=changed)


def _image(image: Image | None, documents: list[bool]) -> Image | None:
    if image is None:
        return None
    return tuple(
        format_text(decode(value)).encode() if document and isinstance(value, bytes) else value
        for value, document in zip(image, documents, strict=True)
    )
