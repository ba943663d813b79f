"""Faults that explore must see, each by the oracle that is due: a table, planted by ``test_faults.py``.

No source text is altered. Rows and files of one server are, and answers on their way to the kit. So are statements on
their way to the server, and the logs that mysqlbinlog and the kit get.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.explore import episode, followers
from conformance.explore.oracles import growth
from conformance.reference.binlog.images import Row as RowImages
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson
from conformance.servers.run.process import ProcessServer
from tests.explore.bench import PARTIAL_UPDATE, Altered, Bench, refused, relogged, rewritten, transactions
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from conformance.reference.binlog.rows import RowsBody
    from conformance.servers.wire.packets import Result, Row

Rows = Callable[[tuple["Row", ...]], tuple["Row", ...]]


def _fault(
    name: str, oracle: str, kind: str, plant: Callable[[Bench], None], before: str = "", *, alone: bool = False
) -> Fault:
    """A fault for which an ``oracle`` is due, with a ``kind`` that fits this pattern.

    ``before``: the shape of the step at which it is planted; else at the last look. ``alone``: in a world without a
    replica, which would see it first.
    """
    return Fault(name, "", name.replace("-", " "), plant, oracle, at=before, says=kind, run={"alone": alone})


# -- ways to plant -----------------------------------------------------------------------------------------------------


def _replica(name: str, kind: str, *statements: str, side: str = "x", before: str = "") -> Fault:
    """The replica's own tables are changed."""
    return _fault(f"replica-{name}", "replica", kind, lambda bench: bench.on_replica(*statements, side=side), before)


def _source(name: str, oracle: str, kind: str, *statements: str, sides: str, alone: bool = False) -> Fault:
    """Tables of the source are changed, and its log does not say so."""
    return _fault(name, oracle, kind, lambda bench: bench.on_source(*statements, sides=sides), alone=alone)


def _answer(name: str, kind: str, side: str, before: str, change: Callable[[Result], Result]) -> Fault:
    """One side gets another answer to one statement."""

    def plant(bench: Bench) -> None:
        bench.alter_session(side, answer=lambda _, result: change(result))

    return _fault(f"twin-{name}", "twin", kind, plant, before)


def _sent(name: str, oracle: str, kind: str, sides: str, before: str, change: Callable[[str], str]) -> Fault:
    """A statement reaches the server as another one."""

    def plant(bench: Bench) -> None:
        for side in sides:
            bench.alter_session(side, send=change)

    return _fault(name, oracle, kind, plant, before)


def _own(name: str, oracle: str, kind: str, words: tuple[str, ...], change: Rows, *, side: str = "x") -> Fault:
    """The oracles' session gets other rows for the queries that hold these words."""

    def plant(bench: Bench) -> None:
        place = f"`{bench.world.schema(side)}`."

        def answer(sql: str, result: Result) -> Result:
            fits = place in sql and all(word in sql for word in words)
            return replace(result, rows=change(result.rows)) if fits else result

        bench.alter_own(answer)

    return _fault(name, oracle, kind, plant)


def _log(name: str, kind: str, change: Callable[[bytes, str], bytes]) -> Fault:
    """The log that mysqlbinlog gets is changed."""
    return _fault(f"log-{name}", "mysqlbinlog", kind, lambda bench: bench.alter_log(change))


def _stream(name: str, kind: str, change: Callable[[bytes, str], bytes]) -> Fault:
    """The log that the kit's replay gets is changed."""
    return _fault(f"stream-{name}", "apply", kind, lambda bench: bench.alter_stream(change))


def _relogged(name: str, kind: str, change: Callable[[RowImages, int], tuple[RowImages, ...]]) -> Fault:
    """The log has another form of an update that changes the same rows.

    ``change`` takes a row and the place of its column with diffs.
    """

    def changed(body: RowsBody) -> RowsBody:
        (row,) = body.rows
        assert row.after is not None
        place = next(at for at, value in enumerate(row.after) if isinstance(value, PartialJson))
        return replace(body, rows=change(row, place))

    def plant(bench: Bench) -> None:
        bench.alter_stream(lambda log, schema: relogged(log, schema, changed))

    return _fault(f"prediction-{name}", "prediction", kind, plant)


def _with(row: RowImages, place: int, value: PartialJson | bytes) -> RowImages:
    """The row with another value in its after image."""
    assert row.after is not None
    return RowImages(row.before, (*row.after[:place], value, *row.after[place + 1 :]))


