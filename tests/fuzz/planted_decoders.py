"""Twenty broken decoders, each the reference with one fault, for ``fuzz run --subject``: is it found in a minute?

``python -m tests.fuzz.planted_decoders [SECONDS]`` fuzzes each until its first finding, and at most for that time. The
list was written before it ran for the first time: the twelve of the report's tests, and the next eight of ``values`` in
the order of that file. None of them was written for this. A sound decoder comes first: it must show nothing.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.subjects import python_host
from fuzz.runner.alone.sandbox import Sandbox
from fuzz.runner.findings import Store, now
from fuzz.runner.run import Budget, Runner, TargetState
from fuzz.runner.targets import subject_target
from tests.subjects.faulty.reading import Reader
from tests.subjects.faulty.twelve import TWELVE
from tests.subjects.faulty.values import (
    ColumnsBehindDiffsUnread,
    DiffsAsDocument,
    EmptyListAsNull,
    EntryOrder,
    IgnoresThePartialBitmap,
    LastDiffFirst,
    OffsetsFromTheRoot,
    OwnDocuments,
    ReadsPastTheList,
)

if TYPE_CHECKING:
    from fuzz.runner.findings import Finding

SECONDS: Final = 60.0
TWENTY: Final[tuple[type[Reader], ...]] = (
    *(due.decoder for due in TWELVE), LastDiffFirst, EmptyListAsNull, ReadsPastTheList, IgnoresThePartialBitmap,
    EntryOrder, OffsetsFromTheRoot, ColumnsBehindDiffsUnread, DiffsAsDocument,
)  # fmt: skip


class Outcome(NamedTuple):
    """The first finding about a decoder, if one came and ran again alone, after seconds and executions."""

    finding: Finding | None
    seconds: float
    executions: int


def fuzz(decoder: type[Reader], seconds: float = SECONDS) -> Outcome:
    """Fuzz a decoder in the process of the fuzzer until it shows something, or the time is over."""
    name = f"{decoder.__module__}:{decoder.__qualname__}"
    # A decoder that alters the reference itself cannot share a process with it.
    spec = (
        f"jsonl:{sys.executable} {python_host.__file__} {name}" if issubclass(decoder, OwnDocuments) else f"py:{name}"
    )
    target = subject_target(spec, damages=True, software=decoder.__name__)
    state, stop = TargetState(target), threading.Event()
    with tempfile.TemporaryDirectory() as directory:
        budget = Budget(seconds=seconds, seed=1, corpora=Path(directory) / "corpora", shrink_seconds=0.0)
        runner = Runner(state, budget, Store(Path(directory) / "findings"), stop, started=now())
        thread = threading.Thread(target=runner.run)
        thread.start()
        while thread.is_alive() and not state.findings:
            time.sleep(0.05)
            state.refresh()
        executions, took = state.executions, state.seconds
        stop.set()
        thread.join()
        if state.trouble:
            raise RuntimeError(state.trouble)
        if not state.findings:
            return Outcome(None, took, executions)
        first = state.findings[0]
        with Sandbox(target) as sandbox:
            again = sandbox.run(first.path.read_bytes()).like(first.signature)
        return Outcome(first if again.signature == first.signature else None, took, executions)


def main(seconds: float) -> int:
    """Print a line for each decoder, and how many were found."""
    found = 0
    every: tuple[type[Reader], ...] = (Reader, *TWENTY)
    for decoder in every:
        outcome = fuzz(decoder, seconds)
        shown = "nothing" if outcome.finding is None else outcome.finding.signature
        print(  # noqa: T201 - a tool's output
            f"{decoder.__name__:<26} {outcome.seconds:5.1f} s {outcome.executions:7,} executions  {shown}", flush=True
        )
        if decoder is Reader:
            assert outcome.finding is None, "the sound decoder is accused"
        found += outcome.finding is not None
    print(f"{found} of {len(TWENTY)} found")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
