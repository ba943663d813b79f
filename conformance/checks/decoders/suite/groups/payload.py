"""Compressed transactions: TRANSACTION_PAYLOAD, with the events of a transaction inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, recorded

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, v VARCHAR(200))"
_ROW: Final = "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)), 'v')"
_WHY: Final = "Event 40 hides whole transactions from decoders that do not open it."


def _payload(
    name: str, title: str, *statements: str, why: str = _WHY, requirements: str = "DEC16", partial: bool = False,
    image: str = "FULL", metadata: str = "FULL", checksum: str = "CRC32", more: tuple[str, ...] = (), prepare: tuple[str, ...] = (_TABLE, _ROW),
) -> Recorded:  # fmt: skip
    return recorded(
        f"payload/{name}", title, why, requirements, prepare=prepare, statements=statements,
        setting=Setting(partial=partial, image=image, metadata=metadata, checksum=checksum, compressed=True, more=more),
    )  # fmt: skip


CASES: Final = (
    _payload("insert", "One INSERT inside", "INSERT INTO t VALUES (2, '[1]', REPEAT('x', 100))"),
    _payload("update", "An UPDATE with the option off", "UPDATE t SET v = 'new'"),
    _payload("delete", "A DELETE inside", "DELETE FROM t"),
    _payload("partial-inside", "A partial update inside", "UPDATE t SET j = JSON_SET(j, '$.a', 2)", partial=True, requirements="DEC16 DEC1", why="Event 39 inside of event 40: a decoder that opens the payload may still drop what it finds."),
    _payload("partial-list-inside", "Several diffs and a column behind them, inside", "UPDATE t SET j = JSON_SET(j, '$.a', 2, '$.b', 3), v = 'behind'", partial=True, requirements="DEC16 DEC2 DEC3"),
    _payload("partial-minimal-inside", "A partial update with MINIMAL image inside", "UPDATE t SET j = JSON_SET(j, '$.a', 2)", partial=True, image="MINIMAL", requirements="DEC16 DEC14"),
    _payload("no-json-inside", "An update without JSON columns under the option, inside", "UPDATE u SET a = 2", partial=True, requirements="DEC16 DEC1", prepare=("CREATE TABLE u (id INT PRIMARY KEY, a INT)", "INSERT INTO u VALUES (1, 1)")),
    _payload("several-events", "INSERT, UPDATE and DELETE of two tables in one payload", "BEGIN", "INSERT INTO u VALUES (1, 1)", "UPDATE t SET v = 'new'", "UPDATE u SET a = 2", "DELETE FROM t", "COMMIT", prepare=(_TABLE, _ROW, "CREATE TABLE u (id INT PRIMARY KEY, a INT)")),
    _payload("same-table-twice", "Two statements on one table, each with its own TABLE_MAP", "BEGIN", "UPDATE t SET v = 'one'", "UPDATE t SET v = 'two'", "COMMIT"),
    _payload("two-transactions", "Two payloads, one behind the other", "UPDATE t SET v = 'one'", "UPDATE t SET v = 'two'", why="After the first payload the stream goes on."),
    _payload("mixed", "Compressed and plain transactions in turn", "UPDATE t SET v = 'one'", "SET SESSION binlog_transaction_compression = OFF", "UPDATE t SET v = 'two'", "SET SESSION binlog_transaction_compression = ON", "UPDATE t SET v = 'three'", why="Compression is a session variable; positions count compressed bytes."),
    _payload("many-rows", "300 rows inside, in several events", "INSERT INTO t SELECT n, NULL, REPEAT('x', 100) FROM s WHERE n > 1", prepare=(_TABLE, _ROW, "SET SESSION cte_max_recursion_depth = 2000", "CREATE TABLE s (n INT)", "INSERT INTO s WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 301) SELECT n FROM c"), why="The payload decompresses to many times its size.", requirements="DEC16 DEC21"),
    _payload("rows-query", "A ROWS_QUERY event inside", "UPDATE t SET v = 'new'", more=("SET SESSION binlog_rows_query_log_events = ON",), requirements="DEC16 DEC20"),
    _payload("no-checksums", "A log without checksums", "UPDATE t SET v = 'new'", checksum="NONE", requirements="DEC16 DEC19", why="Events inside never have a checksum; the payload has one where the log has them."),
    _payload("with-checksums", "Several events inside of a log with checksums", "UPDATE t SET v = 'new', j = NULL", requirements="DEC16 DEC19", why="Events inside have no checksum although the log's events have: four bytes cut off each row event are lost."),
    _payload("metadata-minimal", "Without column names", "UPDATE t SET v = 'new'", metadata="MINIMAL", requirements="DEC16 DEC15"),
    _payload("level-22", "The highest compression level", "INSERT INTO t VALUES (2, NULL, REPEAT('abcdefgh', 25))", more=("SET SESSION binlog_transaction_compression_level_zstd = 22",), why="zstd frames of another level have another window."),
    _payload("level-1", "The lowest compression level", "INSERT INTO t VALUES (2, NULL, REPEAT('abcdefgh', 25))", more=("SET SESSION binlog_transaction_compression_level_zstd = 1",)),
    _payload("document-of-100-kb", "A document of 100,000 bytes inside", "INSERT INTO t VALUES (2, JSON_OBJECT('pad', REPEAT('p', 100000), 'z', 1), 'v')", requirements="DEC16 DEC7", why="Small in the log, large in memory."),
)  # fmt: skip
