"""The requirements that a module of checks judges, read from its source, so that a run need not import all modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_MARK: Final = re.compile(r"mark\.check\(([^()]*)\)")
_WORD: Final = re.compile(r'"([^"\\]*)"')


def named_requirements(module: Path) -> frozenset[str] | None:
    """The requirements in the marks of a module; ``None`` where only importing it tells all of them."""
    text = module.read_text("utf-8")
    marks = _MARK.findall(text)
    if not marks or len(marks) != text.count("mark.check"):
        return None
    names: set[str] = set()
    for mark in marks:
        words = [_WORD.fullmatch(part.strip()) for part in mark.split(",") if part.strip()]
        if not all(words):
            return None
        names.update(word[1] for word in words[1:] if word is not None)  # the first is the id of the check
    return frozenset(names)
