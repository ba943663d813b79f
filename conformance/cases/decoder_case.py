"""The decoder Case: a binary log, the row changes in it, and why they matter.

Its id is a slug ``group/name`` that never changes its meaning; ``rev`` grows when log or expectation change.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pathlib import Path


class Equality(StrEnum):
    """How equal two values are; each level includes the ones before it."""

    STRUCTURE = "structure"  # changes, columns, operations and paths of diffs
    VALUE = "value"  # and JSON values, column values
    TYPE = "type"  # and the MySQL type of each JSON leaf


class Allowed(StrEnum):
    """The outcomes that satisfy a Case."""

    CHANGES = "changes"  # exactly the expected changes; a refusal is honest, but no pass
    CHANGES_OR_ERROR = "changes-or-error"  # both pass: a verifier of checksums may refuse, say
    ERROR = "error"  # the changes before the damage, and an error


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderCase:
    """One log. ``why``: one sentence on what users suffer when it is read wrongly.

    ``expected`` and ``resolved`` are objects of ``decode --format jsonl --types`` (resolved: with ``--resolve``; equal
    to ``expected`` where the log has no diffs). ``rolled_back``: numbers of the expected changes whose transaction was
    rolled back in the end. ``needs``: capabilities without which a subject cannot meet the Case. ``equality``: the
    level that a pass takes. ``prepare`` and ``statements``: SQL that makes the log again on a real server (empty:
    written by the kit); tables are made by ``prepare``, before the log begins. ``sparse``: bytes of zeros, as one
    event to pass over, that the log's file has behind its first event (positions beyond 4 GiB).
    """

    kind: ClassVar[str] = "decoder"

    id: str
    rev: int = 1
    title: str
    why: str
    requirements: tuple[str, ...]
    needs: tuple[str, ...] = ()
    allowed: Allowed = Allowed.CHANGES
    equality: Equality = Equality.VALUE
    log: bytes
    expected: tuple[dict[str, Any], ...] = ()
    resolved: tuple[dict[str, Any], ...] = ()
    rolled_back: tuple[int, ...] = ()
    server_version: str = ""  # of the server that wrote the log; empty: written by the kit
    prepare: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    file_name: str = "log.binlog"
    sparse: int = 0

    @property
    def group(self) -> str:
        """The first part of the id."""
        return self.id.partition("/")[0]

    def write(self, directory: Path) -> Path:
        """Write the log as a file under its own name; returns its path."""
        path = directory / self.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.log)
        return path
