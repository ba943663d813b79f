"""Memory and time of the commands that read logs, for every hostile log.

    python -m tests.hostile.memory [--sizes BYTES,...] [--full BYTES] [--only WORDS] [--commands NAME,...] [--part K/N]

Prints one line for each log of :mod:`tests.hostile.logs.catalogue`, with three numbers for each command: the megabytes
at the peak, the seconds of CPU for the largest size, and the exponent with which the time grows over the sizes. The
megabytes are those beyond the log itself and beyond the same command on a log that is nearly empty. An exponent ``-``
is of a time too short to tell, or of a log of one size. Where the memory for ``--full`` bytes could come near to what
is allowed, it is measured with a log of ``--full`` bytes. Every number is that of a process of its own. ``estimate``
runs its reader and its meter without Spark: what Spark's workers run too, without what Spark itself takes. ``--part``
takes every N-th log, from the K-th on. Exit status 1 if a command takes more than 64 MB, if its time grows too steeply,
or if a process dies. Too steep is an exponent above 1.5 for a time of more than half a second.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from math import log as logarithm
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.hostile.logs.catalogue import LOGS
from tests.hostile.logs.log import COLUMNS, transaction
from tests.hostile.processes import COMMANDS, Bench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.hostile.logs.log import HostileLog
    from tests.hostile.processes import Measured

ALLOWED: Final = 64 << 20  # bytes over the input
_MEASURED: Final = 0.02  # seconds: shorter times say more about the clock than about the log
_NOTICED: Final = 0.5
_STEEP: Final = 1.5
_CERTAIN: Final = 0.75


class Result(NamedTuple):
    """One command on one log: its memory at the largest size, and its time at all of them."""

    command: str
    last: Measured
    exponent: float | None

    @property
    def trouble(self) -> str:
        """The bound that the command breaks; empty if it breaks none."""
        if self.last.code is None:
            return "died"
        if self.last.code > 2:
            return f"ends with {self.last.code}"
        if self.last.peak > ALLOWED:
            return "memory"
        return "time" if self.exponent is not None and self.exponent > _STEEP and self.last.seconds > _NOTICED else ""


def tiny_log() -> bytes:
    """A log with nearly nothing in it."""
    from conformance.reference.event_types import EventType
    from tests.hostile.logs.log import event, rows_head, table_event

    row = b"\0" + (7).to_bytes(4, "little") + (2).to_bytes(4, "little") + b"\4\0"
    rows = event(EventType.WRITE_ROWS, rows_head(len(COLUMNS.columns)) + row)
    return transaction(table_event(), rows)


def results(bench: Bench, log: HostileLog, sizes: Sequence[int], full: int) -> list[Result]:
    """The results of all commands. Memory that could be too much for a log of ``full`` bytes is measured with one."""
    made = [log.make(size) for size in sizes]
    logs = made if made[-1] != made[0] else made[-1:]
    found = []
    for command in bench.commands:
        measured = [bench.over(command, data) for data in logs]
        times = [each.seconds for each in measured]
        last = measured[-1]
        if len(logs) > 1 and _expected(measured, sizes, full) > _CERTAIN * ALLOWED:
            last = bench.over(command, log.make(full))
        found.append(Result(command, last, exponent(sizes[-len(logs) :], times)))
    return found


def _expected(measured: Sequence[Measured], sizes: Sequence[int], full: int) -> float:
    """The peak for a log of ``full`` bytes, if it goes on to grow as it did between the two largest sizes."""
    growth = (measured[-1].peak - measured[-2].peak) / (sizes[-1] - sizes[-2])
    return measured[-1].peak + max(0.0, growth) * (full - sizes[-1])


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float | None:
    """With which the time grows between the first log that takes long enough to be measured, and the last."""
    first = next((place for place, time in enumerate(times) if time >= _MEASURED), len(times) - 1)
    if sizes[first] >= sizes[-1]:
        return None
    return logarithm(times[-1] / times[first]) / logarithm(sizes[-1] / sizes[first])


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _words(result: Result) -> str:
    steep = "    -" if result.exponent is None else f"{result.exponent:5.2f}"
    sign = " <" if result.trouble else "  "
    return f"{result.last.peak / (1 << 20):7.1f} MB {result.last.seconds:6.2f} s {steep}{sign}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="8192,32768,131072", help="bytes of the logs")
    parser.add_argument("--full", type=int, default=1 << 20, help="bytes for which the memory must hold too")
    parser.add_argument("--only", default="", help="logs whose name has these words")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="only these commands")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every N-th log, from the K-th on")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    number, parts = map(int, options.part.split("/"))
    logs = [log for log in LOGS if options.only in log.id][number - 1 :: parts]
    troubles: list[str] = []
    most: dict[str, tuple[int, str]] = {}
    steepest: dict[str, tuple[float, str]] = {}
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(Path(directory), tiny_log(), options.commands.split(","))
        _say(f"{'':66} " + "  ".join(f"{command:^25}" for command in bench.commands))
        for log in logs:
            found = results(bench, log, sizes, options.full)
            _say(f"{log.id:66.66} " + "  ".join(_words(result) for result in found))
            for each in found:
                if each.trouble:
                    troubles.append(f"{log.id}, {each.command}: {each.trouble}")
                most[each.command] = max(most.get(each.command, (0, "")), (each.last.peak, log.id))
                if each.exponent is not None and each.last.seconds > _NOTICED:
                    steepest[each.command] = max(steepest.get(each.command, (0.0, "")), (each.exponent, log.id))
    for command, (peak, name) in most.items():
        _say(f"{command}: at most {peak / (1 << 20):.1f} MB over the log ({name})")
    for command, (power, name) in steepest.items():
        _say(f"{command}: the steepest exponent of what takes more than {_NOTICED} s: {power:.2f} ({name})")
    for words in troubles:
        _say(f"BEYOND {words}")
    _say(f"{len(logs)} logs, {len(logs) * len(bench.commands)} pairs of log and command, {len(troubles)} beyond bounds")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
