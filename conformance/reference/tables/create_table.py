"""A table definition from its ``CREATE TABLE``, written by people or printed by ``SHOW CREATE TABLE``.

The parser follows all parts that TABLE_MAP describes: types with all their names, attributes, character sets, the
primary key. An unknown word is an error, never a guess. Defaults, comments, other keys and options are not in the
event, and are skipped.

The parser is the kit's own, on the tokenizer of ``apply``. The library that was tried (sqlglot 30.30) takes INT8 for
TINYINT and REAL for FLOAT. It refuses geometry types, SRID, FLOAT UNSIGNED, VISIBLE and other words of MySQL.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.reference.portable import folded, is_number, shown
from conformance.reference.sql.definition_reader import Reader, split_list
from conformance.reference.sql.statement_words import split_words, sql_text
from conformance.reference.tables.charsets import COLLATION_IDS, COLLATIONS, DEFAULT_COLLATIONS
from conformance.reference.tables.definitions import Column, Table, collation_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.sql.statement_words import Word

_NAMES: Final = {
    **dict.fromkeys(("TINYINT", "INT1", "BOOL", "BOOLEAN"), "TINYINT"),
    **dict.fromkeys(("SMALLINT", "INT2"), "SMALLINT"),
    **dict.fromkeys(("MEDIUMINT", "INT3", "MIDDLEINT"), "MEDIUMINT"),
    **dict.fromkeys(("INT", "INTEGER", "INT4"), "INT"),
    **dict.fromkeys(("BIGINT", "INT8"), "BIGINT"),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC", "FIXED"), "DECIMAL"),
    **dict.fromkeys(("FLOAT", "FLOAT4"), "FLOAT"),
    **dict.fromkeys(("DOUBLE", "FLOAT8", "REAL"), "DOUBLE"),
    **dict.fromkeys(("GEOMETRYCOLLECTION", "GEOMCOLLECTION"), "GEOMETRYCOLLECTION"),
    **{
        name: name
        for name in (
            "BIT", "YEAR", "DATE", "TIME", "DATETIME", "TIMESTAMP", "CHAR", "VARCHAR", "BINARY", "VARBINARY",
            "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "ENUM", "SET",
            "JSON", "VECTOR", "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING",
            "MULTIPOLYGON",
        )
    },
}  # fmt: skip
# Names of more than one word, the longest first; NATIONAL is utf8mb3.
_LONG_NAMES: Final = (
    (("NATIONAL", "CHARACTER", "VARYING"), "VARCHAR", True),
    (("NATIONAL", "CHAR", "VARYING"), "VARCHAR", True),
    (("NCHAR", "VARYING"), "VARCHAR", True),
    (("NCHAR", "VARCHAR"), "VARCHAR", True),
    (("NATIONAL", "VARCHAR"), "VARCHAR", True),
    (("NATIONAL", "VARCHARACTER"), "VARCHAR", True),
    (("NATIONAL", "CHARACTER"), "CHAR", True),
    (("NATIONAL", "CHAR"), "CHAR", True),
    (("NVARCHAR",), "VARCHAR", True),
    (("NCHAR",), "CHAR", True),
    (("CHARACTER", "VARYING"), "VARCHAR", False),
    (("CHAR", "VARYING"), "VARCHAR", False),
    (("VARCHARACTER",), "VARCHAR", False),
    (("CHARACTER",), "CHAR", False),
    (("DOUBLE", "PRECISION"), "DOUBLE", False),
    (("FLOAT8", "PRECISION"), "DOUBLE", False),
    (("LONG", "VARBINARY"), "MEDIUMBLOB", False),
    (("LONG", "CHAR", "VARYING"), "MEDIUMTEXT", False),
    (("LONG", "VARCHAR"), "MEDIUMTEXT", False),
    (("LONG",), "MEDIUMTEXT", False),
)
_SIZED: Final = ("TINY", 0xFF), ("", 0xFFFF), ("MEDIUM", 0xFFFFFF), ("LONG", 0xFFFFFFFF)
_PREFIXED: Final = ("CHAR", "BINARY", "TEXT", "BLOB")
_TEMPORAL: Final = ("TIME", "DATETIME", "TIMESTAMP")
_MEASURED: Final = ("VARCHAR", "VARBINARY", "ENUM", "SET")  # no column without a length or members
_LENGTH: Final = ("CHAR", "VARCHAR", "BINARY", "VARBINARY", "BIT", "VECTOR")
_OLD_NAMES: Final = {"utf8": "utf8mb3"}
CHARSET_WORDS: Final = (("CHARACTER", "SET"), ("CHAR", "SET"), ("CHARSET",))
_LONGEST_NUMBER: Final = 20  # digits; Python refuses to read thousands
_IN_NUMBERS: Final = (".", "-", "+")
_KEYS: Final = ("INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK")


@dataclass(slots=True)
class _Parts:
    """A definition during reading; key columns by name, because a key may precede its columns."""

    columns: list[Column] = field(default_factory=list)
    binary: set[int] = field(default_factory=set)  # columns with the attribute BINARY
    sizes: dict[int, int] = field(default_factory=dict)  # of TEXT(n) and BLOB(n)
    key: list[tuple[str, int]] = field(default_factory=list)


def parse_definition(sql: str, *, schema: str = "", sql_mode: int = 0) -> Table:
    """The table of the statement. ``schema``: the session's. Raises :class:`ReplayError` for a statement that is not
    understood.
    """
    reader = Reader(split_words(sql, sql_mode), schema)
    if not reader.take("CREATE"):
        raise reader.refused("CREATE TABLE is expected")
    reader.take("TEMPORARY")
    if not reader.take("TABLE"):
        raise reader.refused("CREATE TABLE is expected")
    reader.take("IF", "NOT", "EXISTS")
    schema, name = reader.table()
    parts = _Parts()
    for item in split_list(reader.parenthesis()):
        _item(Reader(item, schema), parts)
    charset, collation = parse_charset(reader, "utf8mb4", None)
    table = Table(schema=schema, name=name, columns=tuple(parts.columns), charset=charset, collation=collation)
    return _finished(table, parts, reader)


def parse_column(name: str, words: Sequence[Word], charset: str, collation: str | None = None) -> Column:
    """The column that these words define in a table of this character set; its own is there if the words name one.

    Raises :class:`ReplayError` for words that are not understood.
    """
    parts = _Parts()
    reader = Reader(words, "")
    _column(reader, name, parts)
    table = Table(schema="", name="", columns=tuple(parts.columns), charset=charset, collation=collation)
    return _settled_columns(table, parts, reader)[0]


def parse_charset(reader: Reader, charset: str, collation: str | None) -> tuple[str, str | None]:
    """Character set and collation of a table or schema, by the options in the rest of the statement."""
    while reader:
        if _charset_word(reader):
            reader.take("=")
            charset = _charset(reader)
            if collation is not None and COLLATIONS[COLLATION_IDS[collation]].charset != charset:
                collation = None  # one of the same character set stays, in whatever order (observed on 9.7.4)
        elif reader.take("COLLATE"):
            reader.take("=")
            collation = _collation(reader)
            charset = COLLATIONS[COLLATION_IDS[collation]].charset
        else:
            reader.next()
    return charset, collation


def _settled_columns(table: Table, parts: _Parts, reader: Reader) -> list[Column]:
    """The columns with what depends on the table's character set: binary collations, sizes of texts."""
    columns = list(table.columns)
    for index in parts.binary:
        collation = collation_id(table, columns[index])
        if collation is None:
            raise reader.refused(f"BINARY is for text, and {shown(columns[index].name)} is none")
        known = COLLATIONS[collation]
        columns[index] = replace(columns[index], collation="binary" if known.id == 63 else f"{known.charset}_bin")
    for index, size in parts.sizes.items():
        column = columns[index]
        most = size * (COLLATIONS[collation_id(table, column) or 63].max_bytes)
        prefix = next((prefix for prefix, limit in _SIZED if most <= limit), "LONG")
        columns[index] = replace(column, type=prefix + column.type)
    return columns


