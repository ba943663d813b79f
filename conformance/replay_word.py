"""The words of a replay: how a Case that runs again ended, with the exit code of each."""

from __future__ import annotations

from enum import StrEnum

from conformance.exit_code import ExitCode


class Word(StrEnum):
    """How a Case ended when it ran again."""

    PASS = "PASS"  # noqa: S105 - a word, not a password
    FIXED = "FIXED"
    DEVIATES = "DEVIATES"
    FAILED = "FAILED"
    DIED = "DIED"
    ERROR = "ERROR"

    @property
    def code(self) -> ExitCode:
        """The exit code of a command that replays this one Case."""
        return _CODES.get(self, ExitCode.OK)

    @property
    def holds(self) -> bool:
        """Whether the Case ended as it must, with nothing unlisted and nothing listed."""
        return self in (Word.PASS, Word.FIXED)

    def after(self, failed_before: bool) -> Word:
        """The word in the light of an earlier run: FIXED is said only of what failed, or deviated, there."""
        return Word.FIXED if self is Word.PASS and failed_before else self


_CODES = {
    Word.FAILED: ExitCode.NONCONFORMANT,
    Word.DIED: ExitCode.NONCONFORMANT,
    Word.ERROR: ExitCode.COULD_NOT_RUN,
}
