"""Conditions of two runs by which alone their results may differ: flags, seed, size, kit and dialects."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NONE: Final = "none"
# Options that do not change what is judged; and those whose effect the results themselves tell.
_WORDS: Final = frozenset(("-q", "--quiet", "-v", "--verbose"))
_PLACES: Final = frozenset(("--report", "--record", "--jobs", "-j", "--keep", "--master", "--wrapper")) | _WORDS
_TOLD: Final = frozenset(("--seed", "--updates", "--profile", "--server", "--subject"))
_SWITCHES: Final = frozenset(("--no-deviations", "--keep", "-x")) | _WORDS
_SAME: Final = {  # short options and their long ones, each by the name that people are shown
    "-o": "--report", "-n": "--updates", "-s": "--server", "--requirement": "-r", "--exitfirst": "-x",
}  # fmt: skip


class Condition(NamedTuple):
    """One thing that is not the same in both runs."""

    what: str
    before: str
    after: str


def unlike(
    before: Mapping[str, Any], after: Mapping[str, Any], subjects: Mapping[str, tuple[str | None, str | None]]
) -> Iterator[Condition]:
    """Yield the conditions that differ between two ``results.json``. ``subjects``: pairs of ids under a name."""
    for what in ("seed", "updates", "profile"):
        yield from _differing(what, before["run"].get(what), after["run"].get(what))
    yield from _differing("kit", before.get("kit"), after.get("kit"))
    flags = [_flags(side["run"].get("command") or "") for side in (before, after)]
    yield from _differing("flags", *(" ".join(each) for each in flags))
    suites = [(side.get("suite") or {}).get("digest", "")[:16] for side in (before, after)]
    yield from _differing("suite", *suites)
    dialects = [{each["id"]: each.get("dialect") for each in side["subjects"]} for side in (before, after)]
    for name, (a, b) in subjects.items():
        if a is not None and b is not None:
            yield from _differing(f"dialect of {name}", dialects[0][a], dialects[1][b])


def _differing(what: str, before: Any, after: Any) -> Iterator[Condition]:
    if before != after:
        yield Condition(what, _word(before), _word(after))


def _word(value: Any) -> str:
    return _NONE if value in (None, "") else str(value)


def _flags(command: str) -> list[str]:
    """The options of a run's command that decide what is judged and how, in one order."""
    out: list[str] = []
    words = shlex.split(command)[1:]
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            continue
        if not word.startswith("--") and len(word) > len("-r"):  # -rFR1, or -qx
            words.insert(0, f"-{word[2:]}" if word[:2] in _SWITCHES else word[2:])
            word = word[:2]
        name, equals, value = word.partition("=")
        name = _SAME.get(name, name)
        if not equals and name not in _SWITCHES and words and not words[0].startswith("--"):
            value = words.pop(0)
        if name not in _PLACES | _TOLD:
            out.append(f"{name} {value}".rstrip())
    return sorted(out)
