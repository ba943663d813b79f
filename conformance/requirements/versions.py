"""The dialect of each server version, and the versions that the observed facts stand for. No version test stands
elsewhere.

The table is data (``dialects.toml``): for each switch, cells that hold from a version on. An unknown cell has an
assumed value and a mark that says so; a run asks the live server and writes what it found beside it.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from conformance.reference.dialect import DIALECTS, MYSQL, Dialect

Version = tuple[int, int, int]
Value = bool | int | str | None

# How a cell of the table is known: the letters of its mark.
MARKS: Final = {
    "V": "seen on a running server of that version",
    "S": "read in the source of that version",
    "M": "manual",
    "R": "release notes",
    "B": "public report",
    "I": "inferred",
    "K": "common knowledge",
}

# The event-39 code, the diff encoding, the evaluation, the in-place rules and the decision are the same from 8.0.3
# (versions 0.1); 9.7.4 is where they were observed.
FIRST: Final[Version] = (8, 0, 3)
OLDEST: Final[Version] = (5, 6, 0)  # the table begins here
OBSERVED: Final = "9.7.4"  # the version on which the kit was made; each listed deviation names its own
LAST_OBSERVED: Final[Version] = (9, 7, 99)
_NO_END: Final[Version] = (1 << 16, 0, 0)
_PACKAGE: Final = "conformance.requirements"
_DATA: Final = "dialects.toml"
_PARTS: Final = ("log", "json", "terms", "server")
_VERSION: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:[-+_ ~].*)?", re.DOTALL)
_FORKS: Final = re.compile(r"mariadb", re.IGNORECASE)


class DialectError(Exception):
    """An unusable table: a cell is out of order or has another type than its place in the dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The value of a switch from a version on. ``mark``: how the value is known; ``probe``: it is assumed, and a run
    asks the server."""

    since: Version
    value: Value
    mark: str
    probe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A row of the table. ``part`` and ``name``: its place in the dialect."""

    id: str
    part: str
    name: str
    what: str
    cells: tuple[Cell, ...]

    def at(self, version: Version) -> Cell:
        """The cell of a version. After the last observed version nothing is known: the newest value is assumed."""
        if version < OLDEST:
            raise ValueError(f"MySQL {text_of(version)} is older than {text_of(OLDEST)}, where the table begins")
        cell = next(cell for cell in reversed(self.cells) if cell.since <= version)
        return replace(cell, probe=True, mark=f"newer than {OBSERVED}") if version > LAST_OBSERVED else cell


def parse_table(text: str) -> dict[str, Switch]:
    """The rows by id. Raises :class:`DialectError`."""
    try:
        items = tomllib.loads(text)["switch"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise DialectError(f"{_DATA}: not a table of switches: {error}") from None
    rows: dict[str, Switch] = {}
    for item in items:
        row = _row(item)
        if row.id in rows:
            raise DialectError(f"{_DATA}: {row.id} is listed twice")
        rows[row.id] = row
    places = sorted((row.part, row.name) for row in rows.values())
    expected = sorted((part, each.name) for part in _PARTS for each in fields(getattr(MYSQL, part)))
    if places != expected:
        raise DialectError(f"{_DATA}: rows for {set(places) ^ set(expected)} are missing, unknown or there twice")
    return rows


def _row(item: dict[str, Any]) -> Switch:
    where = f"{_DATA}: switch {item.get('id', '?')}"
    if set(item) != {"id", "field", "what", "cells"}:
        raise DialectError(f"{where}: got the keys {sorted(item)}, expected id, field, what, cells")
    part, _, name = item["field"].partition(".")
    default = getattr(getattr(MYSQL, part, None), name, None)
    cells = tuple(_cell(where, cell) for cell in item["cells"])
    if [cell.since for cell in cells] != sorted({cell.since for cell in cells}) or cells[0].since != OLDEST:
        raise DialectError(f"{where}: cells are not in order from {text_of(OLDEST)}")
    kinds = {type(cell.value) for cell in cells if cell.value is not None}
    if len(kinds) != 1 or (default is not None and kinds != {type(default)}):
        raise DialectError(f"{where}: values of {sorted(kind.__name__ for kind in kinds)}, expected one type")
    return Switch(id=item["id"], part=part, name=name, what=item["what"], cells=cells)


def _cell(where: str, item: dict[str, Any]) -> Cell:
    absent = item.get("absent", False)
    if set(item) - {"since", "value", "absent", "mark", "probe"} or absent is ("value" in item) or not item.get("mark"):
        raise DialectError(f"{where}: cell {item}: expected since, mark, and value or absent")
    return Cell(
        since=_version(item["since"]), value=item.get("value"), mark=item["mark"], probe=item.get("probe", False)
    )


def _version(text: str) -> Version:
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text.strip())
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    return int(match[1]), int(match[2]), int(match[3])


