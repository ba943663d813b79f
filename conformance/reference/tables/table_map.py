"""TABLE_MAP (19): the columns of the table that the next row events change (binlog-events 9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

from conformance.reference.cursor import Cursor, Decoded, bitmap_size, encode_packed
from conformance.reference.errors import DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import JSON, TYPED_ARRAY, ColumnType, known_type
from conformance.reference.tables.metadata import (
    MAX_COLUMNS,
    SHIPPED,
    ColumnInfo,
    Field,
    MetadataField,
    MetadataRules,
    Numbers,
    PrefixKey,
    describe,
    encode_metadata,
    read_metadata,
    signedness,
)

BIT_LEN_EXACT: Final = 0x1
REFERRED_FK_DB: Final = 0x2
GENERATED_INVISIBLE_PK: Final = 0x4


@dataclass(frozen=True, kw_only=True)
class TableMap(Decoded):
    """``nullable`` and ``columns`` are parallel. ``metadata`` is in stored order. ``more``: every column with
    facts from beside the log too, where there are some.

    The class is not slotted: values derived from the fields are computed once and kept, because one TABLE_MAP serves
    many rows.
    """

    type: ClassVar[int] = EventType.TABLE_MAP
    default_flags: ClassVar[int] = 0

    table_id: int
    schema: str
    table: str
    columns: tuple[ColumnType, ...]
    nullable: tuple[bool, ...]
    flags: int = BIT_LEN_EXACT
    metadata: tuple[MetadataField, ...] = ()
    rules: MetadataRules = SHIPPED
    more: tuple[ColumnInfo, ...] = field(default=(), init=False, repr=False, compare=False)
    plans: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def unsigned(self) -> tuple[bool, ...]:
        return signedness(self.columns, self.metadata, self.rules)

    @cached_property
    def json_columns(self) -> tuple[int, ...]:
        """Indexes of the columns that the partial bits of a row count: all JSON columns of the table
        (binlog-events 11.1)."""
        return tuple(index for index, column in enumerate(self.columns) if column.type == JSON)

    @cached_property
    def key_columns(self) -> tuple[int, ...]:
        """Indexes of the columns of the primary key, as far as the metadata tell, or the flag for a generated one."""
        for item in self.metadata:
            if isinstance(item, PrefixKey):
                return tuple([index for index, _ in item.parts])
            if isinstance(item, Numbers) and item.field == Field.SIMPLE_PRIMARY_KEY:
                return item.numbers
        return (0,) if self.flags & GENERATED_INVISIBLE_PK else ()

    @cached_property
    def described(self) -> tuple[ColumnInfo, ...]:
        """Every column with the facts of the optional metadata."""
        return self.more or describe(self.columns, self.nullable, self.metadata, self.rules)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names from the log, or ``@1``, ``@2``, ... where it has none."""
        return tuple(info.name if info.name is not None else f"@{i}" for i, info in enumerate(self.described, 1))

    def complete(self, columns: tuple[ColumnInfo, ...]) -> None:
        """Take these facts of all columns, those of the log among them."""
        self.forget_derived()
        object.__setattr__(self, "more", columns)

    def forget_derived(self) -> None:
        """Drop what was computed from the fields. It is computed again where it is asked for."""
        self.plans.clear()
        for name in ("unsigned", "json_columns", "key_columns", "described", "column_names"):
            self.__dict__.pop(name, None)

    @classmethod
    def decode(cls, data: bytes, rules: MetadataRules = SHIPPED) -> TableMap:  # type: ignore[override]
        """Decode the body. ``rules``: the writer's rules for the optional metadata."""
        return cls.read(Cursor(data), rules)

    @classmethod
    def read(cls, cursor: Cursor, rules: MetadataRules = SHIPPED) -> TableMap:
        table_id = cursor.number(6, "table_id")
        flags = cursor.u2("flags")
        schema = _name(cursor, "schema", "schema_end")
        table = _name(cursor, "table", "table_end")
        count = cursor.packed("column_count")
        if MAX_COLUMNS < count <= len(cursor):
            raise Unsupported(
                "column-count", "no table has so many columns", expected=f"<= {MAX_COLUMNS}", got=count,
                offset=cursor.pos, path=("column_count",),
            )  # fmt: skip
        types = cursor.octets(count, "column_type")
        if cursor.records:
            part = cursor.part(cursor.packed("column_metadata_length"), "column_metadata")
            columns = _columns_with_care(types, part)
        else:
            columns = _columns(types, cursor.packed_bytes("column_metadata"))
        nulls = cursor.bitmap(count, "null_bitmap")
        try:
            metadata = read_metadata(cursor, columns, rules)
        except DecodeError as error:
            raise error.at("metadata") from None
        return cls(
            table_id=table_id,
            flags=flags,
            schema=schema,
            table=table,
            columns=columns,
            nullable=tuple([bit for byte in nulls for bit in _BOTTOM_FIRST[byte]][:count]),
            metadata=metadata,
            rules=rules,
        )

    def encode(self) -> bytes:
        if len(self.nullable) != len(self.columns):
            raise EncodeError(
                "bad-value", "one nullable per column", expected=len(self.columns), got=len(self.nullable)
            )
        nulls = sum(1 << index for index, null in enumerate(self.nullable) if null)
        parts = [
            _unsigned(self.table_id, 6, "table_id"),
            _unsigned(self.flags, 2, "flags"),
        ]
        for name in (self.schema, self.table):
            raw = name.encode("utf-8", "surrogateescape")
            parts += (encode_packed(len(raw)), raw, b"\0")
        details = b"".join(_unsigned(item.metadata, item.metadata_size, "metadata") for item in self.columns)
        parts += (
            encode_packed(len(self.columns)),
            bytes([item.type for item in self.columns]),
            encode_packed(len(details)),
            details,
            nulls.to_bytes(bitmap_size(len(self.columns)), "little"),
            encode_metadata(self.metadata, self.rules),
        )
        return b"".join(parts)