def _document(row: RowImages, place: int) -> bytes:
    """The document after the row's diffs."""
    assert row.before is not None
    assert row.after is not None
    before, after = row.before[place], row.after[place]
    assert isinstance(before, bytes)
    assert isinstance(after, PartialJson)
    made = apply_field(before, after.diffs)
    assert made is not None
    return made


def _logged_whole(row: RowImages, place: int) -> tuple[RowImages, ...]:
    return (_with(row, place, _document(row, place)),)


def _path_in_quotes(row: RowImages, place: int) -> tuple[RowImages, ...]:
    """A diff of ``$.a`` names it ``$."a"``, which means the same."""
    assert row.after is not None
    value = row.after[place]
    assert isinstance(value, PartialJson)
    assert value.diffs[1:5] == b"\x03$.a"
    return (_with(row, place, PartialJson(value.diffs[:1] + b'\x05$."a"' + value.diffs[5:])),)


def _logged_again(row: RowImages, place: int) -> tuple[RowImages, ...]:
    """The row follows once more, as it is now: nothing changes."""
    assert row.before is not None
    assert row.after is not None
    now = tuple(_document(row, place) if at == place else value for at, value in enumerate(row.after))
    return (row, RowImages(now, (*now[:place], PartialJson(b""), *now[place + 1 :])))


def _option_not_heard(bench: Bench) -> None:
    """The session does not log diffs, and nobody told it so."""
    bench.world.session(0, "x").execute("SET SESSION binlog_row_value_options = ''")


def _refuse(result: Result) -> Result:
    raise refused(1213)


def _accept(bench: Bench) -> None:
    bench.alter_session("x", send=lambda sql: sql.replace("INSERT INTO", "INSERT IGNORE INTO"))


