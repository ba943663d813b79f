"""The pages for users that are written by hand: those at the root, and those of the site but for the sheets."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_AT_THE_ROOT: Final = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docker/README.md",
    "fuzz/README.md",
)
_FOLDERS: Final = (".", "contributing", "reference", "start", "tasks", "tutorials")
PAGES: Final = [
    *(ROOT / name for name in _AT_THE_ROOT),
    *sorted(page for folder in _FOLDERS for page in (ROOT / "docs" / folder).glob("*.md")),
]
