"""Statements in QUERY events: words, table definitions, and the replay of several statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.event_types import EventType
from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.sql.statement_words import ANSI_QUOTES, NO_BACKSLASH_ESCAPES, placed_words, split_words
from conformance.reference.sql.update_statement import is_update, read_update
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import create_table, table_map
from fuzz.mariadb_events import MARIADB
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited
from fuzz.violation import attempt, require
from generators.definitions import definition
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "Any text is words; a definition that is read is written as one that reads the same; a list of statements is"
    " followed or refused, the lenient reading never refuses, and rolling back ends with a table for every name."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.tables.create_table",
    "conformance.reference.replay",
    "conformance.reference.tables.definitions",
)
MAX_LEN: Final = 512
DICTIONARY: Final = (
    b"CREATE TABLE ", b"ALTER TABLE ", b"DROP TABLE ", b"RENAME TABLE ", b"TRUNCATE ", b" PRIMARY KEY", b" NOT NULL",
    b" ADD COLUMN ", b" MODIFY ", b" CHANGE ", b" FIRST", b" AFTER ", b" DEFAULT ", b" AUTO_INCREMENT", b"/*!80000 ",
    b"/*", b"*/", b"-- ", b"``", b"''", b"\\'", b" CHARACTER SET latin1", b" COLLATE ", b"ENUM('a','b')",
    b"DECIMAL(10,2)", b"UPDATE t SET j = ",
    b"VARCHAR(300)", b" UNSIGNED", b" GENERATED ALWAYS AS (", b" LIKE ", b" SELECT ", b"ROLLBACK TO ", b"SAVEPOINT ",
    b"XA START X'01',X'',1", b"\n",
)  # fmt: skip

_MODES: Final = (0, ANSI_QUOTES, NO_BACKSLASH_ESCAPES)


def check(data: bytes) -> None:
    """Check statements, one on each line."""
    text = data.decode("utf-8", "surrogateescape")
    for mode in _MODES:
        words = split_words(text, mode)
        require(sum(len(word.text) for word in words) <= len(text), "words are a part of the text")
    attempt(parse_statement, split_words(text, _MODES[len(data) % len(_MODES)]), "lab")
    _definition(text)
    _update(text)
    for lenient, writer in ((False, FormatDescription()), (True, FormatDescription()), (False, MARIADB)):
        replay = Replay(lenient=lenient)
        replay.event(Event(Header(0, EventType.FORMAT_DESCRIPTION, 1, 19, 4, 0), writer, None, 4))
        for number, line in enumerate(data.split(b"\n")):
            query = Query(text=line, schema=b"lab")
            event = Event(Header(0, EventType.QUERY, 1, 19, 4, 0), query, None, number)
            _, refused = attempt(replay.event, event)
            require(not (lenient and refused), "the lenient reading forgets what it cannot follow", line, str(refused))
        for state in replay.tables.values():
            attempt(table_rows, state)
            require(all(state.column_names()), "every column has a name", state.name)
        replay.finish()


def _update(text: str) -> None:
    """The words have places, one behind the other; what is read of an UPDATE is in it."""
    places = [place for item in placed_words(text) for place in (item.start, item.end)]
    require(places == sorted(places), "words stand one behind the other", places)
    statement, _ = attempt(read_update, text)
    begins = is_update(text)
    if statement is not None:
        require(begins or len(text) > 100, "what is read as a statement begins as one", text)
        require(all(len(each.sql) <= len(text) for each in statement.assignments), "values are parts of the text", text)


def _definition(text: str) -> None:
    table, _ = attempt(parse_definition, text, schema="lab")
    if table is None:
        return
    written, unwritten = attempt(create_table, table, qualified=True)
    attempt(table_map, table, table_id=1)
    if written is None:
        require(unwritten, "a definition is written or refused")
        return
    again, unread = attempt(parse_definition, written)
    require(again is not None, "what was written can be read", written, str(unread))
    if again is not None:
        require(create_table(again, qualified=True) == written, "writing what was written changes nothing", written)


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Insert a word, double or move a line, or edit bytes."""
    draw = SeedDraw(seed)
    lines = data.split(b"\n")
    place = draw.below(len(lines))
    match draw.below(5):
        case 0:
            lines.insert(draw.below(len(lines) + 1), lines[place])
        case 1:
            words = lines[place].split(b" ")
            words.insert(draw.below(len(words) + 1), draw.choice(DICTIONARY).strip() or b"\t")
            lines[place] = b" ".join(words)
        case 2:
            words = lines[place].split(b" ")
            del words[draw.below(len(words))]
            lines[place] = b" ".join(words)
        case _:
            lines[place] = edited(draw, lines[place], max_size)
    return b"\n".join(lines)[:max_size]


_LISTS: Final = (
    "CREATE TABLE t (id INT PRIMARY KEY, j JSON)\nALTER TABLE t ADD COLUMN k INT FIRST\nDROP TABLE t",
    "CREATE TABLE a (x VARCHAR(9) CHARACTER SET latin1)\nRENAME TABLE a TO b\nTRUNCATE b\nDROP TABLE IF EXISTS b, c",
    "CREATE TABLE `a``b` (`c d` DECIMAL(10,2) UNSIGNED NOT NULL DEFAULT '1', KEY (`c d`)) ENGINE=InnoDB",
    "CREATE TABLE t (a INT)\nCREATE TABLE u LIKE t\nALTER TABLE u CHANGE a b BIGINT, MODIFY b INT NOT NULL, DROP b",
    "CREATE OR REPLACE TABLE t (a INT, b TEXT COMPRESSED)\nALTER ONLINE TABLE IF EXISTS t ADD c INET6",
    "CREATE SEQUENCE s",
    "BEGIN\nSAVEPOINT `s`\nROLLBACK TO `s`\nCOMMIT",
    "XA START X'01',X'',1\nXA END X'01',X'',1\nXA ROLLBACK X'01',X'',1",
    "create table e (o enum('a','b''c'), s set('x'), g int generated always as (1+1) stored, v vector(3))",
    '/*!40000 CREATE TABLE t (a int) */ -- comment\n# other\nSELECT \'\\\'\' "x""y"',
    "CREATE TABLE t (a int, primary key (a), unique (a)) PARTITION BY HASH(a)\nALTER TABLE t DROP PRIMARY KEY",
    "CREATE DATABASE lab\nDROP DATABASE lab\nUSE x",
    "START TRANSACTION\nCREATE TABLE t AS SELECT 1 AS a",
    "'unclosed\n`unclosed\n/* unclosed\n\"",
)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Lists of statements, and generated definitions."""
    for number, text in enumerate(_LISTS):
        yield f"list-{number}", text.encode()
    for number in range(12):
        text = create_table(definition(Stream("fuzz", "statement", number), count=1 + number % 4)).replace("\n", " ")
        if len(text.encode()) <= 400:
            yield f"definition-{number}", text.encode()