def _finished(table: Table, parts: _Parts, reader: Reader) -> Table:
    """The table, with the facts of the whole statement: settled columns and the primary key."""
    columns = _settled_columns(table, parts, reader)
    places = {folded(column.name): index for index, column in enumerate(columns)}
    key = []
    for name, length in parts.key:
        if folded(name) not in places:
            raise reader.refused(f"the key names a column that is not there: {shown(name)}")
        index = places[folded(name)]
        # Of other types the server takes a prefix as long as the stored value, which then is none (observed on 9.7.4).
        key.append((index, length if columns[index].type.endswith(_PREFIXED) else 0))
    if all(column.invisible for column in columns):  # error 4028, observed on 9.7.4
        raise reader.refused("a table must have at least one visible column")
    return replace(table, columns=tuple(columns), primary_key=tuple(key))


def _item(reader: Reader, parts: _Parts) -> None:
    """A column, or a key."""
    if reader.take("CONSTRAINT") and not reader.at("PRIMARY", *_KEYS):
        reader.name()
    if reader.take("PRIMARY", "KEY"):
        if not reader.at("(") and not reader.at("USING"):
            reader.name()
        if reader.take("USING"):
            reader.next()
        for part in split_list(reader.parenthesis()):
            parts.key.append(_key_part(Reader(part, reader.schema)))
        return
    if reader.at(*_KEYS):
        return
    _column(reader, reader.name(), parts)


