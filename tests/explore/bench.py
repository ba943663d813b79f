"""A fixed scenario of explore, and the places at which a fault can be planted into it: answers, rows, files, logs."""

from __future__ import annotations

import zlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from conformance.explore.episode import Episode, death
from conformance.explore.followers import Linked
from conformance.explore.steps import SNAPSHOT, Step
from conformance.explore.world import Died, World
from conformance.logs.reading import read_events
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.rows import LazyRows
from conformance.servers.errors import SqlError
from conformance.servers.wire.connection import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.explore.oracles.problem import Problem
    from conformance.reference.binlog.rows import RowsBody
    from conformance.servers.wire.packets import Result
    from tests.faults.fault import Fault

_DOCUMENTS: Final = ", ".join(
    f"""({n}, '{{"a": "value {n}", "b": {n}, "arr": [{n}, {n + 1}]}}', 'text {n}')""" for n in range(1, 7)
)
_COLUMNS: Final = "g VARCHAR(64) AS (LEFT(j->>'$.a', 64)) VIRTUAL, s INT AS (JSON_LENGTH(j)) STORED"
_INDEXES: Final = (
    "INDEX plain (c), INDEX functional ((CAST(j->>'$.a' AS CHAR(40)))), "
    "INDEX multi ((CAST(j->'$.arr' AS UNSIGNED ARRAY))), FULLTEXT INDEX words (c)"
)
_COPIED: Final = "u VARCHAR(40) AS (CONCAT(c, '!')) STORED, INDEX plain (c)"
SCENARIO: Final = tuple(
    Step(text, shape)
    for shape, text in (
        ("create-table", f"CREATE TABLE t0 (id INT PRIMARY KEY, j JSON, c VARCHAR(40), {_COLUMNS}, {_INDEXES})"),
        ("create-table", "CREATE TABLE t1 (id INT NOT NULL, j JSON)"),
        ("create-table", f"CREATE TABLE t2 (id INT PRIMARY KEY, c VARCHAR(40), {_COPIED}) ENGINE=MyISAM"),
        ("insert", f"INSERT INTO t0 (id, j, c) VALUES {_DOCUMENTS}"),
        ("insert", "INSERT INTO t1 (id, j) SELECT id, j FROM t0"),
        ("insert", "INSERT INTO t2 (id, c) VALUES (1001, 'first'), (1002, 'second'), (1003, 'third')"),
        ("insert", "INSERT INTO t1 (id, j) VALUES (7, JSON_OBJECT('a', DATE'2024-02-29'))"),
        ("set-variable", "SET @v = 7, @k = 3"),
        ("prepare", "PREPARE p FROM 'UPDATE t0 SET j = ⟦JSON_SET(j, ''$.b'', ?)⟧ WHERE id = ?'"),
        ("snapshot", SNAPSHOT),
        ("update", "UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 'changed')⟧ WHERE id = 2"),
        ("execute", "EXECUTE p USING @v, @k"),
        ("insert-ignore", "INSERT IGNORE INTO t0 (id, j) VALUES (1, '{}')"),
        ("refused", "INSERT INTO t0 (id, j) VALUES (1, '{}')"),
        ("select", "SELECT id, j->'$.a' FROM t0 ORDER BY id"),
        ("begin", "BEGIN"),
        ("inside", "UPDATE t0 SET c = 'inside', j = ⟦JSON_REMOVE(j, '$.b')⟧ WHERE id = 4"),
        ("commit", "COMMIT"),
        ("delete", "DELETE FROM t0 WHERE id = 5"),
        ("insert-again", """INSERT INTO t1 (id, j) VALUES (9, '{"a": "twice"}')"""),
        ("select-count", "SELECT COUNT(*), MAX(id) FROM t1"),
    )
)  # fmt: skip
"""What a shape names once is a place to plant at."""


class Altered:
    """A connection with a liar on the line: ``send`` changes statements, ``answer`` what comes back."""

    def __init__(
        self,
        inner: Any,
        *,
        send: Callable[[str], str] = lambda sql: sql,
        answer: Callable[[str, Result], Result] = lambda _, result: result,
    ) -> None:
        self._inner = inner
        self._send = send
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def execute(self, sql: str) -> Result:
        return self._answer(sql, self._inner.execute(self._send(sql)))

    def execute_many(self, statements: list[str]) -> Batch:
        batch = self._inner.execute_many([*map(self._send, statements)])
        results = tuple(self._answer(sql, result) for sql, result in zip(statements, batch.results, strict=False))
        return Batch(results=results, error=batch.error)


