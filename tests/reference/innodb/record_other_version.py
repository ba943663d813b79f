"""Record the data file of another version: ``python -m tests.reference.innodb.record_other_version MYSQLD``.

Writes ``tests/data/innodb-VERSION``: a table's ``.ibd`` and ``.cfg`` as the server exported them, what its own ibd2sdi
prints, and its rows by SQL. The documents were changed in place, as diffs, by small and large changes, and inside and
outside of the record.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.servers.install.installation import from_path
from conformance.servers.run.process import launch

if TYPE_CHECKING:
    from conformance.servers.wire.connection import Connection

DATA: Final = Path(__file__).parents[2] / "data"
CREATE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, n INT) ROW_FORMAT=DYNAMIC"
STATEMENTS: Final = (
    'INSERT INTO t VALUES (1, \'{"a": 1, "b": [true, null, 1.5, "text"]}\', 0)',
    "INSERT INTO t VALUES (2, JSON_OBJECT('a', REPEAT('x', 20000), 'b', REPEAT('y', 30000), 'c', 1), 0)",
    "INSERT INTO t VALUES (3, JSON_OBJECT('a', REPEAT('x', 20000), 'b', REPEAT('y', 30000), 'c', 1), 0)",
    "INSERT INTO t VALUES (4, JSON_OBJECT('d', CAST('2020-02-29' AS DATE), 't', TIME'12:34:56', 'm', 1.50), 0)",
    "INSERT INTO t VALUES (5, NULL, 0)",
    "UPDATE t SET j = JSON_SET(j, '$.a', 2) WHERE id IN (1, 4)",
    "UPDATE t SET j = JSON_SET(j, '$.c', 7) WHERE id = 2",
    "UPDATE t SET j = JSON_SET(j, '$.b', REPEAT('z', 25000)) WHERE id = 3",
    "UPDATE t SET j = JSON_REMOVE(j, '$.a') WHERE id = 3",
    "UPDATE t SET j = JSON_REPLACE(j, '$.b[3]', 'x') WHERE id = 1",
)
ROWS: Final = "SELECT id, j, JSON_STORAGE_SIZE(j), JSON_STORAGE_FREE(j), SHA2(CAST(j AS CHAR), 256) FROM t ORDER BY id"


def rows(connection: Connection) -> list[list[str | None]]:
    """The rows by SQL: id, document, its sizes and the SHA-256 of its text; long documents are left out."""
    found = [list(row) for row in connection.execute(ROWS).texts()]
    return [[None if place == 1 and len(text or "") > 1000 else text for place, text in enumerate(row)]
            for row in found]  # fmt: skip


def main(mysqld: str) -> None:
    with launch(from_path(Path(mysqld))) as server, server.connect() as connection:
        folder = DATA / f"innodb-{server.version.partition('-')[0]}"
        folder.mkdir(exist_ok=True)
        with server.schema(connection) as schema:
            connection.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
            for sql in (CREATE, *STATEMENTS):
                connection.execute(sql)
            recorded = {"version": server.version, "create": CREATE, "rows": rows(connection)}
            connection.execute("FLUSH TABLES t FOR EXPORT")
            source = server.data_directory / schema
            for end in ("ibd", "cfg"):
                data = (source / f"t.{end}").read_bytes()
                (folder / f"documents.{end}.gz").write_bytes(gzip.compress(data, mtime=0))
            command = [*server.program("ibd2sdi"), str(source / "t.ibd")]
            printed = subprocess.run(command, capture_output=True, check=True).stdout
            connection.execute("UNLOCK TABLES")
    (folder / "documents.ibd2sdi.json").write_bytes(printed)
    (folder / "documents.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
