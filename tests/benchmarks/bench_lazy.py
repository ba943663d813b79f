"""Lazy reading of inputs of hundreds of megabytes: CPU time and peak memory of each, in a process of its own.

    python tests/benchmarks/bench_lazy.py [--megabytes N] [--only WORDS]

The inputs are made in a temporary directory. ``over`` is the resident memory at its highest, less what the process had
before it read: the modules, and the input itself where that is a document in memory. Lazily read, an input of any size
takes a few megabytes. A reading that takes more is compared with what it must hold. A single event is there once, and
its value once more when its row is read. A compressed transaction is there as far as the limit lets it grow, then once
more when it is done. Exit status 1 if anything takes more than that and 64 MB.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from tests.hostile.large import READINGS, ending

if TYPE_CHECKING:
    from typing import BinaryIO

ALLOWED: Final = 64 << 20  # bytes over the input


def _highest() -> int:
    """Resident bytes, the most so far (Linux). What getrusage says counts the process that started this one too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def _measured(name: str, path: Path) -> dict[str, Any]:
    """In this process, which has read nothing else."""
    reading = next(each for each in READINGS if each.name == name)
    with path.open("rb") as file:
        source: BinaryIO = io.BytesIO(file.read()) if reading.in_memory else file
        before, start = _highest(), process_time()
        ends = ending(reading, source)
        return {"ends": ends, "seconds": process_time() - start, "over": _highest() - before}


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=300, help="of the inputs")
    parser.add_argument("--only", default="", help="readings whose name has these words")
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        _say(json.dumps(_measured(options.measure[0], Path(options.measure[1]))))
        return 0
    _say(f"{'reading':46} {'input':>9} {'ends':>20} {'CPU':>9} {'over':>9} {'allowed':>9}")
    bad = []
    for reading in READINGS:
        if options.only not in reading.name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "input"
            with path.open("wb") as file:
                for piece in reading.make(options.megabytes << 20):
                    file.write(piece)
            size = path.stat().st_size
            command = [sys.executable, __file__, "--measure", reading.name, str(path)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        allowed = ALLOWED + (reading.held(size) if reading.held else 0)
        if found["over"] > allowed:
            bad.append(reading.name)
        _say(
            f"{reading.name:46} {size / 1e6:6.1f} MB {found['ends']:>20} {found['seconds']:7.2f} s"
            f" {found['over'] / 1e6:6.1f} MB {allowed / 1e6:6.1f} MB{' <<<' if found['over'] > allowed else ''}",
        )
    _say(f"{len(bad)} beyond what is allowed: {', '.join(bad) or 'none'}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
