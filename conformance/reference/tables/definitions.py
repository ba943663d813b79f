"""Table definitions as data: the CREATE TABLE they stand for, and the TABLE_MAP that 9.7 writes for them.

The rules are those of binlog-events 9.1 and table-map-metadata 3; every type and attribute
was compared with captured events of 9.7.4.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from conformance.reference.cursor import bitmap_size, packed_size
from conformance.reference.errors import EncodeError, Unsupported
from conformance.reference.sql.quoting import quote_identifier, quote_string
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATION_IDS, COLLATIONS, DEFAULT_COLLATIONS, bytes_of
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import (
    SHIPPED,
    Bits,
    DefaultCharset,
    Field,
    Members,
    MetadataField,
    MetadataRules,
    Names,
    Numbers,
    PrefixKey,
    charset_columns,
    enum_and_set_columns,
    has_sign,
)
from conformance.reference.tables.table_map import BIT_LEN_EXACT, GENERATED_INVISIBLE_PK, TableMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.dialect import LogForms
    from conformance.reference.tables.partitions import Partitions

_INTEGERS: Final = {
    "TINYINT": types.TINY,
    "BOOL": types.TINY,
    "SMALLINT": types.SHORT,
    "MEDIUMINT": types.INT24,
    "INT": types.LONG,
    "BIGINT": types.LONGLONG,
}
_CHARACTER: Final = frozenset(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"))
_BINARY: Final = frozenset(("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "VECTOR"))
_BLOB_LENGTH: Final = {
    **dict.fromkeys(("TINYTEXT", "TINYBLOB"), 1),
    **dict.fromkeys(("TEXT", "BLOB"), 2),
    **dict.fromkeys(("MEDIUMTEXT", "MEDIUMBLOB"), 3),
    **dict.fromkeys(("LONGTEXT", "LONGBLOB"), 4),
}
_GEOMETRY: Final = (
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
)
_FIXED: Final = {
    "DOUBLE": ColumnType(types.DOUBLE, 8),
    "DATE": ColumnType(types.DATE),
    "YEAR": ColumnType(types.YEAR),
    "JSON": ColumnType(types.JSON, 4),
    "VECTOR": ColumnType(types.VECTOR, 4),
    **dict.fromkeys(_GEOMETRY, ColumnType(types.GEOMETRY, 4)),
}
_TEMPORAL: Final = {"TIME": types.TIME2, "DATETIME": types.DATETIME2, "TIMESTAMP": types.TIMESTAMP2}
_DEFAULT_LENGTH: Final = {"CHAR": 1, "BINARY": 1, "BIT": 1, "DECIMAL": 10, "VECTOR": 2048}
_FLOAT_DIGITS: Final = 24  # FLOAT(p) with more binary digits is a DOUBLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. ``type`` is the SQL type name in upper case (``INT``, ``VARCHAR``, ``JSON``, ...).

    ``length``: characters of CHAR/VARCHAR, bytes of BINARY/VARBINARY, bits of BIT, precision of DECIMAL, dimension of
    VECTOR. ``scale``: scale of DECIMAL, fraction digits of TIME, DATETIME and TIMESTAMP. ``members``: those of ENUM,
    SET. ``spelled``: the type as the statement spells it, if not in the plain way (another name, a display width,
    ZEROFILL, an SRID). The other fields hold the resulting type.
    """

    name: str
    type: str
    length: int | None = None
    scale: int | None = None
    unsigned: bool = False
    nullable: bool = True
    charset: str | None = None
    collation: str | None = None
    members: tuple[str, ...] = ()
    invisible: bool = False
    auto_increment: bool = False
    default_sql: str | None = None
    generated_sql: str | None = None
    stored: bool = False
    spelled: str | None = None

    @property
    def is_json(self) -> bool:
        return self.type == "JSON"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table. A key is a tuple of (column index, prefix length in characters; 0 is the whole column).

    ``generated_primary_key``: the server adds ``my_row_id`` in front (sql_generate_invisible_primary_key); ``columns``
    does not list it. ``other_keys``: further keys as the statement has them (over expressions, for one).
    ``partitions``: the table's partitioning.
    """

    schema: str
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[tuple[int, int], ...] = ()
    unique_keys: tuple[tuple[tuple[int, int], ...], ...] = ()
    charset: str = "utf8mb4"
    collation: str | None = None
    generated_primary_key: bool = False
    other_keys: tuple[str, ...] = ()
    partitions: Partitions | None = None

    @cached_property
    def json_columns(self) -> tuple[int, ...]:
        """Indexes of the JSON columns."""
        return tuple(index for index, column in enumerate(self.columns) if column.is_json)

    @cached_property
    def row_key(self) -> tuple[tuple[int, int], ...]:
        """The key by which the server finds rows: the primary key, or else the first UNIQUE key that can stand for it.

        None of its parts is NULL, a prefix, or a VIRTUAL column (observed on 9.7.4).
        """
        if self.primary_key:
            return self.primary_key
        return next((key for key in self.unique_keys if all(self._stands_whole(*part) for part in key)), ())

    def _stands_whole(self, index: int, prefix: int) -> bool:
        column = self.columns[index]
        virtual = column.generated_sql is not None and not column.stored
        return not (column.nullable or virtual or _prefix(column, prefix))

    def settled(self, column: Column) -> Column:
        """The column with the table's character set, if it names none."""
        if column.charset is not None or column.collation is not None:
            return column
        return replace(column, charset=self.charset, collation=self.collation)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Column indexes by name."""
        return {column.name: index for index, column in enumerate(self.columns)}


# --- CREATE TABLE ----------------------------------------------------------------------------------------------------


def create_table(table: Table, *, qualified: bool = False) -> str:
    """The statement that makes this table."""
    in_key = {index for index, _ in table.primary_key}
    lines = [_column_sql(column, index in in_key) for index, column in enumerate(table.columns)]
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({_key_sql(table, table.primary_key)})")
    lines += [f"UNIQUE KEY ({_key_sql(table, key)})" for key in table.unique_keys]
    lines += table.other_keys
    name = quote_identifier(table.name)
    if qualified:
        name = f"{quote_identifier(table.schema)}.{name}"
    options = f"DEFAULT CHARACTER SET={table.charset}"
    if table.collation is not None:
        options += f" COLLATE={table.collation}"
    if table.partitions is not None:  # partitions cannot lie in a shared tablespace, should that be the default
        options += f" TABLESPACE=innodb_file_per_table {table.partitions.clause(quote_identifier)}"
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {name} (\n  {body}\n) {options}"


def _key_sql(table: Table, key: Sequence[tuple[int, int]]) -> str:
    return ", ".join(
        quote_identifier(table.columns[index].name) + (f"({prefix})" if prefix else "") for index, prefix in key
    )


def _column_sql(column: Column, in_key: bool) -> str:
    parts = [quote_identifier(column.name), _type_sql(column)]
    if column.unsigned:
        parts.append("UNSIGNED")
    if column.charset is not None:
        parts.append(f"CHARACTER SET {column.charset}")
    if column.collation is not None:
        parts.append(f"COLLATE {column.collation}")
    if column.generated_sql is not None:
        parts.append(f"GENERATED ALWAYS AS ({column.generated_sql}) {'STORED' if column.stored else 'VIRTUAL'}")
    if not column.nullable:
        parts.append("NOT NULL")
    elif column.type == "TIMESTAMP" and not in_key:
        parts.append("NULL")  # without it a server with old defaults makes the column NOT NULL
    if column.default_sql is not None:
        parts.append(f"DEFAULT {column.default_sql}")
    if column.auto_increment:
        parts.append("AUTO_INCREMENT")
    if column.invisible:
        parts.append("INVISIBLE")
    return " ".join(parts)


def _type_sql(column: Column) -> str:
    if column.spelled is not None:
        return column.spelled
    if column.type in ("ENUM", "SET"):
        return f"{column.type}({', '.join(map(quote_string, column.members))})"
    if column.type == "DECIMAL" and column.length is not None:
        return f"DECIMAL({column.length},{column.scale or 0})"
    number = column.scale if column.type in _TEMPORAL else column.length
    return column.type if number is None else f"{column.type}({number})"


# --- TABLE_MAP -------------------------------------------------------------------------------------------------------


def collation_id(table: Table, column: Column) -> int | None:
    """The collation of a character column, 63 for a binary one, ``None`` for every other type."""
    if column.type in _BINARY:
        return BINARY
    if column.type not in _CHARACTER:
        return None
    if column.collation is not None:
        return _known(COLLATION_IDS, column.collation)
    if column.charset is not None:
        return _known(DEFAULT_COLLATIONS, column.charset)
    if table.collation is not None:
        return _known(COLLATION_IDS, table.collation)
    return _known(DEFAULT_COLLATIONS, table.charset)


def _known(names: dict[str, int], name: str) -> int:
    try:
        return names[name]
    except KeyError:
        raise Unsupported("collation", "unknown character set or collation", got=name) from None


def _length(column: Column) -> int:
    return column.length if column.length is not None else _DEFAULT_LENGTH.get(column.type, 0)


def column_type(table: Table, column: Column) -> ColumnType:
    """Type byte and metadata of a column in TABLE_MAP."""
    kind = column.type
    length = _length(column)
    if kind in _INTEGERS:
        return ColumnType(_INTEGERS[kind])
    if kind in _TEMPORAL:
        return ColumnType(_TEMPORAL[kind], column.scale or 0)
    if kind in ("CHAR", "BINARY"):
        return types.char_type(length * _max_bytes(table, column))
    if kind in ("VARCHAR", "VARBINARY"):
        return ColumnType(types.VARCHAR, length * _max_bytes(table, column))
    if kind == "ENUM":
        return ColumnType(types.STRING, types.ENUM | (1 if len(column.members) < 256 else 2) << 8)
    if kind == "SET":
        size = bitmap_size(len(column.members))
        return ColumnType(types.STRING, types.SET | (size if size <= 4 else 8) << 8)
    if kind == "FLOAT":
        single = column.length is None or column.length <= _FLOAT_DIGITS
        return ColumnType(types.FLOAT, 4) if single else ColumnType(types.DOUBLE, 8)
    if kind == "DECIMAL":
        return ColumnType(types.NEWDECIMAL, length | (column.scale or 0) << 8)
    if kind == "BIT":
        return ColumnType(types.BIT, length % 8 | length // 8 << 8)
    if kind in _BLOB_LENGTH and column.length is None:
        return ColumnType(types.BLOB, _BLOB_LENGTH[kind])
    if kind in _FIXED:
        return _FIXED[kind]
    raise Unsupported("column-type", "no such column type", got=kind, path=(column.name,))


def _max_bytes(table: Table, column: Column) -> int:
    return COLLATIONS[collation_id(table, column) or BINARY].max_bytes


_ROW_ID: Final = Column(
    name="my_row_id", type="BIGINT", unsigned=True, nullable=False, invisible=True, auto_increment=True
)


def _is_row_id(column: Column, key: Sequence[tuple[int, int]]) -> bool:
    """Whether the server takes a first column for a generated key: it decides by the column's definition alone
    (observed).
    """
    return key == ((0, 0),) and replace(column, name=column.name.lower(), spelled=None) == _ROW_ID


def table_map(
    table: Table,
    metadata: str = "MINIMAL",
    *,
    table_id: int = 1,
    flags: int = BIT_LEN_EXACT,
    rules: MetadataRules = SHIPPED,
) -> TableMap:
    """The TABLE_MAP that 9.7 writes with this ``binlog_row_metadata``, or a TABLE_MAP that follows other ``rules``."""
    if metadata not in ("MINIMAL", "FULL"):
        raise EncodeError("bad-value", "no such binlog_row_metadata", expected="MINIMAL or FULL", got=metadata)
    columns = table.columns
    key = table.primary_key
    if table.generated_primary_key:
        columns = (_ROW_ID, *columns)
        key = ((0, 0),)
    if _is_row_id(columns[0], key):
        flags |= GENERATED_INVISIBLE_PK
    column_types = tuple([column_type(table, column) for column in columns])
    in_key = {index for index, _ in key}
    fields = _minimal_fields(table, columns, column_types, rules)
    if metadata == "FULL":
        fields += _full_fields(table, columns, column_types, key or table.row_key, rules)
    if not rules.later_fields:
        fields = [item for item in fields if item.field <= Field.PRIMARY_KEY_WITH_PREFIX]
    return TableMap(
        table_id=table_id,
        flags=flags,
        schema=table.schema,
        table=table.name,
        columns=column_types,
        nullable=tuple([column.nullable and index not in in_key for index, column in enumerate(columns)]),
        metadata=tuple(fields),
        rules=rules,
    )


def _minimal_fields(
    table: Table, columns: Sequence[Column], column_types: Sequence[ColumnType], rules: MetadataRules
) -> list[MetadataField]:
    fields: list[MetadataField] = []
    # YEAR is a number without a sign, whatever its declaration says.
    signs = [
        column.unsigned or kind.type == types.YEAR
        for column, kind in zip(columns, column_types, strict=True)
        if has_sign(kind, rules)
    ]
    if signs:
        fields.append(Bits(Field.SIGNEDNESS, tuple(signs)))
    collations = [collation_id(table, columns[index]) or BINARY for index in charset_columns(column_types)]
    fields += _charsets(collations, Field.DEFAULT_CHARSET, Field.COLUMN_CHARSET, rules)
    geometry = [_GEOMETRY.index(column.type) for column in columns if column.type in _GEOMETRY]
    if geometry:
        fields.append(Numbers(Field.GEOMETRY_TYPE, tuple(geometry)))
    dimensions = [_length(column) for column in columns if column.type == "VECTOR"]
    if dimensions:
        fields.append(Numbers(Field.VECTOR_DIMENSIONALITY, tuple(dimensions)))
    return fields


def _full_fields(
    table: Table,
    columns: Sequence[Column],
    column_types: Sequence[ColumnType],
    key: Sequence[tuple[int, int]],
    rules: MetadataRules,
) -> list[MetadataField]:
    fields: list[MetadataField] = [Names(tuple([column.name for column in columns]))]
    listed = enum_and_set_columns(column_types)
    collations = [collation_id(table, columns[index]) or BINARY for index in listed]
    fields += _charsets(collations, Field.ENUM_AND_SET_DEFAULT_CHARSET, Field.ENUM_AND_SET_COLUMN_CHARSET, rules)
    for number, kind in ((Field.SET_STR_VALUE, "SET"), (Field.ENUM_STR_VALUE, "ENUM")):
        members = [_members(table, column) for column in columns if column.type == kind]
        if members:
            fields.append(Members(number, tuple(members)))
    parts = [(index, _prefix(columns[index], prefix)) for index, prefix in key]
    if any(prefix for _, prefix in parts):
        fields.append(PrefixKey(tuple(parts)))
    elif parts:
        fields.append(Numbers(Field.SIMPLE_PRIMARY_KEY, tuple([index for index, _ in parts])))
    fields.append(Bits(Field.COLUMN_VISIBILITY, tuple([not column.invisible for column in columns])))
    return fields


def _prefix(column: Column, prefix: int) -> int:
    """The prefix of a key part; a prefix of the column's full length counts as none."""
    return 0 if prefix == _length(column) else prefix


