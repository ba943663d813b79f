"""A clock that steps under programs that are started for it: ``stepping_clock.c``, compiled on this machine."""

from __future__ import annotations

import itertools
import mmap
import shutil
import struct
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR: Final = 3600
PATTERN: Final = (0, HOUR, 0, -HOUR)
_SOURCE: Final = Path(__file__).with_name("stepping_clock.c")
_COMPILERS: Final = ("cc", "gcc", "clang")


class NoCompilerError(Exception):
    """The machine cannot compile the library; the message says why."""


def compiled(folder: Path) -> Path:
    """The library, compiled into a folder."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise NoCompilerError(
            f"no clock can be stepped: a C compiler is needed ({', '.join(_COMPILERS)}), and none is on the PATH"
        )
    library = folder / "stepping_clock.so"
    words = [compiler, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoCompilerError(f"no clock can be stepped: {compiler} fails on {_SOURCE.name}\n{done.stderr.strip()}")
    return library


class SteppingClock:
    """A clock of its own for the programs that have its ``environment``. They run true until it is ``set``."""

    def __init__(self, library: Path, place: Path) -> None:
        place.write_bytes(bytes(8))
        self.environment: Final = {"LD_PRELOAD": str(library), "STEPPING_CLOCK": str(place)}
        with place.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 8)

    def set(self, seconds: int) -> None:
        """Let the clock show so many seconds more than the machine's."""
        self._shared[:8] = struct.pack("=q", seconds)

    @contextmanager
    def stepping(self, pause: float) -> Iterator[None]:
        """Set the clock an hour on, back, an hour back, and so on, with pauses, until the work is over."""
        over = threading.Event()

        def step() -> None:
            for seconds in itertools.cycle(PATTERN):
                self.set(seconds)
                if over.wait(pause):
                    return

        thread = threading.Thread(target=step)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
