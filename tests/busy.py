"""A command on a machine that is busy all the time: ``python -m tests.busy -- .venv/bin/pytest -q tests/fuzz``.

The command and all that it starts get a small share of one processor (``--share``, percent), by a control group of
Linux, which needs root. ``--stops`` freezes all of them again and again, for up to ``--longest`` seconds; ``--clock``
gives them a clock that steps by an hour, to and fro (needs a C compiler). Both follow ``--seed``. Exit code: the
command's; 3 where this machine has no control groups.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.surroundings.clock import NoCompilerError, SteppingClock, compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUPS: Final = Path("/sys/fs/cgroup")
PERIOD: Final = 100_000  # microseconds, of which a share is a part
_EVERY: Final = 20.0  # seconds between two steps of the clock
_PAUSE: Final = (2.0, 15.0)  # seconds between two stops


class NoGroupsError(Exception):
    """The machine gives no control groups; the message says why."""


class Group(NamedTuple):
    """Two folders of the kernel, one in its second version: where the share is set, and where all is frozen."""

    processor: Path
    freezer: Path

    def limit(self, percent: float) -> None:
        """Give the group this share of one processor."""
        quota = int(PERIOD * percent / 100)
        if (self.processor / "cpu.max").exists():
            (self.processor / "cpu.max").write_text(f"{quota} {PERIOD}")
        else:
            (self.processor / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.processor / "cpu.cfs_quota_us").write_text(str(quota))

    def enter(self) -> None:
        """Put the calling process, and what it starts, into the group."""
        for folder in {self.processor, self.freezer}:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def freeze(self, stopped: bool) -> None:
        """Stop all processes of the group, or let them go on."""
        if (self.freezer / "cgroup.freeze").exists():
            (self.freezer / "cgroup.freeze").write_text(str(int(stopped)))
        else:
            (self.freezer / "freezer.state").write_text("FROZEN" if stopped else "THAWED")

    def members(self) -> list[int]:
        """The processes that are in the group."""
        return [int(line) for line in (self.processor / "cgroup.procs").read_text().split()]


@contextmanager
def group(name: str, groups: Path = GROUPS) -> Iterator[Group]:
    """A new group, which is removed at the end. Raises :class:`NoGroupsError`."""
    second = (groups / "cgroup.controllers").exists()
    made = Group(*(groups / part / name for part in (("", "") if second else ("cpu", "freezer"))))
    try:
        for folder in {*made}:
            folder.mkdir()
        if second:
            (groups / "cgroup.subtree_control").write_text("+cpu")
    except OSError as error:
        raise NoGroupsError(f"no control group can be made below {groups}: {error.strerror} (it needs root)") from error
    try:
        yield made
    finally:
        for folder in {*made}:
            folder.rmdir()


@contextmanager
def stopping(made: Group, longest: float, seed: int) -> Iterator[list[float]]:
    """Freeze the group at random moments until the work is over; yields the lengths of the stops, in seconds."""
    over, draw, stops = threading.Event(), random.Random(seed), list[float]()

    def work() -> None:
        while not over.wait(draw.uniform(*_PAUSE)):
            stops.append(draw.uniform(0.1, longest))
            made.freeze(True)
            over.wait(stops[-1])
            made.freeze(False)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield stops
    finally:
        over.set()
        thread.join()
        made.freeze(False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.busy", description=__doc__)
    parser.add_argument("--share", type=float, default=15.0, metavar="PERCENT", help="of one processor (default: 15)")
    parser.add_argument("--stops", action="store_true", help="freeze everything again and again")
    parser.add_argument("--longest", type=float, default=3.0, metavar="SECONDS", help="of a stop (default: 3)")
    parser.add_argument("--clock", action="store_true", help="step the clock")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args(arguments)
    environment, stops, clock = dict(os.environ), list[float](), None
    with ExitStack() as stack:
        try:
            if asked.clock:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="binlog-lab-clock-")))
                clock = SteppingClock(compiled(folder), folder / "clock")
                environment.update(clock.environment)
            made = stack.enter_context(group(f"binlog-lab-busy-{os.getpid()}"))
        except (NoGroupsError, NoCompilerError) as error:
            sys.stderr.write(f"{error}\n")
            return 3
        made.limit(asked.share)
        if clock:
            stack.enter_context(clock.stepping(_EVERY))
        if asked.stops:  # they end before the group does
            stops = stack.enter_context(stopping(made, asked.longest, asked.seed))
        done = subprocess.run(asked.command, env=environment, preexec_fn=made.enter, check=False)
        for left in made.members():
            sys.stderr.write(f"process {left} was left behind\n")
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        while made.members():
            time.sleep(0.05)
    sys.stderr.write(f"{asked.share:g} % of a processor, {len(stops)} stops of {sum(stops):.0f} s in all\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
