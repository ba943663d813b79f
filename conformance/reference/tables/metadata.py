"""The optional metadata at the end of a TABLE_MAP (table-map-metadata 1 to 3).

Each field is a typed value, in the order of the log. The column types determine which columns a field counts (numeric
columns, character columns, ...), so decoding and encoding need them. :func:`describe` puts the fields and the columns
together.

Field numbers in typed values are those of released servers. :class:`MetadataRules` holds the differences of other
writers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from conformance.reference.cursor import Cursor, bitmap_size, encode_packed
from conformance.reference.errors import DecodeError, EncodeError, Unsupported
from conformance.reference.tables.columns import ENUM, GEOMETRY, SET, VECTOR, YEAR, ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Field(IntEnum):
    SIGNEDNESS = 1
    DEFAULT_CHARSET = 2
    COLUMN_CHARSET = 3
    COLUMN_NAME = 4
    SET_STR_VALUE = 5
    ENUM_STR_VALUE = 6
    GEOMETRY_TYPE = 7
    SIMPLE_PRIMARY_KEY = 8
    PRIMARY_KEY_WITH_PREFIX = 9
    ENUM_AND_SET_DEFAULT_CHARSET = 10
    ENUM_AND_SET_COLUMN_CHARSET = 11
    COLUMN_VISIBILITY = 12
    VECTOR_DIMENSIONALITY = 13


class MetadataRules(NamedTuple):
    """The writer's rules for the bytes (table-map-metadata 4).

    ``worklog_numbering``: the worklog's text gives 7, 8, 9 to the primary key, the key with prefixes, the geometry
    types. ``year_counted``: servers up to 8.0.15 leave YEAR out of SIGNEDNESS (versions 5.4), and so does the worklog.
    ``members_by_bytes``: each list of members begins with its length in bytes, not with their number.
    ``smallest_form``: whether the shorter of the two ways to log character sets is taken; 9.7.4 counts each number as
    one byte. ``later_fields``: those from 10 on, which the worklog does not have. ``highest``: the last field number
    that the reader knows (``None``: all of :class:`Field`). ``skips_unknown``: the reader skips an unknown field;
    released readers since 8.0.30 go on inside its value instead. ``mariadb``: the writer is MariaDB, which counts
    GEOMETRY among the columns with a character set (observed on 10.11.19).
    """

    worklog_numbering: bool = False
    year_counted: bool = True
    members_by_bytes: bool = False
    smallest_form: bool = False
    later_fields: bool = True
    highest: int | None = None
    skips_unknown: bool = True
    mariadb: bool = False


SHIPPED: Final = MetadataRules()
WORKLOG: Final = MetadataRules(
    worklog_numbering=True, year_counted=False, members_by_bytes=True, smallest_form=True, later_fields=False
)


_FROM_WORKLOG: Final = {7: Field.SIMPLE_PRIMARY_KEY, 8: Field.PRIMARY_KEY_WITH_PREFIX, 9: Field.GEOMETRY_TYPE}
_TO_WORKLOG: Final[dict[int, int]] = {field: number for number, field in _FROM_WORKLOG.items()}


@dataclass(frozen=True, slots=True)
class Bits:
    """SIGNEDNESS (True: unsigned) and COLUMN_VISIBILITY (True: visible). The only bit strings with the first bit on
    top (table-map-metadata 3.1, table-map-metadata 3.8)."""

    field: int
    bits: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class DefaultCharset:
    """A collation for all counted columns, and the exceptions: (position among the counted columns, collation)."""

    field: int
    default: int
    exceptions: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Numbers:
    """One number per counted column (collations, geometry types, dimensions), or the column indexes of the key
    (table-map-metadata 3.5, table-map-metadata 3.9)."""

    field: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """COLUMN_NAME: every column's name (table-map-metadata 3.3)."""

    names: tuple[str, ...]
    field: int = Field.COLUMN_NAME


@dataclass(frozen=True, slots=True)
class Members:
    """Members of each ENUM or SET column, in the column's character set (table-map-metadata 3.4)."""

    field: int
    members: tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True, slots=True)
