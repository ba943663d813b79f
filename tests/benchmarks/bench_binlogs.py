"""The Spark data source against the plain command: the same rows of a large log, and the CPU time of both.

    python -m tests.benchmarks.bench_binlogs [--megabytes N] [--split BYTES] [--master local[2]] [FILE...]

Without FILE a log is made here, outside the repository: transactions of one update each, ten partial ones of 2 KB
documents (MINIMAL images) for one with two images of 8 KB. Both readers run over the same files, one behind the other:

* ``decode``: ``binlog-lab decode --format jsonl``, a process whose output is counted here;
* ``source``: ``spark.read.format("mysql-binlog")``, all columns, counted by Spark SQL. The start of the session and a
  first read of a small log are not counted; of everything after that the CPU time of the JVM and of all Python workers.

They must agree on the number of rows of every type of event, and on a checksum of all images.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from conformance.reference.binlog.writer import FileWriter
from tests.benchmarks.bench_decode import _SHAPES, _TABLE
from tests.gtids import gtid
from tests.written_logs import row_group

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL: Final = Path(__file__).parents[1] / "data/binlogs/01-partial-minimal.binlog"
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_IMAGES: Final = "concat('\"before\": ', coalesce(before, 'null'), ', \"after\": ', coalesce(after, 'null'))"
Found = tuple[dict[str, int], int]  # rows by type of event, sum of the checksums of their images


def pieces(megabytes: int) -> Iterator[bytes]:
    """A file in pieces."""
    writer = FileWriter(timestamp=1795154439)
    yield writer.start()
    for number in count(1):
        if writer.position >= megabytes * 1_000_000:
            return
        body = _SHAPES["partial-minimal" if number % 11 else "full-8k"](number)
        yield writer.group(gtid(number), row_group(_TABLE, body, xid=number, limit=1 << 20, update=True))


def decode(files: list[str]) -> tuple[Found, float, float]:
    """Run the command on the files. Return the rows and the checksum in its output, its CPU seconds, and the seconds on
    the clock."""
    start = monotonic()
    command = [sys.executable, "-m", "conformance", "decode", "--format", "jsonl", *files]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    rows: Counter[str] = Counter()
    checks = 0
    assert process.stdout is not None
    for line in process.stdout:
        head = line.index(b'"event": "') + 10
        rows[line[head : line.index(b'"', head)].decode()] += 1
        images = line.index(b'"before": ', line.index(b'"row": '))
        checks += crc32(line[images : line.rindex(b', "inner": ')])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"decode ended with {process.returncode}")
    return (dict(rows), checks), used.ru_utime + used.ru_stime, monotonic() - start


def tree(root: int) -> float:
    """CPU seconds of a process and of all its descendants, those that have ended included."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        spent[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS
    total, left = 0.0, [root]
    while left:
        process = left.pop()
        total += spent.get(process, 0.0)
        left += children.get(process, [])
    return total


def source(frame: Any) -> tuple[Found, float, float]:
    """The same by the data source."""
    before, start = tree(os.getpid()), monotonic()
    by_event = frame.where("problem IS NULL").groupBy("event").count().collect()
    spent, seconds = tree(os.getpid()) - before, monotonic() - start
    checks = frame.where("problem IS NULL").selectExpr(f"sum(crc32({_IMAGES}))").first()[0]
    return ({row[0]: row[1] for row in by_event}, checks or 0), spent, seconds


def main() -> None:
    from scenarios.spark.binlogs import register
    from scenarios.spark.session import session

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--split", default="64m", help="splitBytes; 0: a file is a partition")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--pairs", type=int, default=1, help="how often both run, in turns")
    options = parser.parse_args()
    split = {} if options.split == "0" else {"splitBytes": options.split}
    with tempfile.TemporaryDirectory(prefix="binlog-lab-bench-") as folder, session(options.master) as spark:
        files = options.files
        if not files:
            files = [f"{folder}/large.000001"]
            with Path(files[0]).open("wb") as file:
                file.writelines(pieces(options.megabytes))
        size = sum(Path(name).stat().st_size for name in files)
        register(spark)
        spark.read.format("mysql-binlog").load(str(SMALL)).count()
        frame = spark.read.format("mysql-binlog").options(**split).load(files)
        say(f"{size / 1e6:.0f} MB")
        for _ in range(options.pairs):
            plain, *decoding = decode(files)
            found, *reading = source(frame)
            say(f"  decode: {figures(plain, decoding)}")
            say(f"  source: {figures(found, reading)}; {reading[0] / decoding[0]:.2f} times the CPU of decode")
            if plain != found:
                say(f"  DIFFERENT: {plain} and {found}")
                raise SystemExit(1)
            say("  the same rows and images")


def figures(found: Found, times: list[float]) -> str:
    rows = sum(found[0].values())
    return f"{rows:,} rows, {times[0]:.1f} s CPU, {rows / times[0]:,.0f} rows/s of CPU, {times[1]:.1f} s"


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the figures are the output


if __name__ == "__main__":
    main()
