"""The updates that ``predict`` is asked about: right-hand sides, or whole statements as an application sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.sql.update_statement import is_update, read_update
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.sql.update_statement import ReadAssignment

COLUMN: Final = "j"  # the document in a right-hand side that stands alone
_ALONE: Final = "give the right-hand side alone, for the column j"


class Asked(NamedTuple):
    """Right-hand sides for the document in ``column``. ``beside``: other columns that the statements assign."""

    column: str
    updates: tuple[str, ...]
    beside: tuple[str, ...]


def read_steps(texts: Sequence[str]) -> Asked:
    """Read all updates. Raises :class:`Usage` unless they are of one column, and :class:`Unsupported` as
    :func:`read_update`."""
    steps = [_step(text) for text in texts]
    columns = {column.lower(): column for column, _, _ in steps}
    if len(columns) > 1:
        raise Usage(f"the updates are of several columns: {', '.join(columns.values())}")
    beside = [names for _, _, names in steps]
    if any(beside) and not all(beside):
        raise Usage("some of the updates assign other columns too", hint="predict those in a call of their own")
    updates = tuple(sql for _, sql, _ in steps)
    return Asked(steps[0][0], updates, tuple(dict.fromkeys(name for names in beside for name in names)))


def _step(text: str) -> tuple[str, str, list[str]]:
    if not is_update(text):
        return COLUMN, text, []
    assignments = read_update(text).assignments
    chosen = _document(assignments)
    before = {each.column.lower() for each in assignments[: assignments.index(chosen)]}
    if read := sorted(before & chosen.names):
        raise Usage(
            f"{chosen.column} is set from {', '.join(read)}, which the statement has changed by then", hint=_ALONE
        )
    return chosen.column, chosen.sql, [each.column for each in assignments if each is not chosen]


def _document(assignments: Sequence[ReadAssignment]) -> ReadAssignment:
    """The assignment to the document: the only one, or the only one that is made from its own column by a function."""
    made = [each for each in assignments if each.column.lower() in each.names and "json" in each.sql.lower()]
    for found in (assignments, made):
        if len(found) == 1:
            return found[0]
    names = ", ".join(each.column for each in assignments)
    raise Usage(f"which of {names} is the document?", hint=_ALONE)