SWITCHES: Final = parse_table(files(_PACKAGE).joinpath(_DATA).read_text(encoding="utf-8"))


def dialect(name: str) -> Dialect:
    """Return a dialect by its name or by a server's version: ``mysql-9.7``, ``worklog``, ``9.7.4``, ``8.0.36-28``.

    ``8.4`` is the last one of its series. Raises ``ValueError``.
    """
    return DIALECTS[name] if name in DIALECTS else dialect_of(parse_version(name.removeprefix("mysql-"), patch=99))


@lru_cache(maxsize=64)
def dialect_of(version: Version) -> Dialect:
    """The dialect of a server version. Raises ``ValueError`` for a version older than the table."""
    return make_dialect(SWITCHES, version)


def make_dialect(switches: dict[str, Switch], version: Version) -> Dialect:
    """The dialect that a table gives a version, named after the first version with the same values."""
    parts: dict[str, dict[str, Value]] = {part: {} for part in _PARTS}
    since = OLDEST
    for switch in switches.values():
        cell = switch.at(version)
        parts[switch.part][switch.name] = cell.value
        since = max([since, *(each.since for each in switch.cells if each.since <= version)])
    made: dict[str, Any] = {part: replace(getattr(MYSQL, part), **values) for part, values in parts.items()}
    return replace(MYSQL, name=f"mysql-{text_of(since).removesuffix('.0')}", **made)


def dialect_name(version: Version) -> str:
    """The name of a version's dialect, or that there is none."""
    return dialect_of(version).name if version >= OLDEST else "none"


def parse_version(text: str, *, patch: int = 0) -> Version:
    """``9.7.4-log``, ``8.0.36-28``, ``26.7.0``, ``8.4`` (``patch`` is then the last part). Suffixes are stripped; a
    fork has its own profile, not that of its number. Raises ``ValueError``."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a version: {text!r}, expected one such as {OBSERVED}")
    if _FORKS.search(text):
        raise ValueError(f"{text!r} is a fork, whose version says nothing about its dialect")
    return int(match[1]), int(match[2]), patch if match[3] is None else int(match[3])


def text_of(version: Version) -> str:
    """``(9, 7, 4)`` -> ``9.7.4``."""
    return ".".join(map(str, version))


def parse_range(text: str) -> tuple[Version, Version]:
    """``A..B`` with both ends in it, ``A..`` without an end, or one version. Raises ``ValueError``."""
    first, dots, last = text.partition("..")
    begin = _version(first)
    if not dots:
        return begin, begin
    return begin, _version(last) if last else _NO_END


def parse_ranges(text: str) -> tuple[tuple[Version, Version], ...]:
    """One range, or several with commas between. Raises ``ValueError``."""
    return tuple(parse_range(part.strip()) for part in text.split(","))


def applies(versions: str, version: Version) -> bool:
    """Whether a version lies in one of the ranges of versions."""
    return any(first <= version <= last for first, last in parse_ranges(versions))


def after_observed(version: Version) -> bool:
    """Whether a version comes after all those on which the listed deviations were observed."""
    return version > LAST_OBSERVED


def in_observed_range(version: Version) -> bool:
    """Whether a difference from observed behaviour counts as a failure."""
    return FIRST <= version <= LAST_OBSERVED
