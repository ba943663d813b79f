"""The signature of a finding: the error, and the innermost frames of code that is not Python's own.

Two inputs with the same signature are one finding. The signature has the text of the innermost line, and no line
numbers. So it outlives edits elsewhere, and two assertions of one function stay two findings. The instrumented child
and the plain sandbox both use this module, so it imports nothing of ours.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ERROR: Final = "error"  # the kind of a finding that is raised
DEPTH: Final = 3  # frames in a signature
RECURSION: Final = 30  # innermost frames that count in an endless recursion
MESSAGE: Final = 300  # characters kept of an error's text
_RUNNER: Final = "fuzz.runner."
_NOBODY: Final = frozenset(("__main__", "fuzz.violation"))  # reports what other code did
_INNERMOST: Final = re.compile(r"\S+ in (\S+)")
_DUMPED: Final = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE)


class Frame(NamedTuple):
    """One function of a stack: its module, its name, and its current line."""

    module: str
    name: str
    line: str

    @property
    def place(self) -> str:
        """Module and function."""
        return f"{self.module}.{self.name}"


def signature_of(error: BaseException) -> str:
    """The signature of a target's error."""
    frames = _ours(_frames(error))
    code = getattr(error, "code", None)
    kind = f"{type(error).__name__}[{code}]" if isinstance(code, str) else type(error).__name__
    if isinstance(error, RecursionError):  # the function that meets the limit is chance, the cycle of calls is not
        return signature(kind, sorted({frame.place for frame in frames[-RECURSION:]})[:DEPTH])
    rule = getattr(error, "rule", None)  # rule of a violated invariant: a sentence that is the same for all its inputs
    if getattr(error, "names_itself", False):  # a peer's defect: the place in the peer's code is in its rule
        return str(rule)
    places = list(dict.fromkeys(frame.place for frame in reversed(frames)))[:DEPTH]
    if isinstance(rule, str):
        return signature(kind, places, rule)
    return signature(kind, places, frames[-1].line if frames else "")


def outcomes_of(error: BaseException) -> list[dict[str, Any]]:
    """The facts of each finding that a target's error stands for, the error's own first."""
    return [_facts(one) for one in findings_in(error)]


def findings_in(error: BaseException) -> tuple[BaseException, ...]:
    """The findings that a target's error stands for, itself first."""
    return (error, *getattr(error, "others", ()))


def _facts(error: BaseException) -> dict[str, Any]:
    kind = "memory" if isinstance(error, MemoryError) else getattr(error, "kind_of_finding", ERROR)
    return {"kind": kind, "signature": signature_of(error), "message": message_of(error), "trace": trace_of(error)}


def signature_of_dump(kind: str, dump: str, modules: Mapping[str, str], *, outermost: bool) -> str:
    """The signature of a stack that ``faulthandler`` has written (innermost frame first).

    ``modules``: the module name of each file. ``outermost``: for a hang, whose innermost frame is chance.
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
    """One text from kind, places (innermost first) and line."""
    where = " < ".join(places)
    return kind + (f" in {where}" if where else "") + (f": {line}" if line else "")


def function_in(text: str) -> str:
    """The innermost function that a signature names; the whole signature where it names none."""
    found = _INNERMOST.match(text)
    return found[1] if found else text


def identity(text: str) -> str:
    """Eight hexadecimal digits that stand for a signature in file names."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


def message_of(error: BaseException) -> str:
    """An error's own text, shortened."""
    text = str(error)
    return text if len(text) <= MESSAGE else f"{text[:MESSAGE]}…"


def trace_of(error: BaseException) -> str:
    """The traceback for people, without the middle of a deep one."""
    lines = traceback.format_exception(error, limit=-20)
    return "".join(lines)[-6000:]


def _frames(error: BaseException) -> Iterator[Frame]:
    step = error.__traceback__
    while step is not None:
        code, module = step.tb_frame.f_code, str(step.tb_frame.f_globals.get("__name__", ""))
        yield Frame(module, code.co_name, linecache.getline(code.co_filename, step.tb_lineno).strip())
        step = step.tb_next


def _ours(frames: Iterable[Frame]) -> list[Frame]:
    """Frames outside Python's own code and the runner's."""
    return [
        frame
        for frame in frames
        if frame.module
        and frame.module.split(".")[0] not in sys.stdlib_module_names
        and not frame.module.startswith(_RUNNER)
        and frame.module not in _NOBODY
    ]
