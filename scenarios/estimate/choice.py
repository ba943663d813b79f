"""With Spark or without: starting it takes longer than reading a few small logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

WITHOUT: Final = 64 << 20  # bytes of logs that are read in about the time that Spark takes to start


def spark_for(files: Iterable[str], asked: str | None) -> str | None:
    """The master to use; ``None``: no Spark. The figures are the same."""
    if asked is not None:
        return None if asked == "none" else asked
    size = sum(path.stat().st_size for path in map(Path, files) if path.is_file())
    return None if size <= WITHOUT else "local[*]"
