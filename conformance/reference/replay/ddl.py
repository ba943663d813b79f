"""The effect of a statement on tables, from its words.

A statement that this module cannot follow raises :class:`ReplayError`; it never guesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import ReplayError
from conformance.reference.portable import is_number
from conformance.reference.replay.statements import (
    Action,
    AlterTable,
    ChangesRows,
    ColumnDefinition,
    CreateLike,
    CreateTable,
    DefaultCharset,
    DefineSchema,
    DropColumn,
    DropSchema,
    DropTables,
    MoveTable,
    PutColumn,
    RenameColumn,
    RenameTables,
    SetCharset,
    SetEngine,
    SetKey,
    SetParent,
    StartNumbers,
    Statement,
    Truncate,
)
from conformance.reference.sql.definition_reader import Reader, TableName, split_list
from conformance.reference.tables.create_table import parse_charset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.sql.statement_words import Word

_HARMLESS: Final = (
    "ANALYZE", "BEGIN", "BINLOG", "CHECK", "CHECKSUM", "CLONE", "COMMIT", "DELIMITER", "DESC", "DESCRIBE", "DO",
    "EXPLAIN", "FLUSH", "GRANT", "INSTALL", "KILL", "LOCK", "OPTIMIZE", "PURGE", "RELEASE", "REPAIR", "RESET", "REVOKE",
    "ROLLBACK", "SAVEPOINT", "SET", "SHOW", "START", "STOP", "UNINSTALL", "UNLOCK", "USE", "XA",
)  # fmt: skip
_KEYS: Final = ("CONSTRAINT", "PRIMARY", "UNIQUE", "INDEX", "KEY", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK")
_QUERY_STARTS: Final = ("SELECT", "WITH", "TABLE", "VALUES", "AS", "IGNORE", "REPLACE")
_OTHER_ENGINES: Final = ("MYISAM", "MEMORY", "HEAP", "CSV", "ARCHIVE", "BLACKHOLE", "MERGE", "MRG_MYISAM", "ARIA")
_CASCADING: Final = ("CASCADE", "SET")
# Parts of ALTER TABLE that leave names, places and values of columns as they are.
_NO_CHANGE: Final = (
    "ALGORITHM", "ANALYZE", "AUTO_INCREMENT", "AUTOEXTEND_SIZE", "AVG_ROW_LENGTH", "CHECK", "CHECKSUM", "COALESCE",
    "COMMENT", "COMPRESSION", "CONNECTION", "DELAY_KEY_WRITE", "DISABLE", "ENABLE", "ENCRYPTION", "FORCE",
    "INSERT_METHOD", "KEY_BLOCK_SIZE", "LOCK", "MAX_ROWS", "MIN_ROWS", "OPTIMIZE", "ORDER", "PACK_KEYS", "PARTITION",
    "REBUILD", "REMOVE", "REORGANIZE", "REPAIR", "ROW_FORMAT", "SECONDARY_ENGINE", "SECONDARY_LOAD", "SECONDARY_UNLOAD",
    "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "TABLESPACE", "UNION", "VALIDATION", "WITH",
    "WITHOUT",
)  # fmt: skip
_SET_ENGINE: Final = "ENGINE"
_LONGEST_NUMBER: Final = 20  # digits; Python refuses to read thousands
_UNKNOWN: Final = "ucs2"  # stands for a character set that is not known here; nothing is shown in it


def parse_statement(words: Sequence[Word], schema: str) -> Statement | None:
    """The effect of the statement on tables; ``None``: no effect. ``schema`` is the session's."""
    end = len(words)
    while end and words[end - 1].among(";"):
        end -= 1
    reader = Reader(words if end == len(words) else words[:end], schema)
    if not reader:
        return None
    if reader.take("CREATE"):
        return _create(reader)
    if reader.take("ALTER"):
        if reader.at("DATABASE", "SCHEMA"):
            return _schema(reader, create=False)
        ignore = False
        while reader.at("IGNORE", "ONLINE", "OFFLINE"):
            ignore |= reader.next().among("IGNORE")
        return _alter(reader, ignore=ignore) if reader.take("TABLE") else None
    if reader.take("DROP"):
        return _drop(reader)
    if reader.take("TRUNCATE"):
        reader.take("TABLE")
        return Truncate(table=reader.table())
    if reader.take("RENAME"):
        if not (reader.take("TABLE") or reader.take("TABLES")):
            return None
        return RenameTables(pairs=tuple(_renamed(Reader(part, schema)) for part in split_list(reader.rest())))
    if reader.at(*_HARMLESS):
        return None
    raise reader.refused("it changes rows, or is unknown")


def _renamed(reader: Reader) -> tuple[TableName, TableName]:
    old = reader.table()
    if not reader.take("TO"):
        raise reader.refused("TO is expected")
    return old, reader.table()


