"""The worker's codes for one scenario: integers, because a row holds nothing else. They never change meaning.

Each code stands for a verdict of the kit's one vocabulary (``conformance.stream``).
"""

from __future__ import annotations

from enum import IntEnum

from conformance.verdict import Verdict

FIRST_WRONG = 10


class Code(IntEnum):
    """The outcome of a scenario. 0 to 9 are expected; 10 and above are wrong, and are rows like any other, never
    exceptions.
    """

    OK = 0
    QUIET = 1  # no event, as predicted: the update changes nothing
    REFUSED = 2  # an error, as it must be
    EXPLAINED = 3  # differs by a listed deviation of the server: the prediction without exactly that one agrees

    READ_BACK = 10  # the event decodes to something else than was encoded
    APPLIED = 11  # the diffs, applied, give another document
    NOT_APPLIED = 12  # diffs that must apply are refused
    OFF = 13  # the event with the option off decodes to another row
    RELATION = 14  # documents that were equal differ after the update
    UNREADABLE = 15  # the value to be stored is no document
    OTHER_ERROR = 16  # an error that the worklog does not allow
    ACCEPTED = 17  # a damaged event was applied
    PAYLOAD = 18  # the compressed transaction holds other events
    DIVERGED = 19  # the same diffs give different results in place and on a rebuilt document
    IMAGE = 20  # a column stands in an image where it should not, or the other way round
    BROKEN = 99  # the lab itself failed: an exception that nothing declares

    @property
    def verdict(self) -> Verdict:
        """The verdict that a row with this code counts as."""
        if self is Code.EXPLAINED:
            return Verdict.DEVIATES
        if self is Code.BROKEN:
            return Verdict.NOT_RUN
        return Verdict.FAIL if self.wrong else Verdict.PASS

    @property
    def wrong(self) -> bool:
        """Whether a row with this code needs an explanation."""
        return self >= FIRST_WRONG


class Wrong(Exception):
    """Ends a scenario with a wrong code. ``number``: an error number, ``text``: for replay."""

    def __init__(self, code: Code, text: str, number: int = 0) -> None:
        super().__init__(text)
        self.code = code
        self.number = number
