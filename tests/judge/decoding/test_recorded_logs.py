"""The reference's own output passes on every recorded log, and any loss in it is found."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.log_columns import tables_of
from conformance.judge.decoding.observed import Observed
from conformance.verdict import Verdict
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


@pytest.mark.sampled(7)
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


def test_columns_may_have_their_number_for_their_name_but_not_another_one() -> None:
    case = case_of("07-all-types-metadata-full")
    table = tables_of(case).of(case.expected[0])
    assert table is not None

    def numbered(shift: int) -> list[dict[str, Any]]:
        out = deepcopy(list(case.expected))
        for change in out:
            for image in ("before", "after"):
                if change[image] is not None:
                    places = tables_of(case).of(change)
                    assert places is not None
                    count = len(places.columns)
                    change[image] = {
                        f"@{(places.places[name] + shift) % count + 1}": value for name, value in change[image].items()
                    }
        return out

    assert judge(case, ("types",), Observed(changes=numbered(0))).verdict is Verdict.PASS
    assert judge(case, ("types",), Observed(changes=numbered(1))).verdict is Verdict.SILENT_LOSS


def test_names_that_the_metadata_lacks_come_from_the_definition() -> None:
    """A client of a server knows the names in a log with MINIMAL metadata; the log's CREATE TABLE has them too."""
    case = case_of("01-partial-minimal")

    def named(names: tuple[str, str]) -> Verdict:
        got = deepcopy(list(case.expected))
        for change in got:
            for image in ("before", "after"):
                if change[image] is not None:
                    change[image] = {
                        dict(zip(("@1", "@2"), names, strict=True))[name]: value
                        for name, value in change[image].items()
                    }
        return judge(case, ("types",), Observed(changes=got)).verdict

    assert set(case.expected[0]["after"]) <= {"@1", "@2"}
    assert named(("id", "j")) is Verdict.PASS
    assert named(("j", "id")) is Verdict.SILENT_LOSS
    assert named(("id", "k")) is Verdict.SILENT_LOSS
