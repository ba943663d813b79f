"""Documents stored and updated on a server, the facts about them, and the copy of their file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.lob_pages.judge import Change, KnownFile, KnownRow
from conformance.judge.updates.events import readable_events
from conformance.reference.binlog.rows import RowsBody
from conformance.servers.roles.data_files import OWN_FILE, table_file, transaction_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.servers.base import Server
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

WHOLE: Final = "SET SESSION binlog_row_image = FULL, SESSION binlog_row_value_options = ''"
COMPRESSED: Final = "ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 4"
COMPRESSED_PAGE: Final = 4096
# Chunks of 1024 hashes: the pages of so many fragments need a page of fragment entries (innodb-lob 10.2).
_CHUNKS: Final = 170
_HASHES: Final = 10  # in each chunk but the first one: what is left is compressed to a fragment
SMALLEST, LARGE, LARGEST = 9_000, 60_000, 260_000
_OFFSETS: Final = 6
_PAGES: Final = (
    "SELECT page_number, page_type FROM information_schema.innodb_buffer_page WHERE space = "
    "(SELECT space FROM information_schema.innodb_tablespaces WHERE name = CONCAT(DATABASE(), '/t'))"
)
_SPACE: Final = "SELECT space FROM information_schema.innodb_tablespaces WHERE name = CONCAT(DATABASE(), '/t')"


def create(connection: Connection, options: str = "ROW_FORMAT = DYNAMIC") -> None:
    """The table ``t`` with a file of its own."""
    connection.execute_many([WHOLE, f"CREATE TABLE t (id INT PRIMARY KEY, j JSON) {OWN_FILE} {options}"]).check()


def known_file(connection: Connection, *, page_size: int | None = None) -> KnownFile:
    """A copy of the table's file, and what INFORMATION_SCHEMA says of its space and its pages.

    ``page_size`` is that of a compressed table. The pages come first, as FLUSH TABLES FOR EXPORT takes them out of the
    buffer pool.
    """
    names = {int(at or 0): str(name) for at, name in connection.execute(_PAGES).texts()}
    space = connection.execute(_SPACE).number()
    data = table_file(connection)
    size = page_size or int(connection.variable("global.innodb_page_size") or 0)
    return KnownFile(data, size, space, names)


def stored_documents(events: Iterable[bytes]) -> Iterator[bytes]:
    """The stored bytes of column ``j`` in the after-image of each row, as the binary log has them."""
    for _, event in readable_events(events):
        if isinstance(event.body, RowsBody):
            for row in event.body.rows:
                assert row.after is not None
                document = row.after[1]
                assert isinstance(document, bytes)
                yield document


def store_chunks(connection: Connection, draw: Draw) -> None:
    """One document of many chunks: the first is hashes and takes pages of its own, each other one a fragment."""
    count, salt = _CHUNKS * 1024, draw.letters(8, "abcdefgh")
    query = (
        f"WITH RECURSIVE parts (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM parts WHERE n < {count}) "
        f"SELECT 1, JSON_OBJECT('p', GROUP_CONCAT(IF(n < 1024 OR MOD(n, 1024) < {_HASHES}, "
        f"SHA2(CONCAT(n, '{salt}'), 512), REPEAT('a', 128)) ORDER BY n SEPARATOR '')) FROM parts"
    )
    limits = "SET SESSION group_concat_max_len = 1 << 30, SESSION cte_max_recursion_depth = 1000000"
    connection.execute_many([limits, f"INSERT INTO t {query}"]).check()


def known_rows(server: Server, connection: Connection, draw: Draw, count: int) -> list[KnownRow]:
    """Insert rows in one transaction, and update every other one in a second one."""
    sizes = [
        SMALLEST + draw.below(LARGEST - SMALLEST if draw.below(8) == 0 else LARGE - SMALLEST) for _ in range(count)
    ]
    inserts = [
        f"INSERT INTO t VALUES ({row}, JSON_OBJECT('a', REPEAT('{draw.letters(7, 'abcdefgh')}', {size // 14}), "
        f"'s', REPEAT('s', 300), 'z', REPEAT('{draw.letters(7, 'abcdefgh')}', {size // 14})))"
        for row, size in enumerate(sizes)
    ]
    updated = range(1, count, 2)
    updates = [f"UPDATE t SET j = JSON_SET(j, '$.s', REPEAT('u', {101 + draw.below(199)})) WHERE id = {row}"
               for row in updated]  # fmt: skip
    changes: list[list[Change]] = [[] for _ in sizes]
    capture = server.capture()
    try:
        for rows, statements in ((range(count), inserts), (updated, updates)):
            start = capture.mark(connection)
            connection.execute_many(["BEGIN", *statements]).check()
            transaction = transaction_id(connection)
            connection.execute("COMMIT")
            images = stored_documents(capture.since(start, capture.mark(connection)).events)
            for undo, (row, image) in enumerate(zip(rows, images, strict=True)):
                changes[row].append(Change(transaction, undo, image))
    finally:
        capture.close()
    told = connection.execute("SELECT JSON_STORAGE_SIZE(j) FROM t ORDER BY id").texts()
    return [
        KnownRow(row, int(size or 0), tuple(done), tuple(draw.below(int(size or 0)) for _ in range(_OFFSETS)))
        for row, ((size,), done) in enumerate(zip(told, changes, strict=True))
    ]
