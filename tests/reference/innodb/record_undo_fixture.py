"""Record the fixture of the undo log on a real server: ``python -m tests.reference.innodb.record_undo_fixture``.

Two tables, whose rows change in every way that matters; of the undo tablespaces the pages that a reader needs, all
others are zero. ``undo.json.gz`` has the images of the binary log.
"""

from __future__ import annotations

import gzip
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Final

from conformance.reference.innodb.large_values import table_objects
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.innodb.undo.log import UndoTablespaces, rollback_segments
from conformance.reference.innodb.undo.row_versions import row_versions
from conformance.servers.auto import find_installation
from conformance.servers.roles.data_files import pages_written, undo_files
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec
from conformance.servers.wire.capture import Capture
from tests.reference.innodb.fixture_files import DATA
from tests.reference.innodb.undo_workload import images

TABLES: Final = {"dynamic": "ROW_FORMAT=DYNAMIC", "compact": "ROW_FORMAT=COMPACT"}
COLUMNS: Final = (1, 3)
STATEMENTS: Final = (
    "INSERT INTO {t} VALUES (1, JSON_OBJECT('a', 1, 'z', REPEAT('x', 20000)), 'v', JSON_OBJECT('y', REPEAT('q', 900)))",
    "INSERT INTO {t} VALUES (2, JSON_OBJECT('a', 'b'), NULL, NULL), (4, NULL, 'kept', NULL)",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 2) WHERE id = 1",
    "BEGIN",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 3) WHERE id = 1",
    "UPDATE {t} SET j = JSON_SET(j, '$.z', REPEAT('x', 19990)), k = JSON_SET(k, '$.y', 'r') WHERE id = 1",
    "COMMIT",
    "UPDATE {t} SET v = 'new' WHERE id = 1",
    "BEGIN",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 4) WHERE id = 1",
    "ROLLBACK",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 5) WHERE id = 1",
    "UPDATE {t} SET j = JSON_OBJECT('whole', REPEAT('w', 9000)) WHERE id IN (1, 2)",
    "UPDATE {t} SET j = JSON_SET(j, '$.whole', REPEAT('W', 50)) WHERE id = 2",
    "UPDATE {t} SET k = NULL WHERE id = 1",
    "UPDATE {t} SET id = 3 WHERE id = 2",
    "UPDATE {t} SET j = JSON_SET(j, '$.whole', REPEAT('V', 40)) WHERE id = 3",
    "DELETE FROM {t} WHERE id = 1",
    "INSERT INTO {t} VALUES (1, JSON_OBJECT('again', TRUE), 'back', NULL)",
    "DELETE FROM {t} WHERE id = 4",
    "INSERT INTO {t} VALUES (5, JSON_OBJECT('a', 'begin', 'z', REPEAT('x', 9000)), NULL, NULL)",
    "BEGIN",
    "UPDATE {t} SET id = 6, v = 'six' WHERE id = 5",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 'six') WHERE id = 6",
    "UPDATE {t} SET id = 7 WHERE id = 6",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 'seven') WHERE id = 7",
    "UPDATE {t} SET id = 5 WHERE id = 7",
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 'five') WHERE id = 5",
    "COMMIT",
    (
        "INSERT INTO {t} VALUES (8, JSON_OBJECT('a', 1, 'z', REPEAT('x', 9000)), 'v', JSON_OBJECT('a', 2,"
        " 'z', REPEAT('q', 9100)))"
    ),
    "UPDATE {t} SET j = JSON_SET(j, '$.a', 3), k = JSON_SET(k, '$.a', 4) WHERE id = 8",
)


def main() -> None:
    with launch(find_installation(parse_spec("process"), narrate=print)) as server, server.connect() as one:
        one.execute("CREATE DATABASE fx")
        one.execute("USE fx")
        one.execute("SET SESSION binlog_row_image = FULL, binlog_row_value_options = ''")
        expected: dict[str, dict[int, list[tuple[str, list[str | None]]]]] = {}
        with server.connect() as reader, closing(Capture(server)) as log:
            start = log.mark(one)
            for table, options in TABLES.items():
                one.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, j JSON, v VARCHAR(20), k JSON) {options}")
            reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            for statement in STATEMENTS:
                for table in TABLES:
                    one.execute(statement.format(t=table))
                    if statement in {"BEGIN", "COMMIT", "ROLLBACK"}:
                        break
            captured = log.since(start)
            for table in TABLES:
                expected[table] = {
                    key: [(each.change, [value if value is None else value.hex() for value in each.values])
                          for each in found]
                    for key, found in images(captured, COLUMNS, table).items()
                }  # fmt: skip
            one.execute("BEGIN")  # stays open
            one.execute("UPDATE dynamic SET v = 'open' WHERE id = 3")
            folder = Path(str(one.execute("SELECT @@datadir").scalar()))
            with pages_written(one):
                _write(
                    [folder / "fx" / f"{table}.ibd" for table in TABLES], [folder / name for name in undo_files(one)]
                )
        _store("undo.json", json.dumps(expected).encode())


def _write(files: list[Path], undo: list[Path]) -> None:
    """The data files whole, and the undo tablespaces with the pages that were read."""
    read: dict[Path, set[int]] = {path: set() for path in undo}

    def opened(path: Path) -> Tablespace:
        def window(offset: int, count: int) -> bytes:
            if path in read:
                read[path].add(offset // 16384)
            with path.open("rb") as file:
                return os.pread(file.fileno(), count, offset)

        return Tablespace(window, path.stat().st_size)

    spaces = [opened(path) for path in undo]
    for space in spaces:
        list(rollback_segments(space))
    for path in files:
        space = opened(path)
        list(row_versions(space, table_objects(space), UndoTablespaces(spaces)))
        _store(f"undo_{path.name}", path.read_bytes())
    for path in undo:
        data, size = path.read_bytes(), 16384 * (max(read[path]) + 1)
        kept = [data[at : at + 16384] if at // 16384 in read[path] else bytes(16384) for at in range(0, size, 16384)]
        _store(path.name, b"".join(kept))


def _store(name: str, data: bytes) -> None:
    (DATA / f"{name}.gz").write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main()
