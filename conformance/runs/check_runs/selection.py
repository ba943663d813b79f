"""The checks that one session of pytest takes. pytest loads this module in every project."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.runs.check_runs.check_items import (
    CHECKS,
    DECODERS,
    is_about_subjects,
    is_check,
    profiles_of,
    requirements_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest


class Selection(NamedTuple):
    """The requirements and the profile that were asked for; how many ``columns`` the run has.

    ``kinds``: whether the session takes the checks about subjects (``True``), those about servers (``False``), or both,
    which is for lists. ``subjects``: how many columns are about subjects. No requirement at all stands for every one.
    """

    requirements: frozenset[str]
    profile: str
    kinds: frozenset[bool]
    subjects: int
    columns: int

    def leaves_out(self, path: Path) -> bool:
        """Whether a file has only checks of which nothing is asked for, so that it need not be imported."""
        if path.suffix != ".py" or not path.name.startswith("check") or not path.is_relative_to(CHECKS):
            return False
        if self.subjects in (0, self.columns) and (path.parent.name == DECODERS) not in self.kinds:
            return True  # else another column runs it, and the number of its checks is part of the stream
        if not self.requirements:
            return False
        from conformance.harness.experiments.manifests import ManifestError, judging

        try:
            names = judging(path)
        except ManifestError:  # whoever collects the file says so
            return False
        return names is not None and names.isdisjoint(self.requirements)

    def take(self, items: Iterable[pytest.Item]) -> tuple[set[pytest.Item], int]:
        """The checks of the session, and how many more the columns of the other kind have."""
        asked_for = [item for item in items if is_check(item) and self._wanted(item)]
        kept = {item for item in asked_for if is_about_subjects(item) in self.kinds}
        return kept, len(asked_for) - len(kept)

    def number_in_run(self, own: int, of_others: int, *, about_subject: bool) -> int:
        """The checks of all columns together: ``own`` in each column of this kind, ``of_others`` in each other one."""
        alike = (self.subjects if about_subject else self.columns - self.subjects) or 1
        return own * alike + of_others * (self.columns - alike)

    def _wanted(self, check: pytest.Item) -> bool:
        asked_for = not self.requirements or bool(self.requirements & requirements_of(check))
        return asked_for and self.profile in profiles_of(check)