class AlteredFiles:
    """A source of which the files read otherwise than they are."""

    def __init__(self, inner: Any, change: Callable[[bytes], bytes]) -> None:
        self._inner = inner
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def files(self) -> AlteredFiles:
        return self

    def read(self, name: str) -> bytes:
        return self._change(self._inner.files.read(name))


class AlteredStream:
    """A source of which the log that it sends is another one than what it wrote; of a capture too, and of its part."""

    def __init__(self, inner: Any, change: Callable[[bytes], bytes]) -> None:
        self._inner = inner
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def capture(self) -> AlteredStream:
        return AlteredStream(self._inner.capture(), self._change)

    def since(self, start: object) -> AlteredStream:
        return AlteredStream(self._inner.since(start), self._change)

    def file_bytes(self) -> bytes:
        return self._change(self._inner.file_bytes())


class Bench:
    """The scenario in a world, with a fault in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.episode = Episode(world)
        self._undo = ExitStack()
        self._touched = False  # the replica

    def problems(self, fault: Fault | None = None) -> list[Problem]:
        """Run the scenario; plant the fault before its step, or before the last look. What the first oracle saw."""
        world = self.world
        source, pairs = world.source, world.pairs
        world.twins = True
        try:
            world.begin()
            if fault is not None and fault.run["alone"]:
                world.pairs = ()
            for step in SCENARIO:
                if fault is not None and fault.at == step.shape:
                    fault.change(self)
                if found := self.episode.step(step)[1]:
                    return found
            if fault is not None and not fault.at:
                fault.change(self)
            return self.episode.look(last=True)
        except Died as error:
            return [death(error)]
        finally:
            world.source = source
            world.pairs = pairs
            self._undo.close()
            self._mend()

    def _mend(self) -> None:
        world = self.world
        if not world.alive():
            self._touched = True
            world.close_sessions()
            for server in (world.source, *(pair.replica for pair in world.pairs)):
                if not server.alive():
                    server.start()
            for pair in world.pairs:
                pair.connection.close()
                pair.connection = pair.replica.connect()
        self.episode.close()
        if self._touched:
            world.mend()

    # -- places ----------------------------------------------------------------------------------------------------

    @property
    def pair(self) -> Linked:
        """The source and its replica, which a fault is about to touch."""
        self._touched = True
        pair = self.world.pairs[0]
        assert isinstance(pair, Linked)
        return pair

    def caught_up(self) -> None:
        """Wait until the replica has everything."""
        self.pair.wait(self.world.source.capture().mark(self.world.own))

    def on_replica(self, *statements: str, side: str = "x") -> None:
        """Change the replica alone, in one of the schemas, when it has everything."""
        self.caught_up()
        with self.pair.replica.connect(database=self.world.schema(side)) as connection:
            for statement in ("SET sql_log_bin = 0", *statements):
                connection.execute(statement)

    def on_source(self, *statements: str, sides: str) -> None:
        """Change the source's tables of these sides without a word in its log."""
        for side in sides:
            with self.world.source.connect(database=self.world.schema(side)) as connection:
                for statement in ("SET sql_log_bin = 0, lock_wait_timeout = 5", *statements):
                    connection.execute(statement)

    def alter_session(self, side: str, **changes: Any) -> None:
        """Put a liar into the session that runs the steps of a side."""
        self.world.sessions[0, side] = Altered(self.world.session(0, side), **changes)  # type: ignore[assignment]

    def alter_own(self, answer: Callable[[str, Result], Result]) -> None:
        """Put a liar into the oracles' session."""
        self.world._own = Altered(self.world.own, answer=answer)  # type: ignore[assignment]

    def alter_replica(self, answer: Callable[[str, Result], Result]) -> None:
        """Put a liar into the session that reads the replica."""
        pair, true = self.pair, self.pair.connection
        self._undo.callback(setattr, pair, "connection", true)
        pair.connection = Altered(true, answer=answer)  # type: ignore[assignment]

    def alter_log(self, change: Callable[[bytes, str], bytes]) -> None:
        """Change the log that mysqlbinlog gets; the change is told the name of the schema."""
        schema = self.world.schema("x")
        self.world.source = AlteredFiles(  # type: ignore[assignment]
            self.world.source, lambda data: change(data, schema)
        )

    def alter_stream(self, change: Callable[[bytes, str], bytes]) -> None:
        """Change the log that the kit's own replay gets."""
        schema = self.world.schema("x")
        self.world.source = AlteredStream(  # type: ignore[assignment]
            self.world.source, lambda data: change(data, schema)
        )

    def alter_file(
        self, name: str, change: Callable[[bytes], bytes] | None, *, sides: str = "x", replica: bool = False
    ) -> None:
        """Change a file of the MyISAM table on the disk of a server, or remove it (``None``)."""
        files = (self.pair.replica if replica else self.world.source).files
        for side in sides:
            if replica:
                self.on_replica("FLUSH TABLES t2")
            else:
                self.on_source("FLUSH TABLES t2", sides=side)
            path = f"{self.world.schema(side)}/{name}"
            if change is None:
                files.remove([path])
            else:
                true = files.read(path)
                changed = change(true)
                assert changed != true, "nothing was changed"
                files.write(path, changed)

    def snapshot(self) -> Any:
        """The session of the snapshot."""
        assert self.episode._snapshot is not None
        return self.episode._snapshot

    def patch(self, module: Any, name: str, value: object) -> None:
        """Set a variable of a module until the scenario is over."""
        self._undo.callback(setattr, module, name, getattr(module, name))
        setattr(module, name, value)


