"""The names that checks and rooms had before their manifests, for one release.

Reports and findings have ids of checks, and a recording has a room and its functions.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from conformance.harness.experiments.manifests import facts_of


@cache
def _data() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def former_ids() -> dict[str, str]:
    """Former id -> id, of checks and of parts of them."""
    return _data()["checks"]


def former_room(room: str) -> str:
    """The name that a room had: its own, where it has kept it."""
    return _data()["rooms"].get(room, room)


def present(text: str) -> str:
    """A text that begins with the id of a check, such as a signature, with the id of today."""
    if facts_of(text.partition(":")[0]) is None:
        former = former_ids()
        for end in reversed([match.start() for match in re.finditer(r"[/:]|$", text)]):
            if text[:end] in former:
                return former[text[:end]] + text[end:]
    return text
