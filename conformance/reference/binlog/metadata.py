"""The optional metadata at the end of a TABLE_MAP (table-map-metadata sheet, sections 1 to 3).

Each field is a typed value, kept in the order in which it was written. What a field counts (numeric columns, character
columns, ...) is known from the column types, so the fields are decoded and encoded together with them; putting the
fields and the columns together is :func:`describe`.

Field numbers in typed values are those that ship. :class:`MetadataRules` tells what differs elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from conformance.reference.binlog.columns import ENUM, SET, VECTOR, YEAR, ColumnType
from conformance.reference.cursor import Cursor, encode_packed
from conformance.reference.errors import DecodeError, EncodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.dialect import FieldNumbering


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
    """What the bytes mean to their writer (sheet, section 4).

    ``worklog_numbering``: the worklog's text gives 7, 8, 9 to the primary key, the key with prefixes, the geometry
    types. ``year_counted``: servers up to 8.0.15 leave YEAR out of SIGNEDNESS (versions sheet 5.4), and so does the
    worklog. ``members_by_bytes``: each list of members begins with its length in bytes, not with their number.
    ``smallest_form``: of the two ways to log character sets the one that takes fewer bytes; 9.7.4 counts each number
    as one byte. ``later_fields``: those from 10 on, which the worklog does not have.
    ``highest``: the last number that the reader knows (``None``: all of :class:`Field`). ``skips_unknown``: it goes
    over a field that it does not know; shipped readers since 8.0.30 go on inside its value instead.
    """

    worklog_numbering: bool = False
    year_counted: bool = True
    members_by_bytes: bool = False
    smallest_form: bool = False
    later_fields: bool = True
    highest: int | None = None
    skips_unknown: bool = True


SHIPPED: Final = MetadataRules()
WORKLOG: Final = MetadataRules(
    worklog_numbering=True, year_counted=False, members_by_bytes=True, smallest_form=True, later_fields=False
)


def metadata_rules(numbering: FieldNumbering) -> MetadataRules:
    """Those of a dialect."""
    return WORKLOG if numbering.worklog_metadata else SHIPPED


_FROM_WORKLOG: Final = {7: Field.SIMPLE_PRIMARY_KEY, 8: Field.PRIMARY_KEY_WITH_PREFIX, 9: Field.GEOMETRY_TYPE}
_TO_WORKLOG: Final[dict[int, int]] = {field: number for number, field in _FROM_WORKLOG.items()}


@dataclass(frozen=True, slots=True)
class Bits:
    """SIGNEDNESS (True: unsigned) and COLUMN_VISIBILITY (True: visible). The only bit strings with the first bit on
    top (sheet 3.1, 3.8)."""

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
    """One number per counted column (collations, geometry types, dimensions), or the column indexes of the key."""

    field: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """COLUMN_NAME: every column's name."""

    names: tuple[str, ...]
    field: int = Field.COLUMN_NAME


@dataclass(frozen=True, slots=True)
class Members:
    """Members of each ENUM or SET column, in the column's character set."""

    field: int
    members: tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True, slots=True)
