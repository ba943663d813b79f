"""The Cases about data files as ``groups`` declares them: SQL for a real server, or damage to such a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance.cases.decoder_case import ROWS, SDI
from conformance.checks.decoders.suite.declare import SCHEMA, Declared, declared_in

FILES: Final = Path(__file__).with_name("groups")
GROUPS: Final = {"rows": ROWS, "entries": SDI}  # the role of each group's Cases
BEGIN: Final = (
    f"DROP SCHEMA IF EXISTS {SCHEMA}",
    f"CREATE SCHEMA {SCHEMA} CHARACTER SET utf8mb4",
    f"USE {SCHEMA}",
    "SET NAMES utf8mb4",
    "SET SESSION time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES'",
)
"""Statements in front of each recorded file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFile(Declared):
    """A file that a real server writes: by ``statements``, and ``later`` while another session keeps a snapshot.

    The snapshot keeps purge from what ``later`` deletes and replaces. ``place``: the file, with wildcards, in the data
    directory. ``afterwards``: statements behind the copy and before SELECT, which take away what is not in the file.
    """

    statements: tuple[str, ...]
    later: tuple[str, ...] = ()
    afterwards: tuple[str, ...] = ()
    place: str = f"{SCHEMA}/t.ibd"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFile(Declared):
    """A file made of another Case's, of a text, or one that the recorder was given (``given`` says what it is).

    Of ``file_of``, one byte of each of ``pages`` is changed, ``at`` so many bytes behind its start; ``cut``: the file
    ends there. ``keep``: numbers of the other Case's rows that must come; the others may come, and must where no error
    does. ``lacks``: the columns that a row may be without, by its number. ``owes``: the tables and names of what a file
    that was given has.
    """

    file_of: str = ""
    pages: tuple[int, ...] = ()
    at: int = 60
    cut: int = 0
    text: str = ""
    given: str = ""
    keep: tuple[int, ...] = ()
    lacks: dict[str, list[str]] = field(default_factory=dict)
    owes: tuple[dict[str, Any], ...] = ()


def declarations() -> tuple[Declared, ...]:
    """All Cases that are declared, in the order of the groups."""
    return tuple(case for name in GROUPS for case in declared_in(FILES / f"{name}.toml", MadeFile, OtherFile))
