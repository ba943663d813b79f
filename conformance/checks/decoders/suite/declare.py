"""The forms in which the groups declare Cases: SQL for a real server, or bytes that the kit writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import Allowed, Equality

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.cases.decoder_case import DecoderCase

SCHEMA: Final = "lab"
_MODE: Final = "ALLOW_INVALID_DATES"  # zero dates and days like 31 February are values of a row too


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The facts that every Case declares about itself."""

    id: str
    title: str
    why: str
    requirements: tuple[str, ...]
    rev: int = 1
    needs: tuple[str, ...] = ()
    allowed: Allowed = Allowed.CHANGES
    equality: Equality = Equality.VALUE
    rolled_back: tuple[int, ...] = ()
    file_name: str = "log.binlog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Declared):
    """A Case that a real server writes: ``prepare`` before the log begins, ``statements`` in it.

    ``at_end``: transactions become visible in another order than the log has them, so that only the last state counts.
    """

    prepare: tuple[str, ...]
    statements: tuple[str, ...]
    at_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Declared):
    """A Case that the kit writes, mostly out of the log of a recorded one.

    ``same_as``: the Case whose changes these are, apart from positions and events; ``changes`` are the numbers of those
    changes that remain (default: all). That is what confirms them.
    """

    build: Callable[[Mapping[str, DecoderCase]], bytes]
    replay_on: tuple[str, ...] = ()  # SQL that makes the tables on which a server applies the rows, to confirm them
    same_as: str = ""
    changes: tuple[int, ...] | None = None
    damaged: tuple[str, ...] | None = None  # the later changes may come too, with anything in these columns
    sparse: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The variables with which a log is written."""

    partial: bool = False
    image: str = "FULL"
    metadata: str = "FULL"
    checksum: str = "CRC32"
    compressed: bool = False
    gtids: bool = False
    more: tuple[str, ...] = field(default=())

    def statements(self) -> tuple[str, ...]:
        """SQL that brings about the setting and an empty schema, whatever the session had before."""
        return (
            f"DROP SCHEMA IF EXISTS {SCHEMA}",
            f"CREATE SCHEMA {SCHEMA} CHARACTER SET utf8mb4",
            f"USE {SCHEMA}",
            "SET NAMES utf8mb4",
            f"SET SESSION time_zone = '+00:00', sql_mode = '{_MODE}'",
            f"SET GLOBAL binlog_row_metadata = {self.metadata}",
            f"SET GLOBAL binlog_checksum = {self.checksum}",
            *(_GTIDS_ON if self.gtids else ()),
            f"SET SESSION binlog_row_image = {self.image}",
            f"SET SESSION binlog_row_value_options = '{'PARTIAL_JSON' if self.partial else ''}'",
            *(("SET SESSION binlog_transaction_compression = ON",) if self.compressed else ()),
            *self.more,
        )


_GTIDS_ON: Final = (
    "SET GLOBAL enforce_gtid_consistency = ON",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE",
    "SET GLOBAL gtid_mode = ON",
)


def words(text: str) -> tuple[str, ...]:
    """Requirements or names in one string."""
    return tuple(text.split())


def recorded(
    identity: str,
    title: str,
    why: str,
    requirements: str,
    *,
    prepare: tuple[str, ...] | str,
    statements: tuple[str, ...] | str,
    setting: Setting | None = None,
    rev: int = 1,
    equality: Equality = Equality.VALUE,
    needs: str = "",
    rolled_back: tuple[int, ...] = (),
    file_name: str = "log.binlog",
    at_end: bool = False,
) -> Recorded:
    """A recorded Case, with its setting in front of what it prepares."""
    return Recorded(
        id=identity,
        title=title,
        why=why,
        requirements=words(requirements),
        rev=rev,
        equality=equality,
        needs=words(needs),
        rolled_back=rolled_back,
        file_name=file_name,
        at_end=at_end,
        prepare=(*(setting or Setting()).statements(), *_listed(prepare)),
        statements=_listed(statements),
    )


def _listed(statements: tuple[str, ...] | str) -> tuple[str, ...]:
    return (statements,) if isinstance(statements, str) else statements


def text(value: str) -> str:
    """A string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
