"""The process in which one target is fuzzed: the only module that imports atheris.

``python -m fuzz.runner.child SPECIFICATION PROGRAM [libFuzzer's options…]``. The specification is a JSON file, see
:meth:`fuzz.runner.launch.Child.start`. PROGRAM is the executable file that started this process: libFuzzer starts it
again for a merge. ``atheris.Fuzz()`` never returns; the exit status tells how the process ended
(``fuzz.runner.libfuzzer``).

An error of the target does not end the process: the child stores it under its signature, reports it to the runner in a
line on stderr, and goes on. A hang, lack of memory or a signal cannot be caught and ends the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import mmap
import os
import resource
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import atheris

from fuzz.coverage import Ways
from fuzz.runner.launch import FINDING, READY
from fuzz.runner.loading import Words, begin, load, runs_apart
from fuzz.runner.signature import findings_in, function_in, identity, outcomes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PR_SET_PDEATHSIG: Final = 1
_MOST: Final = 20  # findings of one function: more of them are one defect under many names
_ALTOGETHER: Final = 1000  # findings of one process


def main() -> None:
    """Fuzz the target; ends the process."""
    specification = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    _die_with(specification["runner"])
    sys.path[:0] = specification["path"]
    instrument = specification["instrument"]
    with _instrumenting(instrument, comparisons=specification["comparisons"]):
        target = load(Words(**specification["target"]))
        begin(target)
    watcher = _Watcher(specification, target.check)
    mutate = getattr(target, "mutate", None)
    options: dict[str, Any] = {} if mutate is None else {"custom_mutator": mixed(mutate)}
    # Neither Setup nor Fuzz may see instrumented code before the limit stands: an input's length must surface at once.
    size = _address_space() + specification["memory"]
    atheris.Setup([sys.argv[2], *sys.argv[3:]], watcher.one, **options)
    if not runs_apart(target):  # programs that it starts would inherit the limit
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))  # raised again in a merge
    _say(READY)
    atheris.Fuzz()


def _instrumenting(instrument: Sequence[str], *, comparisons: bool) -> contextlib.AbstractContextManager[object]:
    """Instruments these modules where they are imported. ``comparisons``: also what they compare."""
    roots = sorted({name.split(".")[0] for name in instrument})
    if not roots:
        return contextlib.nullcontext()
    made: contextlib.AbstractContextManager[object] = atheris.import_hook.HookManager(
        set(roots), set(not_instrumented(roots, instrument)), True, comparisons
    )
    return made


def _nothing(_: int) -> None:
    """The end of an input before the first one."""


class _Watcher:
    """Runs the target's check, counts executions, and stores errors."""

    def __init__(self, specification: dict[str, Any], check: Callable[[bytes], None]) -> None:
        self._artifacts = Path(specification["artifacts"])
        self._seen: set[str] = set()
        self._functions: Counter[str] = Counter()
        with Path(specification["counter"]).open("r+b") as file:
            cell = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")

        begin: Callable[[], None]
        end: Callable[[int], None] = _nothing

        def first() -> None:
            """Note blocks in place of atheris, whose Fuzz() has put libFuzzer's function there just now."""
            nonlocal begin, end
            ways = Ways(atheris._trace_branch)  # noqa: SLF001 - the names that instrumented code calls
            atheris._trace_branch = ways.record  # noqa: SLF001
            begin, end = ways.begin, ways.end

        begin = first

        def one(data: bytes) -> None:
            cell[0] += 1
            begin()
            try:
                check(data)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - SystemExit and the like are findings too
                self._found(data, error)
            end(len(data))

        self.one = one

    def _found(self, data: bytes, error: BaseException) -> None:
        for one, facts in zip(findings_in(error), outcomes_of(error), strict=True):
            self._one(data if (smaller := getattr(one, "data", None)) is None else smaller, facts)

    def _one(self, data: bytes, facts: dict[str, Any]) -> None:
        text = facts["signature"]
        function = function_in(text)
        if text in self._seen or len(self._seen) == _ALTOGETHER or self._functions[function] == _MOST:
            return
        self._seen.add(text)
        self._functions[function] += 1
        name = identity(text)
        (self._artifacts / f"{name}.bin").write_bytes(data)
        (self._artifacts / f"{name}.json").write_text(json.dumps(facts), "utf-8")
        _say(FINDING + name)


def mixed(mutate: Callable[[bytes, int, int], bytes]) -> Callable[[bytes, int, int], bytes]:
    """A mutator that mixes libFuzzer's mutations, the target's own, and the target's own after libFuzzer's (which
    corrects frames).
    """

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        raw = data if seed & 3 == 2 else atheris.Mutate(data, max_size)
        if seed & 3 < 2:
            return bytes(raw)
        try:
            return mutate(bytes(raw), max_size, seed >> 2)[:max_size]
        except Exception:  # noqa: BLE001 - input that the mutator cannot read; ending the run would hide the target
            return bytes(atheris.Mutate(data, max_size))

    return mutator


def not_instrumented(roots: Iterable[str], instrument: Iterable[str]) -> list[str]:
    """All modules except those to be instrumented: atheris itself selects by top-level package alone."""
    wanted = tuple(instrument)
    names = []
    for root in roots:
        found = importlib.util.find_spec(root)
        for place in (found.submodule_search_locations or ()) if found else ():
            for path in Path(place).rglob("*.py"):
                parts = (root, *path.relative_to(place).with_suffix("").parts)
                names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in names if not any(name == one or name.startswith(f"{one}.") for one in wanted)]


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()


def _die_with(runner: int) -> None:
    """End this process when the runner ends, however it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if runner not in (0, os.getppid()):
        os._exit(1)


def _say(line: str) -> None:
    os.write(2, f"{line}\n".encode())


if __name__ == "__main__":
    main()
