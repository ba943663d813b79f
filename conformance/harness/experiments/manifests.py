"""The manifest of each experiment: the facts of its checks, read from ``experiment.toml`` without importing a check.

An experiment is one room of ``conformance/checks``. Its manifest has a table for each check: the requirements that it
judges, its needs of a server, its sizes and its file. Above them stands what all checks of the room share. A check
whose requirements depend on data (the suite of decoders, promoted Cases) lists none: its items say them with the mark
``judges``.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKS: Final = Path(__file__).parents[2] / "checks"
MANIFEST: Final = "experiment.toml"
PROFILES: Final = ("quick", "full", "soak")
_ROOM_KEYS: Final = {"check", "lane", "needs", "seconds", "size"}
_CHECK_KEYS: Final = {"file", "needs", "profiles", "requirements", "size", "sizes"}
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_COUNTS: Final = "counts"


class ManifestError(Exception):
    """A manifest cannot be meant: a key is missing or unknown, or there is no such file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFacts:
    """The facts of one check. ``needs``: those of its room, then its own. ``profiles``: in which it runs.

    ``sizes``: how much it does in each profile, by name; the empty name is its main size.
    """

    room: str
    name: str
    file: str = "check.py"
    requirements: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    profiles: tuple[str, ...] = PROFILES
    sizes: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of its results: its room and its name."""
        return f"{self.room}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One manifest. ``lane``: the further server that its checks share with other rooms. ``seconds``: about how
    long a quick run takes. ``size``: what all its checks share."""

    room: str
    checks: dict[str, CheckFacts]
    lane: str = ""
    seconds: int = 0
    size: dict[str, int] = field(default_factory=dict)

    def of_file(self, name: str) -> list[CheckFacts]:
        """The checks in one of its files."""
        return [facts for facts in self.checks.values() if facts.file == name]


@cache
def experiments() -> dict[str, Experiment]:
    """All experiments by room. Raises :class:`ManifestError`."""
    found = sorted(CHECKS.glob(f"*/{MANIFEST}"))
    return {path.parent.name: read_manifest(path) for path in found}


def facts_of(check: str) -> CheckFacts | None:
    """The facts of a check by its id, or by the id of a part of it: ``room/name/part``."""
    room, _, rest = check.partition("/")
    experiment = experiments().get(room)
    return None if experiment is None else experiment.checks.get(rest.partition("/")[0].partition("[")[0])


def all_facts() -> Iterator[CheckFacts]:
    """Yield the facts of every check of the kit."""
    for experiment in experiments().values():
        yield from experiment.checks.values()


@cache
def sentence_of(check: str) -> str:
    """The sentence of a check: the first paragraph of its function's docstring, read without importing it."""
    facts = facts_of(check)
    if facts is None:
        return ""
    for node in ast.parse((CHECKS / facts.room / facts.file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and any(_marks(each, facts.name) for each in node.decorator_list):
            return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    return ""


def _marks(decorator: ast.expr, name: str) -> bool:
    return ast.unparse(decorator) == f"pytest.mark.check({name!r})"


def judging(path: Path) -> frozenset[str] | None:
    """The requirements that the checks of a file judge; ``None`` where only its items tell all of them."""
    experiment = experiments().get(path.parent.name)
    checks = [] if experiment is None else experiment.of_file(path.name)
    if not checks or not all(facts.requirements for facts in checks):
        return None
    return frozenset(name for facts in checks for name in facts.requirements)


def read_manifest(path: Path) -> Experiment:
    """The experiment of a manifest. Raises :class:`ManifestError`."""
    room = path.parent.name
    where = f"{room}/{path.name}"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(f"{where}: not TOML: {error}") from None
    _known(where, data, _ROOM_KEYS)
    needs = _texts(where, data, "needs")
    tables = data.get("check")
    if not isinstance(tables, dict) or not tables:
        raise ManifestError(f"{where}: it lists no check")
    checks = {name: _check(room, name, table, needs, path) for name, table in tables.items()}
    size = _size(f"{where}: size", data["size"]) if "size" in data else {}
    lane, seconds = data.get("lane", ""), data.get("seconds", 0)
    if not isinstance(lane, str) or not isinstance(seconds, int):
        raise ManifestError(f"{where}: lane is a word, and seconds a number")
    return Experiment(room=room, checks=checks, lane=lane, seconds=seconds, size=size)


def _check(room: str, name: str, table: Any, needs: tuple[str, ...], path: Path) -> CheckFacts:
    where = f"{room}/{path.name}: check {name}"
    if not _NAME.fullmatch(name) or not isinstance(table, dict):
        raise ManifestError(f"{where}: a name has small letters, digits and single hyphens, and its facts are a table")
    _known(where, table, _CHECK_KEYS)
    file = table.get("file", "check.py")
    if not isinstance(file, str) or not re.fullmatch(r"check(_\w+)?\.py", file) or not path.with_name(file).is_file():
        raise ManifestError(f"{where}: there is no file {file}: checks stand in check.py and check_*.py of the room")
    profiles = _texts(where, table, "profiles") or PROFILES
    if not set(profiles) <= set(PROFILES):
        raise ManifestError(f"{where}: profiles are some of {', '.join(PROFILES)}")
    sizes = {**({"": table["size"]} if "size" in table else {}), **table.get("sizes", {})}
    return CheckFacts(
        room=room,
        name=name,
        file=file,
        requirements=_texts(where, table, "requirements"),
        needs=(*needs, *_texts(where, table, "needs")),
        profiles=profiles,
        sizes={key: _size(f"{where}: size {key}".rstrip(), value) for key, value in sizes.items()},
    )


def _known(where: str, table: dict[str, Any], keys: set[str]) -> None:
    if unknown := sorted(set(table) - keys):
        raise ManifestError(f"{where}: unknown keys {', '.join(unknown)}, expected some of {', '.join(sorted(keys))}")


def _texts(where: str, table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ManifestError(f"{where}: {key} is no list of texts")
    return tuple(value)


def _size(where: str, value: Any) -> dict[str, int]:
    """The number of each profile; what is counted stands beside them, for readers."""
    if not isinstance(value, dict) or set(value) != {*PROFILES, _COUNTS} or not value[_COUNTS]:
        raise ManifestError(f"{where}: expected {', '.join(PROFILES)}, and what it {_COUNTS}")
    numbers = {profile: value[profile] for profile in PROFILES}
    if not all(isinstance(number, int) and number >= 0 for number in numbers.values()):
        raise ManifestError(f"{where}: expected numbers")
    return numbers
