"""The source lines of a run's coverage: those that its inputs reached first, and those that none reached."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fuzz.runner.campaign import Campaign

NEW: Final = "new"
NEVER: Final = "never"
_AROUND: Final = 2  # lines before and behind each marked one
_OF_MODULE: Final = 200  # marked lines of one module that are shown
_ALTOGETHER: Final = 4_000
_WIDTH: Final = 160  # characters of a line
_DEFINITION: Final = re.compile(r"( *)(async def|def|class)\b")


@dataclass(frozen=True, slots=True)
class Line:
    """One line. ``mark``: ``new``, ``never``, or empty for the lines around."""

    number: int
    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ModuleLines:
    """The coverage of a module. ``new``, ``never``: numbers of lines; ``left``: how many of them have no place here."""

    name: str
    file: str
    lines: int
    new: tuple[int, ...]
    never: tuple[int, ...]
    hunks: tuple[tuple[Line, ...], ...] = ()
    left: int = 0

    @property
    def reached(self) -> int:
        """The number of lines that some input reached."""
        return self.lines - len(self.never)


def modules_of(campaign: Campaign) -> list[ModuleLines]:
    """The modules of all targets, without their source: those with new lines first, then those least reached."""
    found = [one for state in campaign.states for one in state.lines.modules]
    never: dict[tuple[str, str], set[int]] = {}
    before: dict[tuple[str, str], set[int]] = {}
    lines: dict[tuple[str, str], int] = {}
    for one in found:
        key = (one.module, one.file)
        never[key] = never.get(key, {*one.missing}) & {*one.missing}
        before[key] = before.get(key, {*one.missing_before}) & {*one.missing_before}
        lines[key] = one.lines
    made = [
        ModuleLines(*key, lines[key], tuple(sorted(before[key] - never[key])), tuple(sorted(never[key])))
        for key in lines
    ]
    return sorted(made, key=lambda one: (not one.new, one.reached / (one.lines or 1), one.name))


def with_source(modules: Iterable[ModuleLines]) -> Iterator[ModuleLines]:
    """The same modules with the text of their new lines, and of those that no input reached, as far as there is place.

    A module that was never imported has none: all of its lines would be marked.
    """
    place = _ALTOGETHER
    for module in modules:
        marks = {**dict.fromkeys(module.new, NEW), **dict.fromkeys(module.never, NEVER)}
        shown = dict(list(marks.items())[: min(place, _OF_MODULE)]) if module.reached else {}
        place -= len(shown)
        source = Path(module.file).read_text("utf-8", "replace").splitlines() if shown else []
        yield replace(module, hunks=tuple(_hunks(source, shown)), left=len(marks) - len(shown))


def _hunks(source: Sequence[str], marks: dict[int, str]) -> Iterator[tuple[Line, ...]]:
    """Marked lines with those around them; hunks that meet are one. Each begins with its function's first line."""
    shown = sorted({near for at in marks for near in range(at - _AROUND, at + _AROUND + 1) if 0 < near <= len(source)})
    hunk: list[int] = []
    for number in [*shown, None]:
        if hunk and number != hunk[-1] + 1:
            numbers = [*_definition(source, hunk[0]), *hunk]
            yield tuple(Line(at, source[at - 1][:_WIDTH], marks.get(at, "")) for at in numbers)
            hunk = []
        if number is not None:
            hunk.append(number)


def _definition(source: Sequence[str], first: int) -> list[int]:
    """The line that begins the function or class around a line, if it is another one."""
    inside = next((_depth(line) for line in source[first - 1 :] if line.strip()), 0)
    for number in range(first, 0, -1):
        found = _DEFINITION.match(source[number - 1])
        if found is not None and (number == first or len(found[1]) < inside):
            return [number] if number < first else []
    return []


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