def _drop(reader: Reader) -> Statement | None:
    if reader.take("DATABASE") or reader.take("SCHEMA"):
        reader.take("IF", "EXISTS")
        return DropSchema(schema=reader.name())
    if reader.take("INDEX"):
        if not _is_primary(reader.name()):
            return None
        reader.take("ON")
        return AlterTable(table=reader.table(), actions=(SetKey(()),))
    if not (reader.take("TABLE") or reader.take("TABLES")):
        return None
    reader.take("IF", "EXISTS")
    return DropTables(tables=tuple(Reader(part, reader.schema).table() for part in split_list(reader.rest())))


def _schema(reader: Reader, *, create: bool) -> DefineSchema:
    reader.next()
    reader.take("IF", "NOT", "EXISTS")
    options = ("DEFAULT", "CHARACTER", "CHAR", "CHARSET", "COLLATE", "ENCRYPTION", "READ", "UPGRADE", "COMMENT")
    schema = reader.schema if not reader or reader.at(*options) else reader.name()
    return DefineSchema(schema, _named_charset(reader.rest()), create)


def _named_charset(words: Sequence[Word]) -> DefaultCharset | None:
    """The character set that options of a table or schema name; ``None`` for none, and for an unknown one."""
    try:
        name, collation = parse_charset(Reader(words, ""), "", None)
    except ReplayError:
        return DefaultCharset(_UNKNOWN, certain=False)
    return DefaultCharset(name, collation) if name else None


def _create(reader: Reader) -> Statement | None:
    if reader.at("DATABASE", "SCHEMA"):
        return _schema(reader, create=True)
    if not reader.take("TABLE"):
        return None  # rows of temporary tables are not logged as rows; other objects have none
    absent = reader.take("IF", "NOT", "EXISTS")
    table = reader.table()
    if reader.take("LIKE"):
        return CreateLike(table=table, source=reader.table(), if_not_exists=absent)
    if not reader.at("("):
        raise reader.refused("the rows of CREATE TABLE ... SELECT are not in the statement")
    body = reader.parenthesis()
    if body and body[0].among("LIKE"):
        return CreateLike(table=table, source=Reader(body[1:], reader.schema).table(), if_not_exists=absent)
    charset = _named_charset(reader.words[reader.pos :])
    transactional = _options(reader)
    columns: list[ColumnDefinition] = []
    key: tuple[str, ...] = ()
    ascending = True
    parents: list[TableName] = []
    for part in split_list(body):
        inner = Reader(part, reader.schema)
        if inner.at(*_KEYS):
            found = _key(inner)
            if isinstance(found, SetKey):
                key, ascending = found.columns, found.ascending
            elif found is not None:
                parents.append(found.table)
        else:
            columns.append(_column(inner))
    key = key or tuple([column.name for column in columns if column.primary])
    return CreateTable(
        table=table,
        columns=tuple(columns),
        primary_key=key,
        cascades_from=tuple(parents),
        transactional=transactional,
        if_not_exists=absent,
        charset=charset,
        ascending=ascending,
    )


def _options(reader: Reader) -> bool:
    """The table options; returns whether the engine has transactions."""
    transactional = True
    while reader:
        if reader.at("("):
            reader.parenthesis()
        elif reader.at(*_QUERY_STARTS):
            raise reader.refused("the rows of CREATE TABLE ... SELECT are not in the statement")
        elif reader.take(_SET_ENGINE):
            transactional = _engine(reader)
        else:
            reader.next()
            # A value never starts a query, whatever it is called.
            if reader.take("="):
                reader.next()
    return transactional


def _engine(reader: Reader) -> bool:
    reader.take("=")
    return reader.next().text.upper() not in _OTHER_ENGINES


def _column(reader: Reader) -> ColumnDefinition:
    name = reader.name()
    return ColumnDefinition(name, tuple(reader.rest()))


def _key(reader: Reader) -> SetKey | SetParent | None:
    """A key or constraint of a table, if it affects the replay."""
    if reader.take("CONSTRAINT") and not reader.at("PRIMARY", "FOREIGN"):
        reader.next()
    if reader.take("PRIMARY"):
        while reader and not reader.at("("):
            reader.next()
        parts = list(split_list(reader.parenthesis()))
        return SetKey(tuple([part[0].text for part in parts]), not any(part[-1].among("DESC") for part in parts))
    if not reader.take("FOREIGN"):
        return None
    while reader and not reader.take("REFERENCES"):
        reader.next()
    parent = reader.table()
    while reader:
        if reader.take("DELETE") or reader.take("UPDATE"):
            if reader.at(*_CASCADING):
                return SetParent(parent)
        else:
            reader.next()
    return None


def _alter(reader: Reader, *, ignore: bool) -> AlterTable:
    """``ignore``: ALTER IGNORE TABLE of MySQL up to 5.6, which removes rows with equal keys, and cuts values."""
    table = reader.table()
    changing = ignore and any(word.among("UNIQUE", "PRIMARY", "MODIFY", "CHANGE", "CONVERT") for word in reader.words)
    actions: list[Action] = [ChangesRows("IGNORE")] if changing else []
    for part in split_list(reader.rest()):
        actions += _action(Reader(part, reader.schema))
    return AlterTable(table=table, actions=tuple(actions))


