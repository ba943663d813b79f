"""The cases that were judged under each requirement, and their problems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

MESSAGES: Final = {
    "LOB11": "the file differs from the predicted bytes",
    "LOB20": "a changed page is not a new page with a new index entry before the old one",
    "LOB21": "the index leads to another page for the changed bytes",
    "LOB22": "an older version in the file is another document",
    "LOB23": "a session with an older snapshot reads another document",
    "LOB25": "a change in the prefix or behind it takes the other way",
    "LOB26": "the flag of the first page does not tell whether the value was replaced as a whole",
    "LOB27": "the value has another version",
    "LOB28": "a change of up to 100 bytes to a first version, or another change, takes the other way",
    "LOB29": "the undo log leads to another document",
    "LOB30": "purge leaves an older version, or takes more than older versions",
    "LOB31": "a rollback leaves another value",
}


@dataclass
class Tally:
    """``cases`` and ``problems`` by requirement; ``figures`` are what the check tells its user.

    ``any_version``: small changes overwrite pages of any version, as the server's version does. ``mixed``: the id of
    the listed deviation that explains what such changes do to older versions, if the server's version has it.
    """

    any_version: bool = False
    mixed: str | None = None
    cases: Counter[str] = field(default_factory=Counter)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    figures: Counter[str] = field(default_factory=Counter)

    def expect(
        self,
        requirement: str,
        where: str,
        expected: object,
        got: object,
        sql: Iterable[str] = (),
        *,
        mixed: bool = False,
    ) -> bool:
        """Count a case; it is wrong if the two differ. Returns whether they are equal.

        ``mixed``: whether the case is an older version of a document with small changes behind a copy.
        """
        self.cases[requirement] += 1
        if expected == got:
            return True
        deviation = self.mixed if mixed else None
        problem = Problem(
            where, _shown(expected), _shown(got), MESSAGES[requirement], statements=tuple(sql), deviation=deviation
        )
        self.problems.setdefault(requirement, []).append(problem)
        return False

    def same_document(self, requirement: str, where: str, expected: bytes, got: bytes, *, mixed: bool = False) -> bool:
        """Count a case; a problem names the first byte that differs."""
        if expected == got:
            return self.expect(requirement, where, True, True)
        pairs = enumerate(zip(expected, got, strict=False))
        at = next((place for place, pair in pairs if pair[0] != pair[1]), min(len(expected), len(got)))
        return self.expect(requirement, f"{where}, byte {at}", f"{len(expected)} bytes, {expected[at : at + 40].hex()}",
                           f"{len(got)} bytes, {got[at : at + 40].hex()}", mixed=mixed)  # fmt: skip


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) < 400 else f"{text[:400]}…"
