"""The Cases as their files in ``groups`` declare them: SQL for a real server, or edits of a recorded log.

A file has ``[[case]]`` tables, and in ``[default]`` what a case may leave out. ``docs/contributing`` explains the keys.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Allowed, Equality
from conformance.checks.decoders.suite.hex_text import bytes_in

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = "lab"
FILES: Final = Path(__file__).with_name("groups")
GROUPS: Final = (
    "diffs", "jsonb", "holes", "columns", "charsets", "images", "updates", "metadata", "payload", "gtid", "xa",
    "transactions", "checksums", "files", "versions", "oldtypes", "hostile",
)  # fmt: skip
_MODE: Final = "ALLOW_INVALID_DATES"  # zero dates and days like 31 February are values of a row too


class Undeclared(Exception):
    """A file whose words are not those of a declaration."""


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
    commit_order: tuple[int, ...] = ()
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
    """A Case that the kit writes: ``edits`` of the log of another (``log_of``), or the bytes of a whole ``file``.

    ``version`` and ``checksums`` are those that the description names. ``same_as``: the Case whose changes these are,
    apart from positions and events; ``changes`` are the numbers of those changes that remain (default: all). That is
    what confirms them, or ``replay_on``: SQL that makes the tables on which a server applies the rows, or ``select``:
    the rows that SELECT gave on a server that wrote such bytes (``selected_on``), as text.
    ``prepare``: SQL of the tables for clients, if they are not those of the other Case.
    ``damaged``: the later changes may come too, with anything in these columns.
    """

    log_of: str = ""
    edits: tuple[dict[str, Any], ...] = ()
    file: bytes = b""
    version: str = ""
    checksums: int | None = None
    replay_on: tuple[str, ...] = ()
    select: tuple[list[str], ...] = ()
    selected_on: str = ""
    prepare: tuple[str, ...] = ()
    same_as: str = ""
    changes: tuple[int, ...] | None = None
    damaged: tuple[str, ...] | None = None
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


def declarations() -> tuple[Declared, ...]:
    """All Cases that are declared, in the order of the groups."""
    return tuple(case for name in GROUPS for case in declared_in(FILES / f"{name}.toml"))


def declared_in(
    path: Path, with_statements: type[Declared] = Recorded, others: type[Declared] = Written
) -> tuple[Declared, ...]:
    """The Cases of one file, of two kinds. Raises :class:`Undeclared` for what is no declaration."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise Undeclared(f"{path.name}: {problem}") from None
    if unknown := sorted(set(data) - {"about", "default", "case"}):
        raise Undeclared(f"{path.name}: unknown {', '.join(unknown)}; known are about, default, case")
    found = []
    for case in data.get("case", ()):
        name = str(case.get("name", ""))
        try:
            kind = with_statements if "statements" in case else others
            found.append(_declared(kind, f"{path.stem}/{name}", {**_default(data, case), **case}))
        except (TypeError, ValueError) as problem:
            raise Undeclared(f"{path.name}: case {name!r}: {problem}") from None
    return tuple(found)


def _default(data: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """The default for a case; SQL and setting are those of recorded ones."""
    default: dict[str, Any] = data.get("default", {})
    if "statements" in case:
        return default
    return {key: value for key, value in default.items() if key not in ("prepare", "setting")}


def _declared(kind: type[Declared], identity: str, given: Mapping[str, Any]) -> Declared:
    known = {item.name for item in fields(kind)} - {"id"}
    if kind is Recorded:
        known.add("setting")
    facts = {key: _fact(key, value) for key, value in given.items() if key not in ("name", "setting")}
    if unknown := sorted(set(facts) - known):
        raise ValueError(f"unknown {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    if kind is Recorded:
        setting = {
            key: _fact("more", value) if key == "more" else value for key, value in given.get("setting", {}).items()
        }
        facts["prepare"] = (*Setting(**setting).statements(), *facts.get("prepare", ()))
    return kind(id=identity, **facts)


_WORDS: Final = ("requirements", "needs")
_SQL: Final = ("prepare", "statements", "replay_on", "more", "later", "afterwards")


def _fact(key: str, value: Any) -> Any:
    if key in _WORDS:
        return tuple(value.split())
    if key in _SQL:
        return (value,) if isinstance(value, str) else tuple(value)
    if key == "file":
        return bytes_in(value)
    if key == "allowed":
        return Allowed(value)
    if key == "equality":
        return Equality(value)
    return tuple(value) if isinstance(value, list) else value
