"""Logs of a real MariaDB in the tests' data: ``python -m tests.mariadb captures`` makes them again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).parents[2] / "data/mariadb"
WHOLE: Final = ("compressed", "gtids", "history", "sequence", "statements", "transactions", "types")


def log_of(name: str) -> bytes:
    """The bytes of a log."""
    return (PLACE / f"{name}.binlog").read_bytes()


def text_of(name: str) -> bytes:
    """The text of ``mariadb-binlog -vv`` in UTC, BINLOG statements included."""
    return (PLACE / f"{name}.txt").read_bytes()