class PrefixKey:
    """PRIMARY_KEY_WITH_PREFIX: (column index, prefix in characters; 0 is the whole column)."""

    parts: tuple[tuple[int, int], ...]
    field: int = Field.PRIMARY_KEY_WITH_PREFIX


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A number that we do not know. Skipped by its length, kept, and reported by those who count (sheet 3.10)."""

    field: int
    data: bytes


MetadataField: TypeAlias = "Bits | DefaultCharset | Numbers | Names | Members | PrefixKey | UnknownField"

_NUMBERS: Final = frozenset(
    (
        Field.COLUMN_CHARSET,
        Field.GEOMETRY_TYPE,
        Field.SIMPLE_PRIMARY_KEY,
        Field.ENUM_AND_SET_COLUMN_CHARSET,
        Field.VECTOR_DIMENSIONALITY,
    )
)


def decode_metadata(
    data: bytes, columns: Sequence[ColumnType], rules: MetadataRules = SHIPPED
) -> tuple[MetadataField, ...]:
    cursor = Cursor(data)
    fields: list[MetadataField] = []
    while cursor:
        number = cursor.u1("field")
        if rules.worklog_numbering:
            number = _FROM_WORKLOG.get(number, number)
        length = cursor.packed("length")
        if not rules.skips_unknown and number > (max(Field) if rules.highest is None else rules.highest):
            continue
        start = cursor.skip(length, _name(number))
        if rules.highest is not None and number > rules.highest:
            fields.append(UnknownField(number, data[start : start + length]))
            continue
        try:
            fields.append(_decode_field(number, Cursor(data, start, start + length), columns, rules))
        except DecodeError as error:
            raise error.at(_name(number)) from None
    return tuple(fields)


def _name(number: int) -> str:
    return Field(number).name if number in Field._value2member_map_ else f"field[{number}]"


def _decode_field(number: int, cursor: Cursor, columns: Sequence[ColumnType], rules: MetadataRules) -> MetadataField:
    if number in (Field.SIGNEDNESS, Field.COLUMN_VISIBILITY):
        raw = cursor.rest()
        bits = [bool(byte << place & 0x80) for byte in raw for place in range(8)]
        count = sum(has_sign(column, rules) for column in columns) if number == Field.SIGNEDNESS else len(columns)
        # Up to seven bits are only there to fill the last byte. A field of another length is kept as it is.
        return Bits(number, tuple(bits[:count] if (count + 7) // 8 == len(raw) else bits))
    if number in (Field.DEFAULT_CHARSET, Field.ENUM_AND_SET_DEFAULT_CHARSET):
        default = cursor.packed("default")
        exceptions = []
        while cursor:
            exceptions.append((cursor.packed("index"), cursor.packed("collation")))
        return DefaultCharset(number, default, tuple(exceptions))
    if number in _NUMBERS:
        numbers = []
        while cursor:
            numbers.append(cursor.packed("number"))
        return Numbers(number, tuple(numbers))
    if number == Field.COLUMN_NAME:
        names = []
        while cursor:
            names.append(cursor.packed_bytes("name").decode("utf-8", "surrogateescape"))
        return Names(tuple(names))
    if number in (Field.SET_STR_VALUE, Field.ENUM_STR_VALUE):
        members = []
        while cursor:
            members.append(_members(cursor, rules))
        return Members(number, tuple(members))
    if number == Field.PRIMARY_KEY_WITH_PREFIX:
        parts = []
        while cursor:
            parts.append((cursor.packed("column"), cursor.packed("prefix")))
        return PrefixKey(tuple(parts))
    return UnknownField(number, cursor.rest())


def _members(cursor: Cursor, rules: MetadataRules) -> tuple[bytes, ...]:
    """The members of one column."""
    count = cursor.packed("count")
    if count > len(cursor):  # each member has at least its length byte
        raise DecodeError("truncated", "more members than bytes", offset=cursor.pos, expected=count, got=len(cursor))
    if not rules.members_by_bytes:
        return tuple([cursor.packed_bytes("member") for _ in range(count)])
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
    return b"".join(map(encode_packed, numbers))


def _strings(strings: Iterable[bytes]) -> bytes:
    return b"".join(encode_packed(len(item)) + item for item in strings)


def _encode_field(field: MetadataField, rules: MetadataRules) -> bytes:
    match field:
        case Bits(bits=bits):
            raw = bytearray((len(bits) + 7) // 8)
            for index, bit in enumerate(bits):
                if bit:
                    raw[index // 8] |= 0x80 >> index % 8
            return bytes(raw)
        case DefaultCharset(default=default, exceptions=exceptions):
            return encode_packed(default) + b"".join(map(_packed, exceptions))
        case Numbers(numbers=numbers):
            return _packed(numbers)
        case Names(names=names):
            return _strings(name.encode("utf-8", "surrogateescape") for name in names)
        case Members(members=members):
            lists = [(column, _strings(column)) for column in members]
            return b"".join(
                encode_packed(len(data) if rules.members_by_bytes else len(column)) + data for column, data in lists
            )
        case PrefixKey(parts=parts):
            return b"".join(map(_packed, parts))
        case UnknownField(data=data):
            return data


class ColumnInfo(NamedTuple):
    """All that a TABLE_MAP says about one column; ``None`` where it says nothing."""

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


def has_sign(column: ColumnType, rules: MetadataRules = SHIPPED) -> bool:
    """Whether SIGNEDNESS counts the column."""
    return column.is_numeric and (rules.year_counted or column.type != YEAR)


def signedness(
    columns: Sequence[ColumnType], fields: Iterable[MetadataField], rules: MetadataRules = SHIPPED
) -> tuple[bool, ...]:
    """Whether each column is unsigned. Logs without the field (before 8.0) count as signed."""
    bits: tuple[bool, ...] = ()
    for field in fields:
        if field.field == Field.SIGNEDNESS and isinstance(field, Bits):
            bits = field.bits
    left = iter(bits)
    return tuple([has_sign(column, rules) and next(left, False) for column in columns])


def charset_columns(columns: Sequence[ColumnType]) -> list[int]:
    """Columns that DEFAULT_CHARSET and COLUMN_CHARSET count."""
    return [index for index, column in enumerate(columns) if column.is_character]


def enum_and_set_columns(columns: Sequence[ColumnType]) -> list[int]:
    return [index for index, column in enumerate(columns) if column.is_enum_or_set]


def describe(
    columns: Sequence[ColumnType],
    nullable: Sequence[bool],
    fields: Iterable[MetadataField],
    rules: MetadataRules = SHIPPED,
) -> tuple[ColumnInfo, ...]:
    """Columns with everything that the fields say about them. Items for columns that do not exist are ignored."""
    fields = tuple(fields)
    unsigned = signedness(columns, fields, rules)
    parts: list[dict[str, object]] = [{} for _ in columns]

    def spread(places: list[int], key: str, values: Iterable[object]) -> None:
        for place, value in zip(places, values, strict=False):
            parts[place][key] = value

    def of(*kinds: int) -> list[int]:
        return [index for index, column in enumerate(columns) if column.real_type in kinds]

    everywhere = list(range(len(columns)))
    for field in fields:
        match field:
            case Bits(Field.COLUMN_VISIBILITY, bits):
                spread(everywhere, "visible", bits)
            case DefaultCharset(number, default, exceptions):
                places = (charset_columns if number == Field.DEFAULT_CHARSET else enum_and_set_columns)(columns)
                other = dict(exceptions)
                spread(places, "collation", (other.get(index, default) for index in range(len(places))))
            case Numbers(Field.COLUMN_CHARSET, numbers):
                spread(charset_columns(columns), "collation", numbers)
            case Numbers(Field.ENUM_AND_SET_COLUMN_CHARSET, numbers):
                spread(enum_and_set_columns(columns), "collation", numbers)
            case Numbers(Field.GEOMETRY_TYPE, numbers):
                spread([index for index in everywhere if columns[index].is_geometry], "geometry", numbers)
            case Numbers(Field.VECTOR_DIMENSIONALITY, numbers):
                spread(of(VECTOR), "dimension", numbers)
            case Names(names):
                spread(everywhere, "name", names)
            case Members(number, members):
                spread(of(SET if number == Field.SET_STR_VALUE else ENUM), "members", members)
            case Numbers(Field.SIMPLE_PRIMARY_KEY, numbers):
                for position, column in enumerate(numbers):
                    if column < len(columns):
                        parts[column]["key_position"] = position
            case PrefixKey(key):
                for position, (column, prefix) in enumerate(key):
                    if column < len(columns):
                        parts[column].update(key_position=position, key_prefix=prefix)
            case _:
                pass
    return tuple(
        ColumnInfo(column, bool(null), unsigned=sign)._replace(**part)  # type: ignore[arg-type]
        for column, null, sign, part in zip(columns, nullable, unsigned, parts, strict=True)
    )