def _members(table: Table, column: Column) -> tuple[bytes, ...]:
    collation = collation_id(table, column) or BINARY
    found = []
    for member in column.members:
        text = member if collation == BINARY else member.rstrip(" ")  # as the server does
        raw = text.encode() if collation == BINARY else bytes_of(text, collation)
        if raw is None:
            raise Unsupported("member-charset", "the member cannot be written in its character set", got=member)
        found.append(raw)
    return tuple(found)


def _charsets(
    collations: Sequence[int], default_field: int, column_field: int, rules: MetadataRules
) -> list[MetadataField]:
    """The shorter of the two forms. As the server counts it, one byte per number, the default needs a strict majority
    (table-map-metadata 3.2)."""
    if not collations:
        return []
    counts = Counter(collations)

    def size(default: int) -> int:
        others = sum(packed_size(index) + packed_size(number) for index, number in _others(collations, default))
        return packed_size(default) + others

    if rules.smallest_form:
        default = min(counts, key=size)
        shorter = size(default) < sum(map(packed_size, collations))
    else:
        default, uses = counts.most_common(1)[0]
        shorter = 2 * uses > len(collations)
    if shorter:
        return [DefaultCharset(default_field, default, _others(collations, default))]
    return [Numbers(column_field, tuple(collations))]


def _others(collations: Sequence[int], default: int) -> tuple[tuple[int, int], ...]:
    return tuple([(index, number) for index, number in enumerate(collations) if number != default])


def definable(table: Table, log: LogForms) -> bool:
    """Whether this version can have such a table: VECTOR, invisible columns and generated keys came late."""
    return (
        (log.vector_type or all(column.type != "VECTOR" for column in table.columns))
        and (log.tlv_max >= Field.COLUMN_VISIBILITY or not any(column.invisible for column in table.columns))
        and (log.gipk_flag or not table.generated_primary_key)
    )
