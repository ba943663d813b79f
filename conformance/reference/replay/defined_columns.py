"""Facts about a column from its DDL, for logs whose TABLE_MAP lacks them.

Before 8.0, a TABLE_MAP has neither signs nor character sets; with ``binlog_row_metadata=MINIMAL``, none has the members
of ENUM and SET (table-map-metadata 1).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.replay.statements import DefaultCharset
from conformance.reference.sql.definition_reader import Reader
from conformance.reference.sql.statement_words import Word
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATION_IDS, COLLATIONS, DEFAULT_COLLATIONS
from conformance.reference.tables.create_table import CHARSET_WORDS, parse_column
from conformance.reference.tables.definitions import Table, table_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.replay.statements import ColumnDefinition
    from conformance.reference.tables.columns import ColumnType
    from conformance.reference.tables.metadata import ColumnInfo

# Forms of one SQL type: those of tables made before 5.6.4, and the names that the length of a BLOB gives it.
_FORMS: Final = {
    types.TIMESTAMP: types.TIMESTAMP2,
    types.TIME: types.TIME2,
    types.DATETIME: types.DATETIME2,
    types.NEWDATE: types.DATE,
    types.TINY_BLOB: types.BLOB,
    types.MEDIUM_BLOB: types.BLOB,
    types.LONG_BLOB: types.BLOB,
    types.VAR_STRING: types.VARCHAR,
}
_OTHER_ASCII: Final = frozenset(("binary", "ucs2", "utf16", "utf16le", "utf32", "swe7"))  # ASCII has other bytes there
_ASCII: Final = COLLATION_IDS["ascii_general_ci"]
_UNKNOWN: Final = "latin1"  # stands for a character set that nobody knows; it is never shown


@lru_cache(maxsize=4096)
def defined_info(definition: ColumnDefinition) -> ColumnInfo | None:
    """The facts in the words; ``None`` for words that this kit does not know.

    Where only the session hints at the character set, text is ASCII or has no text. Members are text of the statement,
    whatever their character set.
    """
    charset = definition.charset
    name = charset.name if charset is not None else _UNKNOWN
    try:
        column = parse_column(definition.name, definition.words, name, charset.collation if charset else None)
        own = column.charset is not None or column.collation is not None
        settled = own or (charset is not None and charset.certain)
        if not settled and column.type in ("ENUM", "SET"):
            column = replace(column, charset="utf8mb4")
        elif not own:
            column = replace(column, charset=name, collation=charset.collation if charset else None)
        (info,) = table_map(Table(schema="", name="", columns=(replace(column, invisible=False),)), "FULL").described
    except CodecError:
        return None
    info = info._replace(nullable=info.nullable and not definition.not_null)
    if settled or not info.type.is_character or info.collation in (None, BINARY):
        return info
    return info._replace(collation=_ASCII if charset is not None and name not in _OTHER_ASCII else None)


def completed(told: ColumnInfo, known: ColumnInfo | None) -> ColumnInfo:
    """The facts of a TABLE_MAP, with those of the DDL where it has none and describes the same type."""
    if known is None or not same_type(told.type, known.type):
        return told
    has_members = told.members is not None
    collation = told.collation
    if collation is None and not has_members and (told.type == known.type or known.members is not None):
        collation = known.collation
    return told._replace(
        name=told.name if told.name is not None else known.name,
        unsigned=told.unsigned or known.unsigned,
        collation=collation,
        members=told.members if has_members else known.members,
        geometry=told.geometry if told.geometry is not None else known.geometry,
        dimension=told.dimension if told.dimension is not None else known.dimension,
    )


def same_type(one: ColumnType, other: ColumnType) -> bool:
    """Whether both describe one SQL type. Lengths may differ, except for the bytes of a member's number."""
    if _form(one) != _form(other):
        return False
    return not one.is_enum_or_set or one.length == other.length


def learned_charset(definition: ColumnDefinition, told: ColumnInfo) -> DefaultCharset | None:
    """The default character set of a table, from a TABLE_MAP's collation of a column that names none."""
    charset, known = definition.charset, defined_info(definition)
    if charset is None or charset.certain or known is None or known.collation == BINARY:
        return None
    own = tuple(without_charset(definition.words)) != definition.words
    collation = COLLATIONS.get(told.collation) if told.collation is not None and told.type.is_character else None
    return None if own or collation is None else DefaultCharset(collation.charset, collation.name)


_SIZES: Final = ("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT")


def in_charset(definition: ColumnDefinition, info: ColumnInfo, charset: DefaultCharset) -> ColumnDefinition:
    """The definition after CONVERT TO CHARACTER SET.

    A TEXT becomes the next larger one where the new character set has longer characters (observed on 9.7.4).
    """
    words = list(without_charset(definition.words))
    old = COLLATIONS.get(info.collation) if info.collation is not None else None
    new = COLLATIONS[DEFAULT_COLLATIONS[charset.name]]
    longer = old is not None and new.max_bytes > old.max_bytes
    if longer and words[0].among(*_SIZES[:3]):
        words[0] = Word(_SIZES[_SIZES.index(words[0].text.upper()) + 1])
    return replace(definition, words=tuple(words), charset=charset)


def without_charset(words: Sequence[Word]) -> Iterator[Word]:
    """The words without those that name a character set or a collation."""
    reader = Reader(words, "")
    yield reader.next()  # the type, which BINARY can be
    while reader:
        if reader.at("("):
            start = reader.pos
            reader.parenthesis()
            yield from words[start : reader.pos]
        elif any(reader.take(*keywords) for keywords in CHARSET_WORDS) or reader.take("COLLATE"):
            reader.next()
        elif not (reader.take("BINARY") or reader.take("ASCII") or reader.take("UNICODE")):
            yield reader.next()


def _form(column: ColumnType) -> int:
    return _FORMS.get(column.real_type, column.real_type)
