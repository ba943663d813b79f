"""Reading a large InnoDB data file: the dictionary information against ibd2sdi, every page, and every row and LOB.

    python tests/benchmarks/bench_data_files.py [--megabytes N] [--pairs N] [--files N] [--keep FILE] [--many FILE]
                                                [FILE]

Without FILE a private MySQL server makes a table outside the repository: JSON documents of 300 bytes to 200 KB, in the
rows and in LOBs, some of them updated in place. ``--keep`` stores its file. Each line is the median of whole processes:

* ``sdi``: ``binlog-lab sdi`` against ibd2sdi, in turns, with the bytes that each of them reads. Of one table both read
  a few pages, and the times are those of their starts. ``files`` is the same file so many times, all in one call here,
  and one process a file there. ``tables`` is a general tablespace of as many megabytes, with ``--tables`` tables of 40
  columns. The outputs are compared;
* ``pages``: every page read and its checksum verified, which neither of the two does;
* ``rows``: ``binlog-lab lob --no-documents``: every record of the table, every version of every LOB.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from conformance.servers.auto import find_installation
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.install.installation import Installation
    from conformance.servers.wire.connection import Connection

ROOT: Final = Path(__file__).parents[2]
_BATCH: Final = 500  # rows of one statement
# Of a hundred documents four have 200 KB, ten 40 KB, the others 300 bytes to 4 KB.
_INSERT: Final = (
    "INSERT INTO documents (id, name, doc) WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n"
    " WHERE i < {last}) SELECT i, concat('name ', i), json_object('id', i, 'name', concat('name ', i), 'text',"
    " repeat(sha2(i, 256), CASE WHEN i % 25 = 0 THEN 3125 WHEN i % 10 = 1 THEN 625 ELSE 1 + i % 60 END),"
    " 'list', json_array(i, i * 2, i * 3)) FROM n"
)
_TABLE: Final = "id INT PRIMARY KEY, name VARCHAR(50), doc JSON, KEY (name)"
_UPDATE: Final = "UPDATE documents SET doc = json_set(doc, '$.name', 'x') WHERE id % 50 = 0"
_RUN: Final = "import sys; sys.argv[0] = 'binlog-lab'; from conformance.cli.main import main; main()"
_PAGES: Final = """
import os, sys
from conformance.data_files.tablespaces import tablespaces
with tablespaces(sys.argv[1:]) as found:
    for file in found:
        for number in range(file.space.pages):
            file.space.page(number)
"""


class Spent(NamedTuple):
    """One process: CPU seconds, and bytes that it read."""

    seconds: float
    read: int


def spent(command: Sequence[str]) -> Spent:
    """Run a program to its end; what it prints is thrown away."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}  # as an installed package
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    said = process.stderr.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    counted = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text("ascii").splitlines())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}: {said.decode('utf-8', 'replace')}")
    return Spent(used.ru_utime + used.ru_stime, int(counted["rchar"]))


def make(installation: Installation, megabytes: int, target: Path) -> None:
    """Write the data file of a table of about so many megabytes."""
    with launch(installation) as server, server.connect() as connection, server.schema(connection) as schema:
        connection.execute(f"CREATE TABLE documents ({_TABLE}) ROW_FORMAT=DYNAMIC")
        place = server.data_directory / schema / "documents.ibd"
        _fill(connection, place, megabytes << 20)
        connection.execute(_UPDATE)
        connection.execute("FLUSH TABLES documents FOR EXPORT")
        shutil.copyfile(place, target)
        connection.execute("UNLOCK TABLES")


def make_tables(installation: Installation, tables: int, megabytes: int, target: Path) -> None:
    """Write a general tablespace of many tables, after a clean shutdown; one table has the rows."""
    columns = ", ".join(f"column_{number} VARCHAR(100) DEFAULT 'abc' COMMENT 'a column'" for number in range(40))
    with launch(installation) as server:
        place = server.data_directory / "many.ibd"
        with server.connect() as connection:
            for statement in ("CREATE SCHEMA many", "USE many", "CREATE TABLESPACE many ADD DATAFILE 'many.ibd'"):
                connection.execute(statement)
            for number in range(tables):
                connection.execute(
                    f"CREATE TABLE table_{number} (id INT PRIMARY KEY, {columns}, KEY (column_1)) TABLESPACE many"
                )
            connection.execute(f"CREATE TABLE documents ({_TABLE}) TABLESPACE many")
            _fill(connection, place, megabytes << 20)
        server.stop()
        shutil.copyfile(place, target)


