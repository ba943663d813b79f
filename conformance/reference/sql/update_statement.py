"""An UPDATE of one table, taken apart: its table, and the column and the right-hand side of each assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.sql.statement_words import Placed, placed_words
from conformance.reference.sql.tokens import outside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BEHIND: Final = ("WHERE", "ORDER", "LIMIT", "RETURNING", ";")
_MODIFIERS: Final = ("LOW_PRIORITY", "IGNORE")


@dataclass(frozen=True, slots=True)
class ReadAssignment:
    """``column = sql``. ``names``: what may be names of columns in ``sql``, in lower case."""

    column: str
    sql: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    """The parts of the statement. Right-hand sides name columns without their table."""

    table: str
    assignments: tuple[ReadAssignment, ...]


def is_update(sql: str) -> bool:
    """Whether a text is a statement, and not a right-hand side."""
    words = placed_words(sql[:100])
    return bool(words) and words[0].word.among("UPDATE", "WITH")


def read_update(sql: str) -> UpdateStatement:
    """Take the statement apart. Raises :class:`Unsupported` for anything but an UPDATE of one table."""
    words = placed_words(sql)
    place = next((number for number, item in enumerate(words) if item.word.among("SET")), None)
    if not words or not words[0].word.among("UPDATE") or place is None:
        raise outside("not an UPDATE of one table", expected="UPDATE t SET column = …")
    head = [item for item in words[1:place] if not item.word.among(*_MODIFIERS, "AS")]
    names = [item.word.text for item in head if item.word.is_name]
    qualified = len(head) > 1 and head[1].word.among(".")
    if not names or len(head) > (4 if qualified else 2) or len(names) != len(head) - qualified:
        raise outside(
            "an UPDATE of one table is expected", offset=words[0].end, got=sql[words[0].end : words[place].start]
        )
    table = names[1] if qualified else names[0]
    behind = _end(words, place + 1)
    members = [_assignment(sql, part, {name.lower() for name in names}) for part in _members(words[place + 1 : behind])]
    return UpdateStatement(table, tuple(members))


def _depths(words: Sequence[Placed]) -> Iterator[tuple[int, Placed]]:
    """Each word with the number of parentheses around it."""
    depth = 0
    for item in words:
        depth -= item.word.among(")")
        yield depth, item
        depth += item.word.among("(")


def _end(words: Sequence[Placed], start: int) -> int:
    """The number of the first word behind the assignments."""
    for number, (depth, item) in enumerate(_depths(words[start:]), start):
        if not depth and item.word.among(*_BEHIND):
            return number
    return len(words)


def _members(words: Sequence[Placed]) -> Iterator[list[Placed]]:
    """The words between the commas outside parentheses."""
    member: list[Placed] = []
    for depth, item in _depths(words):
        if not depth and item.word.among(","):
            yield member
            member = []
        else:
            member.append(item)
    yield member


def _assignment(sql: str, words: Sequence[Placed], tables: set[str]) -> ReadAssignment:
    equals = next((number for number, item in enumerate(words) if item.word.among("=")), 0)
    value = words[equals + 1 :]
    if not equals or not value or not words[equals - 1].word.is_name:
        where = words[0].start if words else len(sql)
        raise outside("an assignment is expected", offset=where, expected="column = …")
    qualifiers = set()
    for number, item in enumerate(value[:-2]):
        if item.word.is_name and item.word.text.lower() in tables and value[number + 1].word.among("."):
            qualifiers |= {number, number + 1}
    text = "".join(
        sql[item.start : value[number + 1].start if number + 1 < len(value) else item.end]
        for number, item in enumerate(value) if number not in qualifiers
    )  # fmt: skip
    names = frozenset(item.word.text.lower() for item in value if item.word.is_name)
    return ReadAssignment(words[equals - 1].word.text, text, names)
