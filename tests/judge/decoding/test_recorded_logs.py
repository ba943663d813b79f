"""The reference's own output passes on every recorded log, and any loss in it is found."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.observed import Observed
from conformance.stream import Verdict
from tests.judge.decoding.kit import LOGS, case_of, decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = [name for name in sorted(path.stem for path in LOGS.glob("*.binlog")) if case_of(name).expected]


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_passes_with_types(name: str) -> None:
    case = case_of(name)
    judgement = judge(case, ("types",), Observed(changes=case.expected))
    assert (judgement.verdict, judgement.level) == (Verdict.PASS, Equality.TYPE), judgement.message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("resolve", [False, True])
def test_untagged_output_read_by_another_parser_passes(name: str, *, resolve: bool) -> None:
    case = case_of(name)
    text = json.dumps([_plain(item) for item in decoded(case.log, tagged=False, resolve=resolve)])
    judgement = judge(case, (), Observed(changes=json.loads(text)))
    assert judgement.verdict is Verdict.PASS, judgement.message


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (str, int)) else float(value)


@pytest.mark.parametrize("name", NAMES)
def test_every_change_that_is_left_out_is_a_silent_loss(name: str) -> None:
    case = case_of(name)
    for number in range(0, len(case.expected), max(1, len(case.expected) // 20)):
        got = [*case.expected[:number], *case.expected[number + 1 :]]
        judgement = judge(case, (), Observed(changes=got))
        assert judgement.verdict is Verdict.SILENT_LOSS
        kinds = [item.kind.value for item in judgement.differences if item.level is not Equality.TYPE]
        assert kinds == ["missing change"]


@pytest.mark.parametrize("name", NAMES)
def test_every_value_that_is_left_out_or_nulled_is_found_at_its_place(name: str) -> None:
    case = case_of(name)
    for number in range(0, len(case.expected), max(1, len(case.expected) // 20)):
        for image, column, value in _columns(case.expected[number]):
            for replacement in (None, "lost"):
                if value is None and replacement is None:
                    continue
                got = deepcopy(list(case.expected))
                if replacement is None:
                    del got[number][image][column]
                else:
                    got[number][image][column] = (
                        {"json": 77} if isinstance(value, dict) and "hex" not in value else None
                    )
                    if got[number][image][column] == value:
                        continue
                judgement = judge(case, ("types",), Observed(changes=got))
                assert judgement.verdict is Verdict.SILENT_LOSS
                assert all(
                    item.place.startswith(f"changes[{number}].{image}.{column}") for item in judgement.differences
                )


def _columns(change: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for image in ("before", "after"):
        for column, value in (change[image] or {}).items():
            yield image, column, value
