"""Whatever a server sends is a finding: altered observations are judged and recorded, never a failure of the lab."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.files import load_case
from conformance.cases.row_images import RowImage
from conformance.cases.script import build_script
from conformance.checks.triggers import depth
from conformance.checks.triggers import generate as triggers
from conformance.checks.updates.campaign import UpdateCampaign
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.updates.blocks import judge_block
from conformance.harness.updates.captures import load_capture, recorded
from conformance.judge.updates.compare import compare
from conformance.stream import CaseVerdict, Finding, Writer
from generators.draw import Stream
from tests.judge.doctoring import script
from tests.judge.perfect_server import observe
from tests.judge.updates.alterations import ALTERATIONS, reordered, value_altered

if TYPE_CHECKING:
    from conformance.cases.observation import Observation
    from conformance.cases.script import Script
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.slow

BASES: Final = ("minimal", "compressed", "full image", "with queries", "trigger", "deep", "recorded")
_TIMES: Final = {"recorded": 1}  # of each alteration; a recorded block is long
_CERTAIN: Final = frozenset(
    ("no events", "missing event", "extra event", "torn", "rows read back", "error of a read-back", "cell", "outcome")
)


@cache
def base_of(name: str) -> tuple[Script, Observation]:
    """A script and what a server left of it."""
    if name == "recorded":
        return load_capture(next(item for item in recorded() if item["case"]["session"] == {"row_image": "MINIMAL"}))
    match name:
        case "compressed":
            made = script(compression=True)
        case "full image":
            made = script(image=RowImage.FULL)
        case "with queries":
            made = script(rows_query=True)
        case "trigger":
            made = build_script(triggers.case(Stream("altered", 1), rows=3, steps=4))
        case "deep":
            made = build_script(depth.case(Stream("altered", 1)))
        case _:
            made = script()
    return made, observe(made)


@pytest.mark.sampled(60)
@pytest.mark.planted("FR1", "F3", "IP1", "IP2")
@pytest.mark.parametrize("alteration", ALTERATIONS)
@pytest.mark.parametrize("base", BASES)
def test_altered_observations_end_as_mismatches_in_the_stream(base: str, alteration: str, tmp_path: Path) -> None:
    made, observation = base_of(base)
    records: list[AnyRecord] = []
    with Writer(tmp_path) as writer:
        for number in range(_TIMES.get(base, 8)):
            other = ALTERATIONS[alteration](observation, Random(f"{base}/{alteration}/{number}"))
            if other == observation:
                continue
            result = judge_block(made, other, number, 0.0)
            found = [*result.judgement.mismatches, *result.faults.found]
            # The other alterations also hit what is borrowed.
            assert found or not (alteration in _CERTAIN or alteration.startswith("value")), number
            assert all(item.field and item.expected != item.got for item in found)
            compare(made, other)  # what the shrinker asks
            UpdateCampaign(Lab(Settings(server="none", cases=tmp_path), records.append)).record(result)
        for record in records:
            writer.write(record)
    for verdict in (record for record in records if isinstance(record, CaseVerdict)):
        assert verdict.case_file is not None
        assert load_case(json.loads(Path(verdict.case_file).read_text("utf-8"))).id == verdict.case


@pytest.mark.planted("FR1")
@pytest.mark.parametrize("seed", range(12))
def test_a_document_in_another_order_is_a_mismatch_of_its_row_and_a_finding(seed: int, tmp_path: Path) -> None:
    """The lab failed over these: rows were followed into a document that nobody can read."""
    case, observation = base_of("recorded")
    random = Random(seed)
    other = next(made for _ in range(99) if (made := value_altered(reordered)(observation, random)) != observation)
    result = judge_block(case, other, 0, 0.0)
    of_rows = [item for item in result.judgement.mismatches if "_ROWS_EVENT." in item.field]
    assert {item.kind for item in of_rows} == {"event"}
    assert all(item.variation is None and (item.step is None or item.rows) for item in of_rows)
    records: list[AnyRecord] = []
    UpdateCampaign(Lab(Settings(server="none", cases=tmp_path), records.append)).record(result)
    assert any(isinstance(record, Finding) and Path(record.case_file).exists() for record in records)
