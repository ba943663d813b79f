"""Refusals and other answers of an older version, beside 9.7.4: the entries of ``versions.toml`` for one version."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.requirements.versions import Version, parse_version

_DATA: Final = Path(__file__).with_name("versions.toml")
_PREPARE: Final = r"(?:PREPARE\s+\w+\s+FROM\s+')?\s*"  # a statement that is only parsed is refused too
_SYNTAX: Final = (
    "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the "
    "right syntax to use near '{near}' at line 1"
)
_NEAR: Final = 80  # characters of the statement in the text of 1064
_STATES: Final = {1064: "42000", 1146: "42S02", 1305: "42000"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A form of statement that the version does not know, and its error."""

    pattern: re.Pattern[str]
    error: int
    text: str

    def of(self, statement: str) -> tuple[int, str, str] | None:
        """The error (number, SQL state, text) of a statement; ``None``: the version knows it."""
        found = self.pattern.search(statement)
        if found is None:
            return None
        rest = statement[found.start("near") :]
        if statement[:7].upper() == "PREPARE":
            rest = rest.removesuffix("'")
        near = rest[:_NEAR] if self.error == 1064 else found["near"]
        return self.error, _STATES.get(self.error, "HY000"), self.text.format(near=near)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """The differences of a version from 9.7.4.

    ``variables``: system variables and options without a counterpart. ``words``: old forms, and what 9.7.4 calls them.
    ``gone``: variables that only the version has, with their values. ``left``: rows of the table of versions that stay
    those of 9.7.4, with the reason.
    """

    version: str
    number: Version
    variables: frozenset[str]
    refusals: tuple[Refusal, ...]
    words: tuple[tuple[re.Pattern[str], str], ...]
    gone: dict[str, str]
    defaults: dict[str, str]
    left: dict[str, str]


def lacking(version: str) -> Lacking:
    """The entries for a version: those that came after it, or went before 9.7.4."""
    number = parse_version(version)
    data = tomllib.loads(_DATA.read_text(encoding="utf-8"))

    def later(kind: str) -> list[dict[str, Any]]:
        return [item for item in data[kind] if parse_version(item["since"]) > number]

    def still(kind: str) -> list[dict[str, Any]]:
        return [item for item in data[kind] if parse_version(item["until"]) > number]

    return Lacking(
        version=version,
        number=number,
        variables=frozenset(name for item in later("variables") for name in item["names"]),
        refusals=tuple(map(_refusal, later("statements"))),
        words=tuple((_beginning(item["begins"]), item["sent"]) for item in still("words")),
        gone={item["name"]: item["value"] for item in still("gone")},
        defaults={item["name"]: item["value"] for item in still("defaults")},
        left={item["row"]: item["why"] for item in data["left"]},
    )


def _refusal(item: dict[str, Any]) -> Refusal:
    anywhere = "holds" in item
    pattern = re.compile(item["holds"], re.IGNORECASE) if anywhere else _beginning(item["begins"])
    return Refusal(pattern, item["error"], item.get("text", _SYNTAX))


def _beginning(pattern: str) -> re.Pattern[str]:
    return re.compile(f"\\A(?P<before>{_PREPARE}){pattern}", re.IGNORECASE)
