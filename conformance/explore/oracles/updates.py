"""The updates that the sessions of the first schema were given, as the prediction of their events needs them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.explore.cuts import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.explore.steps import Step

_HEAD: Final = re.compile(
    r"UPDATE (?P<ignore>IGNORE )?(?P<table>\w+)(?: (?:FORCE|USE|IGNORE) INDEX \(\w+\)| PARTITION \([\w, ]+\))? SET "
)
_END: Final = frozenset(("WHERE", "ORDER", "LIMIT"))
_OPTIONS: Final = re.compile(r"SET SESSION binlog_row_value_options = '(\w*)'")


@dataclass(frozen=True, slots=True)
class Update:
    """An UPDATE of a single table or view: its assignments in their order, each a column and an expression."""

    table: str
    assignments: tuple[tuple[str, str], ...]
    ignore: bool = False


def read_update(text: str) -> Update | None:
    """The parts of an UPDATE of one table; ``None`` for any other statement.

    One with a subquery may become a join, whose order decides whether diffs are collected.
    """
    head = _HEAD.match(text)
    if head is None:
        return None
    words = words_of(text[head.end() :])
    if "SELECT" in words:
        return None
    parts = []
    for member in _members(words):
        column, _, value = "".join(member).partition("=")
        parts.append((column.strip(), value.strip()))
    return Update(head["table"], tuple(parts), head["ignore"] is not None)


def _members(words: Sequence[str]) -> Iterator[list[str]]:
    """The words between the commas outside of parentheses, up to the first clause behind SET."""
    depth, member = 0, list[str]()
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if not depth and word in _END:
            break
        if not depth and word == ",":
            yield member
            member = []
        else:
            member.append(word)
    yield member


@dataclass(slots=True)
class Updates:
    """The updates of an episode by their texts, and whether the sessions that sent them were to log diffs."""

    sent: dict[str, set[bool]] = field(default_factory=dict)
    _diffs: dict[int, bool] = field(default_factory=dict)  # by session; a new one logs diffs

    def ran(self, step: Step, error: int) -> None:
        """Take a step that the first schema has run."""
        option = _OPTIONS.match(step.base)
        if option is not None and not error:
            self._diffs[step.session] = option[1] == "PARTIAL_JSON"
        elif step.base.startswith("UPDATE"):
            self.sent.setdefault(step.base, set()).add(self._diffs.get(step.session, True))

    def disconnected(self, session: int | None = None) -> None:
        """Take the end of a session, or of all."""
        if session is None:
            self._diffs.clear()
        else:
            self._diffs.pop(session, None)
