"""Generated changes of JSON documents on a real server, and the images of them in its binary log."""

from __future__ import annotations

import json
import os
import random
from contextlib import ExitStack, contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.innodb.large_values import table_objects
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.innodb.undo.log import UndoTablespaces
from conformance.reference.innodb.undo.row_versions import RowHistory, row_versions
from conformance.servers.roles.data_files import pages_written, undo_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.servers.wire.capture import Captured
    from conformance.servers.wire.connection import Connection

FORMATS: Final = {
    "DYNAMIC": "ROW_FORMAT=DYNAMIC",
    "COMPACT": "ROW_FORMAT=COMPACT",
    "REDUNDANT": "ROW_FORMAT=REDUNDANT",
    "COMPRESSED": "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
}
COLUMNS: Final = "id INT PRIMARY KEY, j JSON, n INT, k JSON, v VARCHAR(600), t TEXT"
JSON_COLUMNS: Final = ("j", "k")
MEMBERS: Final = 8
OTHER: Final = 10  # a row may also have its number + 10 for a key
_SIZES: Final = (25, 250, 900, 2500, 6000, 25000)


class Image(NamedTuple):
    """A row after a change, as the binary log has it: the bytes of the JSON columns."""

    change: str
    values: tuple[bytes | None, ...]


class Workload:
    """Draws statements for a table of few rows: small and large changes, rewrites, deletes, transactions.

    ``keys``: change keys too, and roll nothing back. 9.7.4 cannot roll back small changes behind a change of the key
    (innodb-lob 8.4).
    """

    def __init__(self, seed: str, *, keys: bool, rows: int = 4) -> None:
        self._draw = random.Random(f"{seed} {keys}")
        self._rows, self._keys = rows, keys

    def statements(self, count: int) -> Iterator[str]:
        """``count`` changes, some of them in transactions, with savepoints and rollbacks."""
        for row in range(self._rows):
            yield self._insert(row)
        done = 0
        while done < count:
            draw = self._draw.random()
            if draw > 0.2:
                yield self._change()
                done += 1
                continue
            size = self._draw.randrange(2, 5)
            yield "BEGIN"
            for number in range(size):
                yield self._change()
                if draw < 0.1 and number == 0:
                    yield "SAVEPOINT s"
            if draw < 0.1 and not self._keys:
                yield "ROLLBACK TO SAVEPOINT s"
                yield self._change()
            yield "ROLLBACK" if draw < 0.05 and not self._keys else "COMMIT"
            done += size

    def _insert(self, row: int) -> str:
        return (
            f"INSERT INTO t VALUES ({row}, '{self._document()}', {row}, '{self._document()}',"
            f" REPEAT('v', {self._draw.randrange(600)}), REPEAT('t', {self._draw.choice((10, 300, 20000))}))"
            " ON DUPLICATE KEY UPDATE n = n + 1"
        )

    def _document(self) -> str:
        size = self._draw.choice(_SIZES)
        return json.dumps({f"k{number}": "abcdefgh"[number] * size for number in range(MEMBERS)} | {"n": 7})

    def _change(self) -> str:
        draw, row = self._draw, self._draw.randrange(self._rows)
        kind, here = draw.random(), f"id IN ({row}, {row + OTHER})"
        if kind < 0.06:
            return f"DELETE FROM t WHERE {here}"
        if kind < 0.16:
            return self._insert(row)
        if kind < 0.24:
            return f"UPDATE t SET {draw.choice(JSON_COLUMNS)} = '{self._document()}' WHERE {here}"
        if kind < 0.29 and self._keys:
            return f"UPDATE IGNORE t SET id = IF(id < {OTHER}, id + {OTHER}, id - {OTHER}) WHERE {here}"
        if kind < 0.32:
            return f"UPDATE t SET {draw.choice(JSON_COLUMNS)} = NULL WHERE {here}"
        changes = [f"{name} = {self._call(name)}" for name in JSON_COLUMNS if draw.random() < 0.7]
        if not changes or draw.random() < 0.15:
            changes.append(f"v = REPEAT('{draw.choice('wxyz')}', {draw.randrange(600)})")
        if draw.random() < 0.1:
            changes.append(f"t = REPEAT('{draw.choice('wxyz')}', {draw.choice((5, 300, 20000))})")
        return f"UPDATE t SET {', '.join(changes)} WHERE {here}"

    def _call(self, column: str) -> str:
        draw, call = self._draw, column
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            path = f"'$.k{draw.randrange(MEMBERS)}'"
            if draw.random() < 0.05:
                call = f"JSON_REMOVE({call}, {path})"
            elif draw.random() < 0.2:
                call = f"JSON_SET({call}, '$.n', {draw.randrange(30000)})"
            else:
                length = draw.choice((1, 10, 20, 20, 50, 98, 99, 100, 800, 5000))
                call = f"JSON_REPLACE({call}, {path}, REPEAT('{draw.choice('mnopqrstuvwxyz')}', {length}))"
        return call


def images(captured: Captured, columns: Sequence[int], table: str = "t") -> dict[int, list[Image]]:
    """Each row's images in the order of the changes, by the key in the first column; a deleted row has its last one.

    A change of the key is a delete and an insert.
    """
    found: dict[int, list[Image]] = {}
    for event in read_events(BytesIO(captured.file_bytes()), expand=True):
        body = event.body
        if not isinstance(body, LazyRows) or body.table is None or body.table.table != table:
            continue
        for row in body.rows():
            before, after = row.before, row.after
            if before is not None and (after is None or after[0] != before[0]):
                found.setdefault(_key(before), []).append(_image("DELETE", before, columns))
            if after is not None:
                change = "UPDATE" if before is not None and after[0] == before[0] else "INSERT"
                found.setdefault(_key(after), []).append(_image(change, after, columns))
    return found


def _key(image: tuple[Any, ...]) -> int:
    return int(image[0])


def _image(change: str, image: tuple[Any, ...], columns: Sequence[int]) -> Image:
    return Image(change, tuple([None if image[at] is None else bytes(image[at]) for at in columns]))


@contextmanager
def opened(paths: Sequence[Path]) -> Iterator[list[Tablespace]]:
    """Tablespaces over files that nothing writes to."""
    with ExitStack() as stack:
        spaces = []
        for path in paths:
            file = stack.enter_context(path.open("rb"))

            def window(offset: int, count: int, file: int = file.fileno()) -> bytes:
                return os.pread(file, count, offset)

            spaces.append(Tablespace(window, path.stat().st_size))
        yield spaces


@contextmanager
def histories(session: Connection, data_file: Path) -> Iterator[list[RowHistory]]:
    """The history of each row of a table, from its data file and all undo tablespaces of the server."""
    folder = data_file.parents[1]
    with (
        pages_written(session),
        opened([data_file, *(folder / name for name in undo_files(session))]) as (space, *undo),
    ):
        yield list(row_versions(space, table_objects(space), UndoTablespaces(undo)))