def _key_part(reader: Reader) -> tuple[str, int]:
    name = reader.name()
    prefix = _number(reader.parenthesis(), reader) if reader.at("(") else 0
    return name, prefix


def _column(reader: Reader, name: str, parts: _Parts) -> None:
    index = len(parts.columns)
    column = Column(name=name, type="")
    if reader.take("SERIAL"):
        column = replace(column, type="BIGINT", unsigned=True, nullable=False, auto_increment=True)
    else:
        column = parse_type(reader, column)
        if column.type in ("TEXT", "BLOB") and column.length is not None:
            parts.sizes[index] = column.length
            column = replace(column, length=None)
    while reader:
        column = _attribute(reader, column, parts, index)
    parts.columns.append(column)


def parse_type(reader: Reader, column: Column) -> Column:
    """The column, with the type in the next words."""
    for words, kind, national in _LONG_NAMES:
        if reader.take(*words):
            column = replace(column, type=kind, charset="utf8mb3" if national else None)
            break
    else:
        word = reader.next()
        known = None if word.quoted or word.string else _NAMES.get(word.text.upper())
        if known is None:
            raise reader.refused(f"no type is called {shown(word.text)}")
        column = replace(column, type=known)
    if not reader.at("("):
        if column.type in _MEASURED:
            raise reader.refused(f"{column.type} needs parentheses")
        return column
    parts = split_list(reader.parenthesis())
    listed = column.type in ("ENUM", "SET")
    members = [_member(part, reader) for part in parts] if listed else []
    numbers = [] if listed else [_number(part, reader) for part in parts]
    if not members and not numbers:
        raise reader.refused("nothing is in the parentheses behind the type")
    if listed:
        return replace(column, members=tuple(members))
    if column.type == "DECIMAL":
        return replace(column, length=numbers[0], scale=numbers[1] if len(numbers) > 1 else 0)
    if column.type in _TEMPORAL:
        return replace(column, scale=numbers[0])
    if column.type in (*_LENGTH, "TEXT", "BLOB") or (column.type == "FLOAT" and len(numbers) == 1):
        return replace(column, length=numbers[0])
    return column  # a display width, or the digits of a FLOAT or DOUBLE


def _member(words: Sequence[Word], reader: Reader) -> str:
    if len(words) != 1 or not words[0].string:
        raise reader.refused("a member is no string")
    return words[0].text


