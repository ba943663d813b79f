"""Chooses between Spark and no Spark: starting Spark takes longer than reading a few small logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

WITHOUT: Final = 64 << 20  # bytes of logs that the estimate reads in about the time that Spark takes to start


def spark_for(files: Iterable[str], asked: str | None) -> str | None:
    """The master to use; ``None``: no Spark. Both ways give the same figures."""
    if asked is not None:
        return None if asked == "none" else asked
    size = sum(path.stat().st_size for path in map(Path, files) if path.is_file())
    return None if size <= WITHOUT else "local[*]"
