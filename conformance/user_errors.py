"""Errors that end a command with a message, an exit code (design 6) and no traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.exit_code import ExitCode
from conformance.messages import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_FEW = 20  # names that a message can list


class UserError(Exception):
    """A message for the user. Raise one of its subclasses: they fix the exit code. ``hint``: a line of its own."""

    exit_code = int(ExitCode.COULD_NOT_RUN)

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InputCorrupt(UserError):
    """The input of a file command is corrupt, truncated or encrypted; the events before the damage are printed."""

    exit_code = 1


class Usage(UserError):
    """Wrong arguments, a file that is missing or of another kind, nothing selected."""

    exit_code = int(ExitCode.USAGE)


class CouldNotRun(UserError):
    """A subject, a server or the lab itself could not run."""

    exit_code = int(ExitCode.COULD_NOT_RUN)


def unknown(what: str, names: Iterable[str], known: Collection[str], *, hint: str | None = None) -> Usage:
    """The error about unknown names: each with the known names that are nearest, or with all, if they are few."""
    nearest = {name: did_you_mean(name, known) for name in names}
    every = "" if any(nearest.values()) or len(known) > _FEW else f"; known: {', '.join(known)}"
    return Usage(f"unknown {what} {', '.join(f'{name}{near}' for name, near in nearest.items())}{every}", hint=hint)