def _action(reader: Reader) -> list[Action]:
    options: list[Action]
    if reader.take("ADD"):
        return _add(reader)
    if reader.take("DROP"):
        return _remove(reader)
    if reader.take("CHANGE"):
        reader.take("COLUMN")
        return [_placed(reader, old=reader.name())]
    if reader.take("MODIFY"):
        reader.take("COLUMN")
        old = reader.name()
        reader.pos -= 1
        return [_placed(reader, old=old)]
    if reader.take("RENAME"):
        if reader.take("COLUMN"):
            old = reader.name()
            if not reader.take("TO"):
                raise reader.refused("TO is expected")
            return [RenameColumn(old, reader.name())]
        if reader.take("INDEX") or reader.take("KEY"):
            return []
        if not reader.take("TO"):
            reader.take("AS")
        return [MoveTable(reader.table())]
    if reader.take("ALTER"):
        return []  # defaults, visibility, constraints: nothing that is stored
    if reader.take(_SET_ENGINE):
        charset = _named_charset(reader.words[reader.pos :])
        options = [] if charset is None else [SetCharset(charset)]
        return [*options, SetEngine(_engine(reader))]
    if reader.take("CONVERT", "TO"):
        charset = _named_charset(reader.rest())
        known = charset is not None and charset.certain
        return [SetCharset(charset, convert=True) if charset and known else ChangesRows("CONVERT")]
    if reader.at("DISCARD", "IMPORT", "TRUNCATE", "EXCHANGE"):
        return [ChangesRows(reader.next().text.upper())]
    if reader.at("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "DATA", *_NO_CHANGE):
        if reader.at("PARTITION"):
            return []
        charset = _named_charset(reader.words[reader.pos :])
        options = [] if charset is None else [SetCharset(charset)]
        options += _first_number(reader.words)
        return [*options, SetEngine(_engine(reader))] if _engine_later(reader) else options
    if reader.at("INDEX"):
        return []
    raise reader.refused(f"ALTER TABLE ... {reader.next().text} is not followed")


def _first_number(words: Sequence[Word]) -> list[Action]:
    """The option AUTO_INCREMENT among others."""
    reader = Reader(words, "")
    while reader:
        if reader.take("AUTO_INCREMENT"):
            reader.take("=")
            number = reader.next().text
            return [StartNumbers(int(number))] if is_number(number) and len(number) <= _LONGEST_NUMBER else []
        reader.next()
    return []


def _engine_later(reader: Reader) -> bool:
    """Skip the further table options, which may follow each other without commas."""
    while reader:
        if reader.take(_SET_ENGINE):
            return True
        if reader.at("ADD", "DROP", "CHANGE", "MODIFY", "RENAME", "CONVERT"):
            raise reader.refused("ALTER TABLE with more than one change and no comma between them")
        reader.next()
        if reader.take("="):
            reader.next()
    return False


def _add(reader: Reader) -> list[Action]:
    if reader.take("PARTITION"):
        return []
    if reader.at(*_KEYS):
        found = _key(reader)
        return [] if found is None else [found]
    reader.take("COLUMN")
    if reader.at("("):
        out: list[Action] = []
        for part in split_list(reader.parenthesis()):
            inner = Reader(part, reader.schema)
            if inner.at(*_KEYS):
                found = _key(inner)
                out += [] if found is None else [found]
            else:
                out.append(PutColumn(definition=_column(inner)))
        return out
    return [_placed(reader)]


def _placed(reader: Reader, old: str | None = None) -> PutColumn:
    """A column definition, with FIRST or AFTER behind it."""
    definition = _column(reader)
    words = _without_partitions(definition.words)
    after = None
    if words and words[-1].among("FIRST"):
        words, after = words[:-1], ""
    elif len(words) > 1 and words[-2].among("AFTER"):
        words, after = words[:-2], words[-1].text
    return PutColumn(definition=ColumnDefinition(definition.name, words), old=old, after=after)


def _without_partitions(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words without the partitions, which follow the last part of ALTER TABLE without a comma."""
    for place, word in enumerate(words):
        if word.among("PARTITION", "PARTITIONING"):
            return words[: place - word.among("PARTITIONING")]  # REMOVE PARTITIONING
    return words


def _remove(reader: Reader) -> list[Action]:
    if reader.take("PARTITION"):
        return [ChangesRows("DROP PARTITION")]
    if reader.take("PRIMARY"):
        return [SetKey(())]
    if reader.take("INDEX") or reader.take("KEY") or reader.take("CONSTRAINT"):
        return [SetKey(())] if _is_primary(reader.name()) else []
    if reader.at("FOREIGN", "CHECK"):
        return []
    reader.take("COLUMN")
    return [DropColumn(reader.name())]


def _is_primary(index: str) -> bool:
    """Whether an index of this name is the primary key (manual, DROP INDEX)."""
    return index.upper() == "PRIMARY"
