"""The files of this repository: those that git knows, or all that a source distribution has."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
UNPACKED: Final = (ROOT / "PKG-INFO").exists()  # as only a source distribution has it
_MADE: Final = {"PKG-INFO", "report", "build", "dist"}  # by whoever built it, or ran something in it


@cache
def tracked() -> tuple[str, ...]:
    """Paths below the root, sorted."""
    if UNPACKED:
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return tuple(sorted(str(path) for path in found if not _made(path)))
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return tuple(sorted(filter(None, done.stdout.split("\0"))))


def _made(path: Path) -> bool:
    top = path.parts[0]
    return top in _MADE or top.startswith((".venv", ".pytest", ".hypothesis")) or path.suffix in {".pyc", ".so"}