def _fill(connection: Connection, place: Path, size: int) -> None:
    first = 1
    while place.stat().st_size < size:
        connection.execute(_INSERT.format(first=first, last=first + _BATCH - 1))
        first += _BATCH


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=10, help="how often each of sdi and ibd2sdi runs")
    parser.add_argument("--files", type=int, default=1000, help="how often the file is given to one call; 0: never")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the data file is kept")
    parser.add_argument("--tables", type=int, default=1000, help="tables of the general tablespace; 0: without")
    parser.add_argument("--many", type=Path, metavar="FILE", help="the general tablespace, or where it is kept")
    options = parser.parse_args()
    installation = find_installation(parse_spec("process"), narrate=say)
    with tempfile.TemporaryDirectory(prefix="binlog-lab-bench-") as folder:
        file = options.file
        if file is None:
            file = options.keep or Path(folder) / "documents.ibd"
            make(installation, options.megabytes, file)
        size = file.stat().st_size / 1e6
        say(f"{file.name}: {size:.0f} MB")
        compare("sdi", [file], installation, options.pairs)
        if options.files:
            links = [Path(folder) / f"link_{number}.ibd" for number in range(options.files)]
            for link in links:
                link.symlink_to(file.absolute())
            compare("files", links, installation, max(3, options.pairs // 3))
        for name, command in (
            ("pages", [sys.executable, "-c", _PAGES, str(file)]),
            ("rows", [sys.executable, "-m", "conformance", "lob", "--no-documents", str(file)]),
        ):
            seconds = median(spent(command).seconds for _ in range(3))
            say(f"{name:6} {seconds:.2f} s CPU, {size / seconds:.0f} MB/s")
        many = options.many or Path(folder) / "many.ibd"
        if options.tables and not many.exists():
            make_tables(installation, options.tables, options.megabytes, many)
        if many.exists():
            compare("tables", [many], installation, max(1, options.pairs // 3))


def compare(name: str, files: list[Path], installation: Installation, pairs: int) -> None:
    """Run both programs in turns, ours once and theirs for each file, and hold their outputs against each other."""
    ours = [[sys.executable, "-c", _RUN, "sdi", *map(str, files)]]
    theirs = [[*installation.program("ibd2sdi"), str(file)] for file in files]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outputs = [b"".join(subprocess.run(command, capture_output=True, check=True, env=environment).stdout
                        for command in commands) for commands in (ours, theirs)]  # fmt: skip
    if outputs[0] != outputs[1]:
        raise SystemExit(f"{files[0]}: the outputs differ")
    spent(ours[0])  # compiles the modules
    found = [(_together(ours), _together(theirs)) for _ in range(pairs)]
    us, them = (median(pair[place].seconds for pair in found) for place in (0, 1))
    ratio = median(pair[0].seconds / pair[1].seconds for pair in found)
    say(f"{name:6} {1000 * us:.0f} ms CPU, ibd2sdi {1000 * them:.0f} ms: {ratio:.2f} times; {len(outputs[0]):,} bytes")
    bare = median(spent([sys.executable, "-c", "pass"]).seconds for _ in range(pairs))
    say(f"       of which the start of Python {1000 * bare:.0f} ms;"
        f" read {found[0][0].read:,} bytes with its modules, ibd2sdi {found[0][1].read:,}")  # fmt: skip


def _together(commands: list[list[str]]) -> Spent:
    every = [spent(command) for command in commands]
    return Spent(sum(one.seconds for one in every), sum(one.read for one in every))


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the figures are the output


if __name__ == "__main__":
    main()
