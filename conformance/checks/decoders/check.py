"""DEC and DAT: a subject's answer to each log and data file of the suites, one item for each group of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.decoder_case import group_of
from conformance.checks.decoders.data_files import file_requirements, load_files
from conformance.checks.decoders.run import about_subjects, find_defects, judge_cases, requirements_of
from conformance.checks.decoders.suite import load_requirements, load_suite
from conformance.harness.updates.generated_logs import REQUIREMENTS as REQUIREMENTS_OF_GENERATED
from conformance.harness.updates.generated_logs import generated_cases
from conformance.requirements.catalogue import REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.harness.check import Check


def _groups(suite: Mapping[str, tuple[str, ...]]) -> Iterator[object]:
    """The groups of a suite, each marked with what its Cases are about."""
    groups: dict[str, dict[str, None]] = {}
    for case, requirements in suite.items():
        groups.setdefault(group_of(case), {}).update(dict.fromkeys(requirements_of(requirements)))
    for group, names in groups.items():
        yield pytest.param(group, id=group, marks=pytest.mark.judges(*names))


@pytest.mark.check("logs")
@pytest.mark.parametrize("group", list(_groups(load_requirements())))
def test_logs(check: Check, group: str) -> None:
    """The subject gives the row changes of each log of the group, or says that it does not."""
    suite = load_suite()
    judge_cases(check.named(f"decoders/{group}"), [case for case in suite.cases if case.group == group], suite)


@pytest.mark.check("files")
@pytest.mark.parametrize("group", list(_groups(file_requirements())))
def test_files(check: Check, group: str) -> None:
    """The subject gives what each data file of the group has, or says that it does not."""
    suite = load_files()
    judge_cases(check.named(f"decoders/{group}"), [case for case in suite.cases if case.group == group], suite)


@pytest.mark.check("generated")
@pytest.mark.judges(*REQUIREMENTS_OF_GENERATED)
def test_generated(check: Check) -> None:
    """The subject gives the row changes of random updates too."""
    judge_cases(check, list(generated_cases(check.seed, check.size())))


@pytest.mark.check("defects")
@pytest.mark.judges(*filter(about_subjects, REQUIREMENTS))
def test_defects(check: Check) -> None:
    """Each distinct defect that the logs show has a log of its own, as small as it can be made."""
    find_defects(check)
