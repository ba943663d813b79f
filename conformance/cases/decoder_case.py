"""The decoder Case: a binary log, the row changes in it, and why they matter; or a data file of InnoDB.

Its id is a slug ``group/name`` that never changes its meaning; ``rev`` grows when log or expectation change.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import StrEnum
from os import SEEK_CUR
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_TAG: Final = re.compile(r"gtid_next = '[^']*:[A-Za-z_]", re.IGNORECASE)
_MAGIC: Final = b"\xfebin"
_HEADER: Final = 19  # bytes of an event's header
_MOST: Final = 64 << 20  # bytes of one event of zeros
_IGNORABLE, _IGNORABLE_FLAG = 28, 0x80


DECODE: Final = "decode"  # the role of a subject that gives the row changes of a binary log
ROWS: Final = "rows"  # gives the rows of a data file
SDI: Final = "sdi"  # gives the dictionary information of a data file


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


def group_of(identity: str) -> str:
    """The group of the Case with this id: its first part."""
    return identity.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderCase:
    """One log. ``why``: one sentence on what users suffer when it is read wrongly.

    ``expected`` and ``resolved`` are objects of ``decode --format jsonl --types`` (resolved: with ``--resolve``; equal
    to ``expected`` where the log has no diffs). ``rolled_back``: numbers of the expected changes whose transaction was
    rolled back in the end. ``commit_order``: numbers of the others in the order of their commits, where the log has
    another one; a subject that waits for commits may give either.
    ``needs``: capabilities without which a subject cannot meet the Case. ``equality``: the
    level that a pass takes. ``prepare`` and ``statements``: SQL that makes the log again on a real server; tables are
    made by ``prepare``, before the log begins. A log that the kit wrote has no statements. ``sparse``: bytes that the
    log's file has behind its first event, as ignorable events of at most 64 MiB filled with zeros (positions beyond
    4 GiB).
    ``tolerated``: changes behind damage that a decoder may give; their key ``damaged`` names the columns, by name and
    by number, whose values may be anything.
    ``role``: the role of a subject that meets the Case. A Case with another role than ``decode`` has a data file in the
    place of the log; each row, or entry of the dictionary information, stands in ``expected`` as an insert, and their
    order means nothing. ``definitions``: SHOW CREATE TABLE of the tables whose rows it has. ``owed``: the numbers of
    those among ``tolerated`` that are lost by damage: a subject that says nothing of the damage owes them.
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
    commit_order: tuple[int, ...] = ()
    server_version: str = ""  # of the server that wrote the log; empty: written by the kit
    prepare: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    confirmed: str = ""  # how the expected changes were held against something other than the reference
    file_name: str = "log.binlog"
    sparse: int = 0
    tolerated: tuple[dict[str, Any], ...] = ()
    role: str = DECODE
    definitions: tuple[str, ...] = ()
    owed: tuple[int, ...] = ()

    @property
    def group(self) -> str:
        return group_of(self.id)

    @property
    def whole(self) -> tuple[dict[str, Any], ...]:
        """The expected changes, with those that a subject owes which says nothing of damage."""
        return (*self.expected, *(self.tolerated[number] for number in self.owed))

    def write(self, directory: Path) -> Path:
        """Write the log as a file under its own name; returns its path."""
        path = directory / self.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for part in sparse_parts(self.log, self.sparse):
                if isinstance(part, int):
                    file.seek(part, SEEK_CUR)
                else:
                    file.write(part)
        return path


def sparse_parts(log: bytes, sparse: int) -> Iterator[bytes | int]:
    """The pieces of a log's file: bytes, and how many zeros come next. The log has no checksums then."""
    if not sparse:
        yield log
        return
    first = len(_MAGIC) + int.from_bytes(log[len(_MAGIC) + 9 : len(_MAGIC) + 13], "little")
    yield log[:first]
    position = first
    while sparse:
        length = min(sparse, _MOST)
        if 0 < sparse - length < _HEADER:
            length -= _HEADER
        position += length
        sparse -= length
        end = position & 0xFFFFFFFF
        yield bytes(4) + bytes([_IGNORABLE]) + struct.pack("<IIIH", 1, length, end, _IGNORABLE_FLAG)
        yield length - _HEADER
    yield log[first:]


def sets_tag(statements: Iterable[str]) -> bool:
    """Whether statements set a GTID with a tag: from then on a server writes its sets of GTIDs in the tagged form, also
    empty ones, until it ends (observed on 9.7.4).
    """
    return any(_TAG.search(statement) for statement in statements)