def _unsigned(value: int, size: int, name: str) -> bytes:
    if not 0 <= value < 1 << 8 * size:
        raise EncodeError("out-of-range", f"{name} does not fit", expected=f"{size} bytes", got=value, path=(name,))
    return value.to_bytes(size, "little")


def _name(cursor: Cursor, what: str, end: str) -> str:
    text = cursor.packed_bytes(what).decode("utf-8", "surrogateescape")
    if cursor.u1(end):
        cursor.refuse(
            DecodeError(
                "bad-name", f"{what} does not end with a zero byte", offset=cursor.pos - 1, expected=0, path=(what,)
            )
        )
    return text


_BOTTOM_FIRST: Final = tuple(tuple(bool(byte >> place & 1) for place in range(8)) for byte in range(256))
# Sizes of metadata by type byte; -1 where the size is unknown or not fixed.
_SIZES: Final = tuple(
    ColumnType(code).metadata_size if known_type(code) and code != TYPED_ARRAY else -1 for code in range(256)
)


@lru_cache(maxsize=4096)
def _column_type(code: int, metadata: int) -> ColumnType:
    return ColumnType(code, metadata)


def _columns(types: bytes, details: bytes) -> tuple[ColumnType, ...]:
    """The columns, read without a cursor: a log repeats the TABLE_MAP in front of every statement's rows."""
    found = []
    pos = 0
    try:
        for code in types:
            size = _SIZES[code]
            if size == 0:
                found.append(_column_type(code, 0))
            elif size == 1:
                found.append(_column_type(code, details[pos]))
            elif size == 2:
                found.append(_column_type(code, details[pos] | details[pos + 1] << 8))
            else:
                return _columns_with_care(types, Cursor(details))
            pos += size
    except IndexError:
        pos = -1
    return tuple(found) if pos == len(details) else _columns_with_care(types, Cursor(details))


def _columns_with_care(types: bytes, details: Cursor) -> tuple[ColumnType, ...]:
    """The columns, read slowly: for typed arrays, for errors that name the damage, and for recorders."""
    columns = []
    for index in details.numbered(len(types)):
        code = types[index]
        if not known_type(code):
            # Without its size the metadata of the later columns cannot be found either.
            raise Unsupported("column-type", "unknown column type", got=code, path=(f"columns[{index}]",))
        element = details.data[details.pos] if code == TYPED_ARRAY and details else 0
        size = ColumnType(code, element).metadata_size
        columns.append(ColumnType(code, details.number(size, "column_metadata")))
    details.expect_end("column metadata")
    return tuple(columns)
