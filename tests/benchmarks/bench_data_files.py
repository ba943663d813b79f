"""Reading a large InnoDB data file: the dictionary information against ibd2sdi, every page, and every row and LOB.

    python tests/benchmarks/bench_data_files.py [--megabytes 200] [--pairs 10] [--keep FILE] [FILE]

Without FILE a private MySQL server makes a table outside the repository: JSON documents of 300 bytes to 200 KB, in the
rows and in LOBs, some of them updated in place. ``--keep`` stores its file. Each line is the median of whole processes:

* ``sdi``: ``binlog-lab sdi`` against ibd2sdi, in turns, with the pages that each of them reads;
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
_UPDATE: Final = "UPDATE documents SET doc = json_set(doc, '$.name', 'x') WHERE id % 50 = 0"
_PAGES: Final = """
import os, sys
from conformance.cli.data_files import tablespaces
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
        connection.execute(
            "CREATE TABLE documents (id INT PRIMARY KEY, name VARCHAR(50), doc JSON, KEY (name)) ROW_FORMAT=DYNAMIC"
        )
        place = server.data_directory / schema / "documents.ibd"
        _fill(connection, place, megabytes << 20)
        connection.execute(_UPDATE)
        connection.execute("FLUSH TABLES documents FOR EXPORT")
        shutil.copyfile(place, target)
        connection.execute("UNLOCK TABLES")


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
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the data file is kept")
    options = parser.parse_args()
    installation = find_installation(parse_spec("process"), narrate=say)
    with tempfile.TemporaryDirectory(prefix="binlog-lab-bench-") as folder:
        file = options.file
        if file is None:
            file = options.keep or Path(folder) / "documents.ibd"
            make(installation, options.megabytes, file)
        size = file.stat().st_size / 1e6
        say(f"{file.name}: {size:.0f} MB")
        ours = [sys.executable, "-m", "conformance", "sdi", str(file)]
        theirs = [*installation.program("ibd2sdi"), str(file)]
        spent(ours)  # compiles the modules
        pairs = [(spent(ours), spent(theirs)) for _ in range(options.pairs)]
        us, them = median(pair[0].seconds for pair in pairs), median(pair[1].seconds for pair in pairs)
        ratio = median(pair[0].seconds / pair[1].seconds for pair in pairs)
        say(f"sdi    {1000 * us:.0f} ms CPU, ibd2sdi {1000 * them:.0f} ms: {ratio:.2f} times")
        nothing = spent([sys.executable, "-c", "pass"])
        say(f"       of which Python itself {1000 * nothing.seconds:.0f} ms; read {pairs[0][0].read:,} bytes with its"
            f" modules, ibd2sdi {pairs[0][1].read:,} with its libraries")  # fmt: skip
        for name, command in (
            ("pages", [sys.executable, "-c", _PAGES, str(file)]),
            ("rows", [sys.executable, "-m", "conformance", "lob", "--no-documents", str(file)]),
        ):
            seconds = median(spent(command).seconds for _ in range(3))
            say(f"{name:6} {seconds:.2f} s CPU, {size / seconds:.0f} MB/s")


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the figures are the output


if __name__ == "__main__":
    main()
