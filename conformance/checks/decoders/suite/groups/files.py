"""Files: open ones, large ones, many names, many events, and other events between the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import Allowed
from conformance.checks.decoders.suite.declare import Setting, Written, recorded, words
from conformance.checks.decoders.suite.rewrite import ROWS, index_of, inserted, laid, parts_of
from conformance.reference.binlog.control_events import Heartbeat, Ignorable, Incident, Opaque, Rotate, Stop
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import Flag
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.declare import Recorded
    from conformance.checks.decoders.suite.rewrite import Part

    Bases = Mapping[str, DecoderCase]

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200))"
_ROW: Final = "INSERT INTO t VALUES (1, 'one')"
_BASE: Final = "files/several-transactions"
_NAME: Final = "Files have such names: a tool that builds a command or an address from them breaks."


def _file(
    name: str,
    title: str,
    why: str,
    *statements: str,
    prepare: tuple[str, ...] = (_TABLE,),
    requirements: str = "DEC21",
    setting: Setting | None = None,
) -> Recorded:
    return recorded(
        f"files/{name}", title, why, requirements, setting=setting or Setting(), prepare=prepare, statements=statements
    )


def _written(
    name: str, title: str, why: str, change: Callable[[list[Part]], list[Part]], *,
    base: str = _BASE, allowed: Allowed = Allowed.CHANGES, requirements: str = "DEC21", needs: str = "file", file_name: str = "log.binlog",
) -> Written:  # fmt: skip
    return Written(
        id=f"files/{name}", title=title, why=why, requirements=words(requirements), allowed=allowed, needs=words(needs), file_name=file_name,
        build=lambda bases: laid(change(parts_of(bases[base]))), same_as=base,
    )  # fmt: skip


def _named(slug: str, name: str, title: str) -> Written:
    return _written(f"name-{slug}", f"A file name {title}", _NAME, lambda parts: parts, file_name=name)


def _in_use(parts: list[Part]) -> list[Part]:
    return [replace(parts[0], flags=(parts[0].flags or 0) | Flag.IN_USE), *parts[1:]]


def _open_file(bases: Bases) -> bytes:
    return laid(_in_use(parts_of(bases[_BASE])[:-1]))


def _cut_open_file(bases: Bases) -> bytes:
    parts = _in_use(parts_of(bases[_BASE])[:-1])
    return laid(parts)[: -len(laid(parts)) + len(laid(parts[:-1])) + 25]


def _beyond(bases: Bases) -> bytes:
    return laid(parts_of(bases[_BASE]), algorithm=0, start=_SPARSE)


_SPARSE: Final = 4_300_000_000


def _between(
    name: str,
    title: str,
    why: str,
    *bodies: object,
    flags: int | None = None,
    allowed: Allowed = Allowed.CHANGES_OR_ERROR,
) -> Written:
    """Events in front of the second transaction."""

    def change(parts: list[Part]) -> list[Part]:
        return inserted(parts, index_of(parts, 34, nth=1), *bodies, flags=flags)  # type: ignore[arg-type]

    return _written(name, title, why, change, allowed=allowed, requirements="DEC20")


def _same_id(parts: list[Part]) -> list[Part]:
    def change(data: bytearray) -> None:
        data[:6] = b"\x4d\0\0\0\0\0"

    return [part.raw(change) if part.type in (*ROWS, 19) else part for part in parts]


def _of_later_version(parts: list[Part]) -> list[Part]:
    first = parts[0].body
    assert isinstance(first, FormatDescription)
    later = replace(parts[0], body=replace(first, post_header_lengths=first.post_header_lengths + bytes(3)))
    type_ = len(first.post_header_lengths) + 3
    changed = [later, *parts[1:]]
    return inserted(changed, index_of(parts, 34, nth=1), Opaque(type=type_, data=b"later"), flags=int(Flag.IGNORABLE))


_LOST: Final = "An unknown event must not end the stream in silence: what comes behind it would be lost."

CASES: Final = (
    _file("several-transactions", "Three transactions", "A log is more than one transaction.", _ROW, "UPDATE t SET v = 'two'", "DELETE FROM t"),
    _file("empty", "A log without any transaction", "No changes, and no error."),
    _file("empty-of-rows", "A log with DDL alone", "Statements without rows: CREATE, ALTER, DROP.", "CREATE TABLE u (id INT)", "ALTER TABLE u ADD COLUMN v INT", "DROP TABLE u"),
    _file("split-rows", "An INSERT of 60 rows in three events", "Rows of a statement are split at 8 KB; only the last event ends the statement.", "INSERT INTO t SELECT n, REPEAT('x', 190) FROM s", prepare=(_TABLE, "CREATE TABLE s (n INT)", "INSERT INTO s WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 60) SELECT n FROM c")),
    _file("split-partial", "A partial update of 60 rows in several events", "Each event has bitmaps and rows of its own.", "UPDATE t SET j = JSON_SET(j, '$.a', id)", prepare=("CREATE TABLE t (id INT PRIMARY KEY, j JSON)", "INSERT INTO t WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 60) SELECT n, JSON_OBJECT('a', 0, 'pad', REPEAT('p', 180)) FROM c"), setting=Setting(partial=True), requirements="DEC21 DEC1"),
    _file("row-of-20-kb", "A row that is larger than an event should be", "A row is never split.", "INSERT INTO t VALUES (1, REPEAT('x', 20000), 'behind')", prepare=("CREATE TABLE t (id INT PRIMARY KEY, x TEXT, v VARCHAR(9))",)),
    _file("rows-query", "The statement's text in front of its rows", "ROWS_QUERY is for people: it has a length of one byte that says nothing.", _ROW, f"UPDATE t SET v = '{'long ' * 30}'", setting=Setting(more=("SET SESSION binlog_rows_query_log_events = ON",)), requirements="DEC20 DEC21"),
    _file("statements-between", "Statements logged as text between rows", "INTVAR, RAND and USER_VAR events stand in front of a statement.", "SET SESSION binlog_format = STATEMENT", "SET @x = 'größe'", "INSERT INTO lab_other.s (v, r) VALUES (@x, RAND())", "SET SESSION binlog_format = ROW", _ROW, prepare=(_TABLE, "DROP SCHEMA IF EXISTS lab_other", "CREATE SCHEMA lab_other", "CREATE TABLE lab_other.s (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), r DOUBLE)"), requirements="DEC20"),
    _file("two-tables", "Two tables whose rows take turns in a transaction", "The table id of each rows event points to the latest TABLE_MAP with it.", "BEGIN", _ROW, "INSERT INTO u VALUES ('x', 2)", "UPDATE t SET v = 'two'", "UPDATE u SET id = 3", "COMMIT", prepare=(_TABLE, "CREATE TABLE u (v VARCHAR(9), id INT)")),
    _file("table-altered", "A table that gets another column between two rows", "The TABLE_MAP of each row counts, not the table as it is now.", _ROW, "DELETE FROM t", "ALTER TABLE t ADD COLUMN n INT FIRST", "INSERT INTO t VALUES (7, 2, 'two')"),
    _file("table-renamed", "A table that is renamed between two rows", "The name in the TABLE_MAP is the one of that moment.", _ROW, "DELETE FROM t", "RENAME TABLE t TO renamed", "INSERT INTO renamed VALUES (2, 'two')"),
    _file("table-dropped", "A table that no longer exists", "Whoever asks the server for its columns gets no answer.", _ROW, "DELETE FROM t", "DROP TABLE t", "INSERT INTO u VALUES (5)", prepare=(_TABLE, "CREATE TABLE u (id INT)")),
    _file("create-table-select", "CREATE TABLE … SELECT: rows of a table that the same transaction makes", "The statement's text ends with START TRANSACTION, and rows follow it.", "CREATE TABLE u SELECT * FROM t", prepare=(_TABLE, _ROW)),
    _file("truncate", "TRUNCATE between rows", "It removes rows without an event for each.", "TRUNCATE TABLE s", _ROW, prepare=(_TABLE, "CREATE TABLE s (id INT)")),
    _file("many-small", "Twenty transactions of one row", "Positions and GTID numbers go on without a gap.", *(f"INSERT INTO t VALUES ({number}, 'row {number}')" for number in range(20))),
    _file("case-of-names", "Tables whose names differ in case alone", "Names are compared byte by byte.", _ROW, "INSERT INTO T VALUES (9)", "UPDATE t SET v = 'two'", prepare=(_TABLE, "CREATE TABLE T (id INT)")),
    Written(id="files/open", title="A log that is still open: the flag in its first event is set", why="The flag is outside of the checksum: summed over, the first event of each live log looks damaged.", requirements=words("DEC21 DEC19"), needs=("file",), build=_open_file, same_as=_BASE),
    Written(id="files/open-and-cut", title="An open log that ends inside of an event", why="A copy of a live file ends anywhere: what is complete must come.", requirements=words("DEC21 DEC22"), needs=("file",), allowed=Allowed.CHANGES_OR_ERROR, build=_cut_open_file, same_as=_BASE, changes=(0, 1, 2), rolled_back=(2,)),
    Written(id="files/beyond-4-gib", title="Rows behind the first 4 GiB of a file", why="Positions in events have 32 bits and begin again: taken as they are, the reader jumps back or stops.", requirements=words("DEC21"), needs=("file",), build=_beyond, same_as=_BASE, sparse=_SPARSE),
    _written("no-end-event", "A closed log without ROTATE or STOP", "A server that was killed leaves such files.", lambda parts: parts[:-1]),
    _written("stop-at-end", "STOP in place of ROTATE", "A server that was shut down ends its file so.", lambda parts: [*parts[:-1], replace(parts[-1], body=Stop())]),
    _written("rotate-unusual", "ROTATE to a file whose name is long and has blanks", "The name is as long as the event says, without a zero at its end.", lambda parts: [*parts[:-1], replace(parts[-1], body=Rotate(position=4, name=("next file " * 20).encode()))]),
    _written("description-twice", "A second FORMAT_DESCRIPTION between transactions", "Relay logs have one of the relay and one of the source: tables are forgotten, checksums begin anew.", lambda parts: [*parts[: index_of(parts, 34, nth=1)], parts[0], *parts[index_of(parts, 34, nth=1) :]], needs="file"),
    _written("table-id-reused", "The same table id for each transaction", "Ids come again after a restart: the latest TABLE_MAP counts.", _same_id, base="files/two-tables"),
    _written("one-server-id-each", "Events of different server ids", "A replica's log has the ids of the sources.", lambda parts: [replace(part, server_id=number % 3 + 1) for number, part in enumerate(parts)]),
    _written("timestamps-zero", "Events with timestamp 0, and with the largest", "A time is no reason to leave an event out.", lambda parts: [replace(part, timestamp=0 if number % 2 else 0xFFFFFFFF) for number, part in enumerate(parts)]),
    _named("blanks", "my binary log.000001", "with blanks"),
    _named("unicode", "größe-日本-😀.000001", "in unicode"),
    _named("quotes", "it's \"quoted\" $HOME `x`.binlog", "with quotes and dollar signs"),
    _named("percent", "100%25%20%s?a=b#c.binlog", "with percent signs, question mark and hash"),
    _named("dash", "-v.binlog", "that begins with a dash"),
    _named("directory", "a b/ö/binlog.000001", "in directories with blanks and unicode"),
    _named("long", "b" * 200 + ".000001", "of 207 characters"),
    _between("ignorable-event", "An event of type 28, which is to be ignored", "It exists to be passed over.", Ignorable(data=b"whatever"), allowed=Allowed.CHANGES),
    _written("unknown-ignorable-event", "An event of a later version with the flag to ignore it", "Later versions mark such events so that older readers pass over them; their description knows the type.", _of_later_version, requirements="DEC20"),
    _between("unknown-event", "An event of an unknown type", _LOST, Opaque(type=121, data=b"later")),
    _between("unknown-event-250", "An event of type 250, beyond the table of the description", _LOST, Opaque(type=250, data=b"")),
    _between("heartbeat", "A heartbeat between transactions", "Heartbeats come over the network alone; a saved stream has them.", Heartbeat(name=b"binlog.000001"), allowed=Allowed.CHANGES_OR_ERROR),
    _between("incident", "An INCIDENT between transactions", "It says that the log lacks something: to stop is right, to pass it over in silence is not.", Incident(number=1, message=b"lost events")),
    _between("format-events-of-old", "An event of a type that only old servers had", _LOST, Opaque(type=int(EventType.START_V3), data=bytes(56))),
)  # fmt: skip
