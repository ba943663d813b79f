"""Twelve broken decoders, each under the title, the requirement and the reason that were chosen before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders.suite import load_suite
from conformance.reference.errors import CodecError
from tests.subjects.faulty.public_reports import Cannot
from tests.subjects.faulty.twelve import TWELVE, Broken

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.cases.decoder_case import DecoderCase
    from tests.subjects.faulty.twelve import Due

    Read = Callable[[Broken, DecoderCase], tuple[list[object], str]]

CASES = [case for case in load_suite().cases if not case.sparse]
ALL = pytest.mark.parametrize("due", TWELVE, ids=lambda due: due.decoder.__name__)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Let a decoder read a Case in this process: its changes, and its error."""
    directory: Path = tmp_path_factory.mktemp("logs")
    paths = {case.id: str(case.write(directory / case.id)) for case in CASES}

    def answer(reader: Broken, case: DecoderCase) -> tuple[list[object], str]:
        changes: list[object] = []
        try:
            changes.extend(reader.decode(paths[case.id]))
        except (CodecError, Cannot) as error:
            return changes, str(error)
        return changes, ""

    return answer


@ALL
def test_each_breaks_some_cases_and_leaves_others_as_they_are(due: Due, read: Read) -> None:
    broken = sum(read(due.decoder(), case) != read(Broken(), case) for case in CASES[::2])
    assert 0 < broken < len(CASES[::2])