def refused(number: int) -> SqlError:
    """An error of a server."""
    return SqlError(number, "HY000", "planted")


# -- logs --------------------------------------------------------------------------------------------------------------

_GTID, _TABLE_MAP, _ROWS_QUERY = (33, 42), 19, 29
PARTIAL_UPDATE: Final = 39


def events(log: bytes) -> Iterator[tuple[int, int, int]]:
    """Type, start and end of each event."""
    at = 4
    while at < len(log):
        end = at + int.from_bytes(log[at + 9 : at + 13], "little")
        yield log[at + 4], at, end
        at = end


def transactions(log: bytes, schema: str, table: str) -> list[tuple[int, int]]:
    """Start and end of each transaction with rows of a table."""
    starts = [start for kind, start, _ in events(log) if kind in _GTID]
    spans = zip(starts, [*starts[1:], len(log)], strict=True)
    name = schema.encode() + b"\x00" + bytes([len(table)]) + table.encode() + b"\x00"
    return [(start, end) for start, end in spans if name in log[start:end] and bytes([_TABLE_MAP]) in log[start:end]]


def rewritten(log: bytes, schema: str, table: str, old: bytes, new: bytes, *, kind: int | None = None) -> bytes:
    """The log with bytes of one event of a table's transactions changed, and the event's checksum made right."""
    spans = transactions(log, schema, table)
    for type_, start, end in events(log):
        inside = any(first <= start < last for first, last in spans)
        fits = type_ not in (*_GTID, _ROWS_QUERY) and (kind is None or type_ == kind)
        if inside and fits and old in log[start:end]:
            body = log[start : end - 4].replace(old, new)
            assert len(body) == end - 4 - start
            return log[:start] + body + zlib.crc32(body).to_bytes(4, "little") + log[end:]
    raise AssertionError(f"no event holds {old!r}")


def relogged(log: bytes, schema: str, change: Callable[[RowsBody], RowsBody]) -> bytes:
    """The log with another form of the first rows event with diffs in this schema."""
    for event, (kind, start, end) in zip(read_events(log), events(log), strict=True):
        if kind == PARTIAL_UPDATE and isinstance(event.body, LazyRows) and event.body.map().schema == schema:
            head = event.header
            body = change(event.body.typed())
            made = encode_event(
                body, timestamp=head.timestamp, server_id=head.server_id, log_pos=head.log_pos, flags=head.flags
            )
            return log[:start] + made + log[end:]
    raise AssertionError("no event has diffs")