def _number(words: Sequence[Word], reader: Reader) -> int:
    if len(words) != 1 or not is_number(words[0].text):
        raise reader.refused("a number is expected")
    if len(words[0].text) > _LONGEST_NUMBER:
        raise reader.refused("a number is too long")
    return int(words[0].text)


def _attribute(reader: Reader, column: Column, parts: _Parts, index: int) -> Column:
    if reader.take("UNSIGNED") or reader.take("ZEROFILL"):
        return replace(column, unsigned=True)
    if _charset_word(reader):
        return replace(column, charset=_charset(reader))
    if reader.take("COLLATE"):
        return replace(column, collation=_collation(reader))
    if reader.take("ASCII"):
        return replace(column, charset="latin1")
    if reader.take("UNICODE"):
        return replace(column, charset="ucs2")
    if reader.take("BYTE"):
        return replace(column, charset="binary")
    if reader.take("BINARY"):
        parts.binary.add(index)
        return column
    if reader.take("NOT", "NULL"):
        return replace(column, nullable=False)
    if reader.take("NULL"):
        return replace(column, nullable=True)  # the last of both counts
    if reader.take("AUTO_INCREMENT"):
        return replace(column, auto_increment=True, nullable=False)
    if reader.take("INVISIBLE"):
        return replace(column, invisible=True)
    if reader.take("VISIBLE"):
        return replace(column, invisible=False)
    if reader.take("GENERATED", "ALWAYS", "AS") or reader.take("AS"):
        return replace(column, generated_sql=sql_text(reader.parenthesis()))
    if reader.take("STORED"):
        return replace(column, stored=True)
    if reader.take("PRIMARY", "KEY") or reader.take("KEY"):
        if (column.name, 0) not in parts.key:  # to say it twice is allowed
            parts.key.append((column.name, 0))
        return column
    _without_effect(reader)
    return column


def _without_effect(reader: Reader) -> None:
    """Skip attributes that TABLE_MAP does not describe."""
    for word in ("SIGNED", "VIRTUAL", "ENFORCED"):
        if reader.take(word):
            return
    if reader.take("UNIQUE"):
        reader.take("KEY")
    elif reader.take("DEFAULT") or reader.take("ON", "UPDATE"):
        if reader.at("("):
            reader.parenthesis()
        else:
            _literal(reader)
    elif reader.take("CHECK"):
        reader.parenthesis()
        reader.take("NOT", "ENFORCED")
    elif reader.take("CONSTRAINT"):
        if not reader.at("CHECK"):
            reader.name()
    elif reader.take("REFERENCES"):
        reader.rest()
    elif reader.at("COMMENT", "COLUMN_FORMAT", "STORAGE", "SRID", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"):
        reader.next()
        reader.take("=")
        reader.next()
    else:
        raise reader.refused(f"an attribute that is not known: {shown(reader.next().text)}")


def _literal(reader: Reader) -> None:
    """A number, a string of any kind, or a simple function; no attribute begins like these continuations."""
    reader.next()
    while reader:
        word = reader.words[reader.pos]
        if not (word.string or word.text in _IN_NUMBERS or is_number(word.text[:1])):
            break
        reader.next()
    if reader.at("("):
        reader.parenthesis()


def _charset_word(reader: Reader) -> bool:
    return any(reader.take(*words) for words in CHARSET_WORDS)


def _charset(reader: Reader) -> str:
    name = reader.next().text.lower()
    name = _OLD_NAMES.get(name, name)
    if name not in DEFAULT_COLLATIONS:
        raise reader.refused(f"no character set is called {shown(name)}")
    return name


def _collation(reader: Reader) -> str:
    name = reader.next().text.lower()
    if name.startswith("utf8_"):
        name = f"utf8mb3_{name[5:]}"
    if name not in COLLATION_IDS:
        raise reader.refused(f"no collation is called {shown(name)}")
    return name
