"""The profiles of a run, and how much each check does in them: the data of ``profiles.toml``.

A run reports its size before it loads the checks, so this module imports none of them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

SIZES: Final[dict[str, dict[str, int]]] = tomllib.loads(
    Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8")
)
"""Check id (with a name, where a check has several sizes) -> profile -> number."""

PROFILES: Final = SIZES["updates"]
"""Generated updates of the update campaign, by profile."""
