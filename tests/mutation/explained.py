"""Survivors with the reason why they live: ``explained.toml``, a table for each module, in it a list for each class.

- ``equivalent``: no input and no caller tells the two texts apart
- ``speed``: the same answers in another time or memory (shortcuts, sizes of buffers)
- ``bound``: a guard against hostile input, a little tighter or wider; nothing that a writer makes comes near it
- ``import``: runs when the module is imported, before a mutant can be planted
- ``words``: text for people that :mod:`tests.mutation.mutants` does not recognise as such

An item is a mutant as it is printed: its function and the form of its change (:mod:`tests.mutation.form`). Under
``[rules]`` it is a regular expression for the whole of that, in any module.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSES: Final = ("equivalent", "speed", "bound", "import", "words")
_FILE: Final = Path(__file__).with_name("explained.toml")


@cache
def _tables() -> Mapping[str, Any]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    unknown = {name for table in tables.values() for name in table} - set(CLASSES)
    if unknown:
        raise ValueError(f"{_FILE.name}: no class is called {', '.join(sorted(unknown))}")
    return tables


def explained(module: str) -> dict[str, str]:
    """The classes of a module's survivors, by their text."""
    table: dict[str, list[str]] = _tables().get(module, {})
    return {text: name for name, texts in table.items() for text in texts}


def by_rule(text: str) -> str | None:
    """The class of a mutant that is explained by its form."""
    for name, patterns in _tables().get("rules", {}).items():
        if any(re.fullmatch(pattern, text) for pattern in patterns):
            return str(name)
    return None
