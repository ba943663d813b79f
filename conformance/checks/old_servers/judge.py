"""Judges of an old server that gets events: it must have the rows of a new server, or give an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem

if TYPE_CHECKING:
    from conformance.checks.old_servers.run import Rows

_SHOWN: Final = 1000  # characters of a row


def compare_rows(expected: Rows, got: Rows, statement: str, message: str) -> list[Problem]:
    """Compare the rows of two servers, or of one server before and after."""
    if expected == got:
        return []
    field, wanted, found = "rows", str(len(expected)), str(len(got))
    for number, (row, other) in enumerate(zip(expected, got, strict=False)):
        if row != other:
            field, wanted, found = f"row {number}", repr(row)[:_SHOWN], repr(other)[:_SHOWN]
            break
    return [Problem(field, wanted, found, message, statements=(statement,))]


def accepted(statement: str) -> Problem:
    """The problem of an old server that gave no error for an event 39."""
    return Problem("error", "an error", "none", "an old server takes an event 39", statements=(statement,))


def refused(error: int, statement: str) -> Problem:
    """The problem of an old server that gave an error for an event that every server knows."""
    return Problem(
        field="error",
        expected="none",
        got=str(error),
        message="an old server refuses an update that is logged without the option",
        statements=(statement,),
    )


def other_error(expected: int, got: int, statement: str) -> Problem:
    """The problem of an old server that refused an event 39 with another number than observed."""
    return Problem(
        field="error",
        expected=str(expected),
        got=str(got),
        message="an old server refuses an event 39 with another error",
        statements=(statement,),
    )
