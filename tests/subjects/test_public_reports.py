"""Decoders with one public bug each (``tests/subjects/faulty/public_reports``): the suite shows each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import OpenedSubject
from conformance.verdict import Verdict
from tests.subjects.faulty.public_reports import REPORTS, WaitsForTheCommit

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase

pytestmark = pytest.mark.slow

MODULE = "tests.subjects.faulty.public_reports"


def suite() -> list[DecoderCase]:
    return [case for case in load_suite().cases if not case.sparse]


def red(name: str) -> dict[str, Verdict]:
    """The Cases of the suite that a decoder does not pass."""
    with OpenedSubject(f"py:{MODULE}:{name}") as subject:
        judged = {case.id: subject.judge(case).verdict for case in suite()}
    return {name: verdict for name, verdict in judged.items() if verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)}


def test_a_sound_decoder_that_waits_for_the_commit_passes_everything() -> None:
    assert red(WaitsForTheCommit.__name__) == {}


def test_eighteen_decoders_were_chosen() -> None:
    assert len(REPORTS) == 18
    assert all(REPORTS.values())