def _less(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return rows[:-1]


def _more(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return (*rows, rows[-1])


def _turned(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return rows[::-1]


def _stale(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(tuple(value and value.replace(b"changed", b"value 2") for value in row) for row in rows)


def _corrupt(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    table, operation, _, _ = rows[0]
    return ((table, operation, b"error", b"Corrupt"), *rows[1:])


def _entries(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    table, operation, _, _ = rows[0]
    return ((table, operation, b"warning", b"InnoDB: Index multi contains 9 entries, should be 8."), *rows)


# -- single plants -----------------------------------------------------------------------------------------------------


def _skipped(*before: str) -> Callable[[Bench], None]:
    """The replica takes the next transactions of the source for applied."""

    def plant(bench: Bench) -> None:
        bench.caught_up()
        own = bench.world.own
        uuid = own.variable("global.server_uuid") or ""
        last = int((own.variable("global.gtid_executed") or "").rpartition("-")[2].rpartition(":")[2])
        for side in before:
            number = last + 1 + "xy".index(side)
            bench.pair.connection.execute_many(
                [f"SET gtid_next = '{uuid}:{number}'", "BEGIN", "COMMIT", "SET gtid_next = 'AUTOMATIC'"]
            ).check()

    return plant


def _applied_twice(bench: Bench) -> None:
    """The last insert into the table without a key goes to the replica a second time, as mysqlbinlog prints it."""
    bench.caught_up()
    source, schema = bench.world.source, bench.world.schema("x")
    assert bench.world.start is not None
    name = bench.world.start.file
    log = source.files.read(name)
    start, end = transactions(log, schema, "t1")[-1]
    words = ["--no-defaults", "--skip-gtids", "--disable-log-bin", f"--start-position={start}"]
    words += [f"--stop-position={end}", name]
    printed = source.run_program("mysqlbinlog", words, files={name: log})
    fed = bench.pair.replica.run_program("mysql", ["--binary-mode"], login=True, stdin=printed.stdout)
    assert (printed.returncode, fed.returncode) == (0, 0), fed.words


def _late(bench: Bench) -> None:
    """The applier stands still, without an error."""
    bench.caught_up()
    bench.patch(followers, "CATCH_UP_SECONDS", 0.5)
    bench.pair.connection.execute("STOP REPLICA SQL_THREAD")


def _replica_killed(bench: Bench) -> None:
    assert isinstance(bench.pair.replica, ProcessServer)
    bench.pair.replica.kill()


def _source_killed(bench: Bench) -> None:
    bench.world.source.kill()


def _replica_lies(bench: Bench) -> None:
    bench.alter_replica(lambda sql, result: replace(result, rows=_less(result.rows)) if "`t1`" in sql else result)


def _snapshot_moves(bench: Bench) -> None:
    """The snapshot becomes one of the present."""
    connection = bench.snapshot()._connection
    connection.execute("COMMIT")
    connection.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")


def _snapshot_uncommitted(bench: Bench) -> None:
    """The reader sees what another session has not committed."""
    connection = bench.snapshot()._connection
    connection.execute("COMMIT")
    connection.execute("SET SESSION transaction_isolation = 'READ-UNCOMMITTED'")


def _snapshot_loses(bench: Bench) -> None:
    snapshot = bench.snapshot()
    true = snapshot._connection
    snapshot._connection = Altered(true, answer=lambda _, result: replace(result, rows=_less(result.rows)))


def _slow(bench: Bench) -> None:
    def answer(_: str, result: Result) -> Result:
        time.sleep(0.3)
        return result

    bench.patch(episode, "SLOW_SECONDS", 0.2)
    bench.alter_session("x", answer=answer)


def _unreadable(bench: Bench) -> None:
    def answer(sql: str, result: Result) -> Result:
        if "`t1`" in sql:
            raise refused(1030)
        return result

    bench.alter_own(answer)


def _dropped(log: bytes, schema: str) -> bytes:
    start, end = transactions(log, schema, "t1")[-1]
    return log[:start] + log[end:]


def _doubled(table: str) -> Callable[[bytes, str], bytes]:
    def change(log: bytes, schema: str) -> bytes:
        start, end = transactions(log, schema, table)[-1 if table == "t1" else 0]
        return log[:end] + log[start:end] + log[end:]

    return change


def _swapped(log: bytes, schema: str) -> bytes:
    """The transaction that removes a member, and the deletion of a row before all rows are there."""
    (a, b), *_, (c, d) = transactions(log, schema, "t0")
    return log[:a] + log[c:d] + log[b:c] + log[a:b] + log[d:]


# -- the table ---------------------------------------------------------------------------------------------------------

FAULTS: Final = (
    # The replica has other rows, another definition, or stands still.
    _replica("row-changed", "rows: value", "UPDATE t0 SET c = 'other' WHERE id = 2"),
    _replica("row-deleted", "rows: rows", "DELETE FROM t0 WHERE id = 6"),
    _replica("row-added", "rows: rows", "INSERT INTO t0 (id, j) VALUES (99, '{}')"),
    _replica("json-member-changed", "rows: .*json", "UPDATE t0 SET j = JSON_SET(j, '$.arr[0]', 77) WHERE id = 6"),
    _replica("json-number-type-changed", "rows: json", "UPDATE t1 SET j = NULL WHERE id = 6",
             """UPDATE t1 SET j = '{"a": "value 6", "b": 6.0, "arr": [6, 7]}' WHERE id = 6"""),
    _replica("json-type-changed", "rows: json", """UPDATE t1 SET j = '{"a": "2024-02-29"}' WHERE id = 7"""),
    _replica("null-for-a-document", "rows: json", "UPDATE t1 SET j = NULL WHERE id = 9"),
    _replica("twin-row-changed", "rows of the twin", "UPDATE t0 SET c = 'other' WHERE id = 2", side="y"),
    _replica("generated-value-changed", "rows: generated",
             "ALTER TABLE t0 MODIFY s INT AS (JSON_LENGTH(j) + 1) STORED"),
    _replica("table-missing", "reading 1146", "DROP TABLE t1"),
    _replica("column-missing", "reading 1054", "ALTER TABLE t0 DROP COLUMN g"),
    _replica("row-not-found", "stopped 1032", "DELETE FROM t0 WHERE id = 5", before="delete"),
    _replica("key-taken", "stopped 1062", "ALTER TABLE t1 ADD UNIQUE (id)", "INSERT INTO t1 (id) VALUES (9)",
             before="insert-again"),
    _replica("document-diverged", "stopped|rows", "UPDATE t0 SET j = '[]' WHERE id = 2", before="update"),
    _replica("column-of-another-type", "stopped", "ALTER TABLE t1 DROP j, ADD j INT", before="insert-again"),
    _replica("index-missing", "definition", "ALTER TABLE t0 DROP INDEX plain"),
    _replica("index-of-another-expression", "definition", "ALTER TABLE t0 DROP INDEX functional",
             "ALTER TABLE t0 ADD INDEX functional ((CAST(j->>'$.b' AS CHAR(40))))"),
    _replica("table-of-another-engine", "definition", "ALTER TABLE t1 ENGINE = MyISAM"),
    _fault("replica-index-file-stale", "replica", "index: rows of a plain index", lambda bench: bench.alter_file(
        "t2.MYI", lambda data: data.replace(b"second", b"sedond"), replica=True)),
    _fault("replica-transaction-skipped", "replica", "rows", _skipped("x"), "delete"),
    _fault("replica-twin-transaction-skipped", "replica", "rows of the twin", _skipped("y"), "delete"),
    _fault("replica-diffs-skipped", "replica", "rows: json and value|rows: generated", _skipped("x"), "update"),
    _fault("replica-applied-twice", "replica", "rows: rows", _applied_twice),
    _fault("replica-late", "replica", "late", _late, "delete"),
    _fault("replica-answer-short", "replica", "rows: rows", _replica_lies),
    _fault("replica-killed", "died", "replica", _replica_killed),
    # The twin has other rows or another answer.
    _source("twin-row-changed", "twin", "rows: value", "UPDATE t0 SET c = 'other' WHERE id = 2", sides="y"),
    _source("twin-row-deleted", "twin", "rows: rows", "DELETE FROM t1 WHERE id = 2", sides="y"),
    _source("twin-row-added", "twin", "rows: rows", "INSERT INTO t2 (id) VALUES (1)", sides="y"),
    _source("base-json-member-changed", "twin", "json",
            "UPDATE t0 SET j = JSON_SET(j, '$.c', 1) WHERE id = 3", sides="x"),
    _own("twin-generated-value-stale", "twin", "rows: generated value", ("`t0`", "`g`"), _stale, side="y"),
    _answer("error-missing", "error 0/1213", "y", "insert-ignore", _refuse),
    _answer("error-alone", "error 1213/0", "x", "select-count", _refuse),
    _fault("twin-refusal-lost", "twin", "error 0/1062", _accept, "refused"),
    _answer("warning-lost", "warnings", "y", "insert-ignore", lambda result: replace(result, warnings=0)),
    _answer("query-row-lost", "answer", "x", "select", lambda result: replace(result, rows=_less(result.rows))),
    _answer("query-order", "answer", "y", "select", lambda result: replace(result, rows=_turned(result.rows))),
    _answer("query-stale", "answer", "x", "select", lambda result: replace(result, rows=_stale(result.rows))),
    # Commits that are lost, or done twice.
    _sent("commit-lost", "twin", "rows", "x", "commit", lambda sql: sql.replace("COMMIT", "ROLLBACK")),
    _sent("statement-lost", "twin", "rows", "y", "delete", lambda sql: sql.replace("DELETE FROM t0", "DO 1 #")),
    _sent("retry-applied-twice", "twin", "answer", "x", "insert-again",
          lambda sql: sql.replace("VALUES", "VALUES (9, NULL),")),
    _source("commit-lost-behind-the-log", "replica", "rows", "DELETE FROM t1 WHERE id = 9", sides="xy"),
    _source("commit-lost-behind-the-log-alone", "mysqlbinlog", "rows", "DELETE FROM t1 WHERE id = 9", sides="xy",
            alone=True),
    _fault("commit-not-logged", "replica", "rows", lambda bench: bench.on_source(
        "INSERT INTO t1 (id, j) VALUES (10, '{}')", sides="xy")),
    _fault("commit-not-logged-alone", "mysqlbinlog", "rows", lambda bench: bench.on_source(
        "INSERT INTO t1 (id, j) VALUES (10, '{}')", sides="xy"), alone=True),
    # An index, a generated column, a snapshot.
    _own("index-row-lost", "index", "rows of a plain index", ("`t0`", "FORCE INDEX (`plain`)"), _less),
    _own("index-row-twice", "index", "rows of a plain index", ("`t2`", "FORCE INDEX (`plain`)"), _more),
    _own("index-order", "index", "order of a functional index", ("FORCE INDEX (`functional`)",), _turned),
    _own("index-value-stale", "index", "rows of a functional index", ("FORCE INDEX (`functional`)",), _stale),
    _own("index-member-lost", "index", "rows of a multi-valued index", ("FORCE INDEX (`multi`)",), _less),
    _own("index-member-stale", "index", "rows of a multi-valued index", ("FORCE INDEX (`multi`)",), _more),
    _fault("index-file-stale", "index", "rows of a plain index", lambda bench: bench.alter_file(
        "t2.MYI", lambda data: data.replace(b"second", b"sedond"), sides="x")),
    _own("check-table-corrupt", "check-table", "error: Corrupt", ("CHECK TABLE",), _corrupt),
    _own("check-table-entries", "check-table", "entries", ("CHECK TABLE",), _entries, side="y"),
    _fault("check-table-key-file", "check-table", "", lambda bench: bench.alter_file(
        "t2.MYI", lambda data: data.replace((1002).to_bytes(4, "big"), (1022).to_bytes(4, "big")), sides="x")),
    _own("generated-copy-differs", "generated", "generated value", ("binlog_lab_copy", "SELECT `id`, "), _stale),
    _fault("generated-file-stale", "generated", "generated value", lambda bench: bench.alter_file(
        "t2.MYD", lambda data: data.replace(b"second!", b"zecond!"), sides="xy"), alone=True),
    _own("fulltext-row-lost", "fulltext", "rows", ("`t0`", "MATCH"), _less),
    _own("fulltext-row-stale", "fulltext", "rows", ("`t0`", "MATCH"), _stale),
    _own("fulltext-copy-has-more", "fulltext", "rows", ("binlog_lab_words", "MATCH"), _more),
    _fault("snapshot-moves", "snapshot", "rows", _snapshot_moves),
    _fault("snapshot-uncommitted", "snapshot", "rows", _snapshot_uncommitted),
    _fault("snapshot-row-lost", "snapshot", "rows", _snapshot_loses),
    # The log.
    _log("transaction-dropped", "rows: rows", _dropped),
    _log("transaction-twice", "rows: rows", _doubled("t1")),
    _log("transaction-twice-with-key", "error 1062", _doubled("t0")),
    _log("order-changed", "error 1032", _swapped),
    _log("value-changed", "rows: value", lambda log, schema: rewritten(log, schema, "t0", b"text 6", b"text 7")),
    _log("member-changed", "rows: json", lambda log, schema: rewritten(log, schema, "t1", b"twice", b"twicE")),
    _log("diff-value-changed", "rows: ", lambda log, schema: rewritten(
        log, schema, "t0", b"changed", b"chanGed", kind=PARTIAL_UPDATE)),
    _log("diff-path-changed", "rows: |error", lambda log, schema: rewritten(
        log, schema, "t0", b"$.a", b"$.b", kind=PARTIAL_UPDATE)),
    _log("cut", "print|rows", lambda log, schema: log[: transactions(log, schema, "t1")[-1][1] - 60]),
    _log("no-magic", "print", lambda log, _: b"\x00" + log[1:]),
    _stream("transaction-dropped", "rows", _dropped),
    _stream("transaction-twice", "rows", _doubled("t1")),
    _stream("value-changed", "rows", lambda log, schema: rewritten(log, schema, "t0", b"text 6", b"text 7")),
    _stream("diff-value-changed", "rows", lambda log, schema: rewritten(
        log, schema, "t0", b"changed", b"chanGed", kind=PARTIAL_UPDATE)),
    # The bytes of an update, where the rows are right.
    _relogged("document-for-diffs", "form", _logged_whole),
    _relogged("path-in-quotes", "diffs", _path_in_quotes),
    _relogged("row-that-does-not-change", "unchanged row", _logged_again),
    _fault("prediction-option-not-heard", "prediction", "event", _option_not_heard, "update"),
    # The server.
    _fault("memory-grows", "growth", "memory", lambda bench: bench.patch(growth, "LIMIT", 1 << 20)),
    _fault("source-killed", "died", "source", _source_killed, "inside"),
    _fault("source-killed-at-the-end", "died", "source", _source_killed),
    _fault("statement-slow", "time", "slow select-count", _slow, "select-count"),
    _fault("reading-refused", "reading", "error 1030", _unreadable),
    _fault("reading-file-gone", "reading", "error", lambda bench: bench.alter_file("t2.MYD", None, sides="x")),
)  # fmt: skip
