"""Recorded blocks of generated updates on real servers of two versions, judged under the dialect of their version."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest

from conformance.cases.script import build_script
from conformance.harness.updates.blocks import judge_block
from conformance.harness.updates.captures import UPDATES, captured_blocks, load_capture, recorded, recorded_versions
from conformance.reference.dialect import MYSQL
from conformance.requirements.versions import dialect_of, parse_version

BLOCKS = 40
# A REPLACE that changes no byte, which the server's own applier refuses: the listed deviation.
DEVIATING = {"9.7.4": {}, "8.0.45": {"recorded-a/21": 1, "recorded-a/401": 1}}


def test_two_versions_are_recorded() -> None:
    assert recorded_versions() == ["8.0.45", "9.7.4"]


@pytest.mark.parametrize("version", ["8.0.45", "9.7.4"])
def test_blocks_are_exact_or_deviate_as_listed(version: str) -> None:
    blocks = list(captured_blocks(version))
    assert len(blocks) == BLOCKS
    found = [item for block in blocks for item in (*block.judgement.mismatches, *block.faults.found)]
    assert {item.deviation for item in found} <= {"refuse_unchanging_replace"}
    assert len(found) == sum(DEVIATING[version].values())


def _kinds(data: dict, version: str) -> Counter[str]:  # type: ignore[type-arg]
    """The fields in which a recorded block differs from what another version would do."""
    script, observation = load_capture(data)
    other = build_script(script.case, dialect=dialect_of(parse_version(version)))
    result = judge_block(other, observation, 0, time.perf_counter())
    return Counter(
        item.field for item in (*result.judgement.mismatches, *result.faults.found) if item.deviation is None
    )


@pytest.mark.nightly
def test_each_row_of_the_table_counts() -> None:
    """Under the dialect of 9.7 the blocks of 8.0.45 differ: in flags, in ROWS_QUERY, in documents."""
    fields: Counter[str] = Counter()
    for data in recorded("8.0.45"):
        fields += _kinds(data, "9.7.4")
    names = {name.partition(".rows[")[0] for name in fields}
    assert {"WRITE_ROWS_EVENT.flags", "UPDATE_ROWS_EVENT.flags", "PARTIAL_UPDATE_ROWS_EVENT.flags"} <= names
    assert "ROWS_QUERY_LOG_EVENT.length_byte" in names


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("log", {"rows_flags_mask": 0x1F}),
        ("log", {"rows_query_length": "zero"}),
        ("json", {"time_hours": "all"}),
        ("json", {"text_double": "exact"}),
    ],
)
def test_a_wrong_cell_is_found(part: str, change: dict[str, object]) -> None:
    dialect = dialect_of((8, 0, 45))
    wrong = replace(dialect, **{part: replace(getattr(dialect, part), **change)})
    for data in recorded("8.0.45"):
        script, observation = load_capture(data)
        result = judge_block(build_script(script.case, dialect=wrong), observation, 0, time.perf_counter())
        if any(item.deviation is None for item in (*result.judgement.mismatches, *result.faults.found)):
            return
    pytest.fail("no recorded block needs this cell")


@pytest.mark.parametrize(("version", "gtids"), [("8.0.45", False), ("9.7.4", True)])
def test_transactions_begin_as_gtid_mode_says(version: str, gtids: bool) -> None:
    """Older recordings do not name the mode; with the other one, every transaction differs."""
    script, observation = load_capture(next(recorded(version)))
    assert observation.log is not None
    assert observation.log.gtids is gtids
    other = replace(observation, log=replace(observation.log, gtids=not gtids))
    found = judge_block(script, other, 0, time.perf_counter()).judgement.mismatches
    assert {item.field for item in found} & {"event types", "GTID_LOG_EVENT.type", "ANONYMOUS_GTID_LOG_EVENT.type"}


def test_an_anonymous_transaction_has_no_gtid() -> None:
    """A UUID or a number in ANONYMOUS_GTID is borrowed from nowhere."""
    script, observation = load_capture(next(recorded("8.0.45")))
    assert script.model.dialect.log != MYSQL.log
    for at in (20, 36):  # in the UUID, in the number
        event = bytearray(observation.events[0])
        event[at] = 1
        other = replace(observation, events=(bytes(event), *observation.events[1:]))
        fields = {item.field for item in judge_block(script, other, 0, time.perf_counter()).judgement.mismatches}
        assert any(field.startswith("ANONYMOUS_GTID_LOG_EVENT") for field in fields)


@pytest.mark.parametrize("version", recorded_versions())
def test_there_are_as_many_recorded_updates_as_the_headline_says(version: str) -> None:
    blocks = list(recorded(version))
    assert sum(len(step["rows"]) for block in blocks for step in block["case"]["steps"]) == UPDATES