class PrefixKey:
    """PRIMARY_KEY_WITH_PREFIX: (column index, prefix in characters; 0 is the whole column) (table-map-metadata 3.6)."""

    parts: tuple[tuple[int, int], ...]
    field: int = Field.PRIMARY_KEY_WITH_PREFIX


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A field of unknown number. Readers skip its length, and keep it for reports (table-map-metadata 3.10)."""

    field: int
    data: bytes


MetadataField: TypeAlias = "Bits | DefaultCharset | Numbers | Names | Members | PrefixKey | UnknownField"

# Fields that are numbers, and what each number is.
_NUMBERS: Final[dict[int, str]] = {
    Field.COLUMN_CHARSET: "collation",
    Field.GEOMETRY_TYPE: "geometry_type",
    Field.SIMPLE_PRIMARY_KEY: "column",
    Field.ENUM_AND_SET_COLUMN_CHARSET: "collation",
    Field.VECTOR_DIMENSIONALITY: "dimension",
}


_BITS: Final = frozenset((Field.SIGNEDNESS, Field.COLUMN_VISIBILITY))
_DEFAULTS: Final = frozenset((Field.DEFAULT_CHARSET, Field.ENUM_AND_SET_DEFAULT_CHARSET))
_LISTS: Final = frozenset((Field.SET_STR_VALUE, Field.ENUM_STR_VALUE))
_HIGHEST: Final = int(max(Field))
_FIELD_NAMES: Final = {int(field): field.name for field in Field}
_TOP_FIRST: Final = tuple(tuple(bool(byte << place & 0x80) for place in range(8)) for byte in range(256))
# Type bytes that SIGNEDNESS does not count.
_OTHERS: Final = bytes(code for code in range(256) if not ColumnType(code).is_numeric)
_OTHERS_AND_YEAR: Final = bytes((*_OTHERS, YEAR))


def decode_metadata(
    data: bytes, columns: Sequence[ColumnType], rules: MetadataRules = SHIPPED
) -> tuple[MetadataField, ...]:
    """The fields in stored order."""
    return read_metadata(Cursor(data), columns, rules)


def read_metadata(cursor: Cursor, columns: Sequence[ColumnType], rules: MetadataRules) -> tuple[MetadataField, ...]:
    """As :func:`decode_metadata`, up to the end of the cursor."""
    fields: list[MetadataField] = []
    end = cursor.end
    highest = _HIGHEST if rules.highest is None else rules.highest
    number = 0
    inside = False
    try:
        for _ in cursor.items("metadata"):
            number = cursor.u1("field")
            if rules.worklog_numbering:
                number = _FROM_WORKLOG.get(number, number)
            length = cursor.packed("length")
            if not (rules.skips_unknown or 0 < number <= highest):
                continue
            if length > end - cursor.pos:
                cursor.skip(length, _name(number))  # says what is missing
            pos = cursor.end = cursor.pos + length
            inside = True
            if number > highest:
                fields.append(UnknownField(number, cursor.rest("value")))
            else:
                fields.append(_read_field(number, cursor, columns, rules))
            inside = False
            cursor.pos, cursor.end = pos, end
    except DecodeError as error:
        raise error.at(_name(number)) if inside else error from None
    return tuple(fields)


def _name(number: int) -> str:
    return _FIELD_NAMES.get(number) or f"field[{number}]"


def _read_field(number: int, cursor: Cursor, columns: Sequence[ColumnType], rules: MetadataRules) -> MetadataField:
    if number in _NUMBERS:
        return Numbers(number, tuple(cursor.packed_list(_NUMBERS[number])))
    if number in _BITS:
        raw = cursor.rest("value")
        bits = [bit for byte in raw for bit in _TOP_FIRST[byte]]
        count = _signs(columns, rules) if number == Field.SIGNEDNESS else len(columns)
        # Up to seven bits are only there to fill the last byte. A field of another length is kept as it is.
        return Bits(number, tuple(bits[:count] if bitmap_size(count) == len(raw) else bits))
    if number in _DEFAULTS:
        default = cursor.packed("default")
        return DefaultCharset(number, default, cursor.packed_pairs("index", "collation"))
    if number == Field.COLUMN_NAME:
        return Names(_texts(cursor.packed_strings("name")))
    if number in _LISTS:
        return Members(number, tuple([_members(cursor, rules) for _ in cursor.numbered()]))
    if number == Field.PRIMARY_KEY_WITH_PREFIX:
        return PrefixKey(cursor.packed_pairs("column", "prefix"))
    return UnknownField(number, cursor.rest("value"))


def _texts(names: list[bytes]) -> tuple[str, ...]:
    try:
        return tuple([name.decode() for name in names])
    except UnicodeDecodeError:
        return tuple([name.decode("utf-8", "surrogateescape") for name in names])


def _signs(columns: Sequence[ColumnType], rules: MetadataRules) -> int:
    """The number of columns that SIGNEDNESS counts."""
    others = _OTHERS if rules.year_counted else _OTHERS_AND_YEAR
    return len(bytes([column[0] for column in columns]).translate(None, others))


def _members(cursor: Cursor, rules: MetadataRules) -> tuple[bytes, ...]:
    """The members of one column."""
    count = cursor.packed("member_count")
    if count > len(cursor):  # each member has at least its length byte
        cursor.refuse(
            DecodeError("truncated", "more members than bytes", offset=cursor.pos, expected=count, got=len(cursor))
        )
    if not rules.members_by_bytes:
        return tuple(cursor.packed_strings("member", count))
    end = cursor.pos + count
    found = []
    while cursor.pos < end:
        found.append(cursor.packed_bytes("member"))
    if cursor.pos > end:
        raise DecodeError(
            "bad-length", "a member ends behind its list", offset=cursor.pos, expected=end, got=cursor.pos
        )
    return tuple(found)


def encode_metadata(fields: Iterable[MetadataField], rules: MetadataRules = SHIPPED) -> bytes:
    out = bytearray()
    for field in fields:
        if not 0 <= field.field <= 255:
            raise EncodeError("out-of-range", "a metadata field number is one byte", got=field.field)
        value = _encode_field(field, rules)
        out.append(_TO_WORKLOG.get(field.field, field.field) if rules.worklog_numbering else field.field)
        out += encode_packed(len(value))
        out += value
    return bytes(out)


def _packed(numbers: Iterable[int]) -> bytes:
    out = bytearray()
    for number in numbers:
        out += encode_packed(number)
    return bytes(out)


def _strings(strings: Iterable[bytes]) -> bytes:
    """As one buffer: the pieces of a million short strings would take a hundred times their bytes."""
    out = bytearray()
    for item in strings:
        out += encode_packed(len(item))
        out += item
    return bytes(out)


def _encode_field(field: MetadataField, rules: MetadataRules) -> bytes:
    match field:
        case Bits(bits=bits):
            raw = bytearray(bitmap_size(len(bits)))
            for index, bit in enumerate(bits):
                if bit:
                    raw[index // 8] |= 0x80 >> index % 8
            return bytes(raw)
        case DefaultCharset(default=default, exceptions=exceptions):
            return encode_packed(default) + _packed(chain.from_iterable(exceptions))
        case Numbers(numbers=numbers):
            return _packed(numbers)
        case Names(names=names):
            return _strings(name.encode("utf-8", "surrogateescape") for name in names)
        case Members(members=members):
            out = bytearray()
            for column in members:
                data = _strings(column)
                out += encode_packed(len(data) if rules.members_by_bytes else len(column))
                out += data
            return bytes(out)
        case PrefixKey(parts=parts):
            return b"".join(map(_packed, parts))
        case UnknownField(data=data):
            return data


class ColumnInfo(NamedTuple):
    """All facts of a TABLE_MAP about one column; ``None`` for a fact that it does not have."""

    type: ColumnType
    nullable: bool
    name: str | None = None
    unsigned: bool = False
    collation: int | None = None
    members: tuple[bytes, ...] | None = None
    geometry: int | None = None
    dimension: int | None = None
    visible: bool | None = None
    key_position: int | None = None
    key_prefix: int = 0


# What the fields count, as bits of one number for each column type.
_NUMERIC, _YEARS, _CHARACTER, _ENUMS, _SETS, _GEOMETRIES, _VECTORS = (1 << place for place in range(7))


@lru_cache(maxsize=4096)
def _counted(column: ColumnType) -> int:
    kind = column.real_type if column.is_enum_or_set else column.type  # 254 is no GEOMETRY, whatever its metadata
    numeric = 0 if not column.is_numeric else _YEARS if kind == YEAR else _NUMERIC
    others = {ENUM: _ENUMS, SET: _SETS, GEOMETRY: _GEOMETRIES, VECTOR: _VECTORS}.get(kind, 0)
    return numeric | others | (_CHARACTER if column.is_character else 0)


def _places(columns: Sequence[ColumnType], what: int) -> list[int]:
    return [index for index, counted in enumerate(map(_counted, columns)) if counted & what]


def _signed(rules: MetadataRules) -> int:
    return _NUMERIC | (_YEARS if rules.year_counted else 0)


def has_sign(column: ColumnType, rules: MetadataRules = SHIPPED) -> bool:
    """Whether SIGNEDNESS counts the column."""
    return bool(_counted(column) & _signed(rules))


def signedness(
    columns: Sequence[ColumnType], fields: Iterable[MetadataField], rules: MetadataRules = SHIPPED
) -> tuple[bool, ...]:
    """Whether each column is unsigned. Logs without the field (before 8.0) count as signed."""
    out = [False] * len(columns)
    places = _places(columns, _signed(rules))
    for field in fields:
        if field.field == Field.SIGNEDNESS and isinstance(field, Bits):
            for place, bit in zip(places, field.bits, strict=False):
                out[place] = bit
    return tuple(out)


def charset_columns(columns: Sequence[ColumnType]) -> list[int]:
    """Columns that DEFAULT_CHARSET and COLUMN_CHARSET count (table-map-metadata 3.2)."""
    return _places(columns, _CHARACTER)


def enum_and_set_columns(columns: Sequence[ColumnType]) -> list[int]:
    """Columns that ENUM_AND_SET_DEFAULT_CHARSET and ENUM_AND_SET_COLUMN_CHARSET count (table-map-metadata 3.7)."""
    return _places(columns, _ENUMS | _SETS)


# The owner of each field's items: the attribute in ColumnInfo, and the columns that the field counts.
_SPREAD: Final[dict[int, tuple[int, int]]] = {
    int(field): (ColumnInfo._fields.index(name), what)
    for field, name, what in (
        (Field.DEFAULT_CHARSET, "collation", _CHARACTER),
        (Field.COLUMN_CHARSET, "collation", _CHARACTER),
        (Field.ENUM_AND_SET_DEFAULT_CHARSET, "collation", _ENUMS | _SETS),
        (Field.ENUM_AND_SET_COLUMN_CHARSET, "collation", _ENUMS | _SETS),
        (Field.GEOMETRY_TYPE, "geometry", _GEOMETRIES),
        (Field.VECTOR_DIMENSIONALITY, "dimension", _VECTORS),
        (Field.COLUMN_NAME, "name", -1),
        (Field.COLUMN_VISIBILITY, "visible", -1),
        (Field.SET_STR_VALUE, "members", _SETS),
        (Field.ENUM_STR_VALUE, "members", _ENUMS),
    )
}
_NULLABLE, _UNSIGNED, _POSITION, _PREFIX = map(
    ColumnInfo._fields.index, ("nullable", "unsigned", "key_position", "key_prefix")
)
MAX_COLUMNS: Final = 4096  # of a MySQL table, whatever its engine
_column_info: Final[Callable[[Iterable[Any]], ColumnInfo]] = partial(tuple.__new__, ColumnInfo)  # _make, but faster
_DEFAULTS_OF_INFO: Final = tuple(ColumnInfo._field_defaults.get(name) for name in ColumnInfo._fields)


def describe(
    columns: Sequence[ColumnType],
    nullable: Sequence[bool],
    fields: Iterable[MetadataField],
    rules: MetadataRules = SHIPPED,
) -> tuple[ColumnInfo, ...]:
    """Columns with all facts of the fields. Items for columns that do not exist are ignored.

    Raises for more columns than a table can have: a column takes one byte in a TABLE_MAP, and hundreds of bytes as a
    ColumnInfo.
    """
    count = len(columns)
    if count > MAX_COLUMNS:
        raise Unsupported("column-count", "no table has so many columns", expected=f"<= {MAX_COLUMNS}", got=count)
    counted = list(map(_counted, columns))
    # One list for each attribute: the columns are put together at the end.
    told: list[list[Any]] = [[default] * count for default in _DEFAULTS_OF_INFO]
    told[0][:] = columns
    told[_NULLABLE][:] = nullable
    signed = _signed(rules)
    for field in fields:
        number = field.field
        known = _SPREAD.get(number)
        if known is not None:
            place, what = known
            if rules.mariadb and what == _CHARACTER:
                what |= _GEOMETRIES
            into, items = told[place], _items(field, count)
        elif number == Field.SIGNEDNESS:
            what, into, items = signed, told[_UNSIGNED], _items(field, count)
        else:
            for position, (column, prefix) in enumerate(key_parts(field)):
                if column < count:
                    told[_POSITION][column] = position
                    told[_PREFIX][column] = prefix
            continue
        if what == -1:
            into[: len(items)] = items[:count]
        else:
            for index, item in zip([index for index, bits in enumerate(counted) if bits & what], items, strict=False):
                into[index] = item
    return tuple(map(_column_info, zip(*told, strict=True)))


def _items(field: MetadataField, count: int) -> Sequence[Any]:
    """The items of a field for the columns that it counts, at most ``count`` of them."""
    if isinstance(field, DefaultCharset):
        collations = [field.default] * count
        for index, number in field.exceptions:
            if index < count:
                collations[index] = number
        return collations
    if isinstance(field, Bits):
        return field.bits
    if isinstance(field, Numbers):
        return field.numbers
    if isinstance(field, Names):
        return field.names
    return field.members if isinstance(field, Members) else ()


def key_parts(field: MetadataField) -> tuple[tuple[int, int], ...]:
    """(column index, prefix) of each key part, if the field is one of the two primary key fields."""
    if isinstance(field, PrefixKey):
        return field.parts
    if isinstance(field, Numbers) and field.field == Field.SIMPLE_PRIMARY_KEY:
        return tuple([(index, 0) for index in field.numbers])
    return ()
