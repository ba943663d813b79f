"""What a finding is called: the error, and the innermost frames of code that is not Python's own.

Two inputs with the same signature are one finding. Line numbers are no part of it, the text of the innermost line is:
a signature outlives edits elsewhere, and two assertions of one function stay two findings. Read by the instrumented
child and by the plain sandbox alike, so this module imports nothing of ours.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
import traceback
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DEPTH: Final = 3  # frames in a signature
RECURSION: Final = 30  # innermost frames of an endless recursion that are looked at
MESSAGE: Final = 300  # characters kept of an error's text
_RUNNER: Final = "fuzz.runner."
_NOBODY: Final = frozenset(("__main__", "fuzz.violation"))  # tells of what others did
_DUMPED: Final = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE)


class Frame(NamedTuple):
    """One function of a stack: its module, its name, and the line that it was at."""

    module: str
    name: str
    line: str

    @property
    def place(self) -> str:
        """Module and function."""
        return f"{self.module}.{self.name}"


def signature_of(error: BaseException) -> str:
    """That of an error that came out of a target."""
    frames = _ours(_frames(error))
    code = getattr(error, "code", None)
    kind = f"{type(error).__name__}[{code}]" if isinstance(code, str) else type(error).__name__
    if isinstance(error, RecursionError):  # where the limit was met is chance, which functions call each other is not
        return signature(kind, sorted({frame.place for frame in frames[-RECURSION:]})[:DEPTH])
    rule = getattr(error, "rule", None)  # of a violated invariant: a sentence that is the same for all its inputs
    places = list(dict.fromkeys(frame.place for frame in reversed(frames)))[:DEPTH]
    if isinstance(rule, str):
        return signature(kind, places, rule)
    return signature(kind, places, frames[-1].line if frames else "")


def signature_of_dump(kind: str, dump: str, modules: Mapping[str, str], *, outermost: bool) -> str:
    """That of a stack which ``faulthandler`` has written (innermost frame first).

    ``modules``: name of the module of each file. ``outermost``: for a hang, whose innermost frame is chance.
    """
    frames = _ours(
        Frame(
            modules.get(found["file"], ""), found["name"], linecache.getline(found["file"], int(found["line"])).strip()
        )
        for found in _DUMPED.finditer(dump)
    )
    if outermost:
        return signature(kind, list(dict.fromkeys(frame.place for frame in frames[-2:])))
    return signature(
        kind, list(dict.fromkeys(frame.place for frame in frames))[:DEPTH], frames[0].line if frames else ""
    )


def signature(kind: str, places: Iterable[str], line: str = "") -> str:
    """Kind, places (innermost first) and line in one text."""
    where = " < ".join(places)
    return kind + (f" in {where}" if where else "") + (f": {line}" if line else "")


def identity(text: str) -> str:
    """Eight hexadecimal digits that stand for a signature in the names of files."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


def message_of(error: BaseException) -> str:
    """An error's own text, cut."""
    text = str(error)
    return text if len(text) <= MESSAGE else f"{text[:MESSAGE]}…"


def trace_of(error: BaseException) -> str:
    """The traceback for people, the middle of a deep one left out."""
    lines = traceback.format_exception(error, limit=-20)
    return "".join(lines)[-6000:]


def _frames(error: BaseException) -> Iterator[Frame]:
    step = error.__traceback__
    while step is not None:
        code, module = step.tb_frame.f_code, str(step.tb_frame.f_globals.get("__name__", ""))
        yield Frame(module, code.co_name, linecache.getline(code.co_filename, step.tb_lineno).strip())
        step = step.tb_next


def _ours(frames: Iterable[Frame]) -> list[Frame]:
    """Frames that are neither Python's nor the runner's."""
    return [
        frame
        for frame in frames
        if frame.module
        and frame.module.split(".")[0] not in sys.stdlib_module_names
        and not frame.module.startswith(_RUNNER)
        and frame.module not in _NOBODY
    ]
