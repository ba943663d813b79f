"""``binlog-lab replay`` of events and files: judged as in the run, whatever they do to the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.injection import Demand, Injection, full_image, partial_image
from conformance.cases.files import dump_case, load_any_case
from conformance.cli.replay import command
from conformance.reference.jsonb.encode import encode
from generators import damaged_events, object_entries
from generators.damaged_values import file_with_damage
from generators.draw import Stream

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.files import AnyCase
    from conformance.servers.run.process import ProcessServer

STORED = encode({"n": 1})
GOOD = EventCase(
    id="good",
    requirements=("FR5",),
    injection=Injection(name="good", stored=STORED, image=partial_image(damaged_events.diff())),
)
SPOILING = EventCase(
    id="spoiling",
    requirements=("FR5",),
    injection=Injection(
        name="spoiling", stored=STORED, image=full_image(b"\x0d\x00\x00"), demand=Demand.ERROR, hazard="corrupts-row"
    ),
)


def killing() -> EventCase:
    item = object_entries.injection(Stream("replay", 1), object_entries.DIFF, keys=True)
    return EventCase(id=item.id, requirements=("FR5",), seed="replay 1", injection=item)


@pytest.mark.live
def test_an_event_and_a_file_are_judged_again(server: ProcessServer, tmp_path: Path) -> None:
    del server  # there is one to be had
    cases: list[AnyCase] = [GOOD, SPOILING, killing(), file_with_damage(Stream("replay", 2), "vector")]
    paths = []
    for case in cases:
        path = tmp_path / f"{case.id}.json"
        path.write_text(json.dumps(dump_case(case)), encoding="utf-8")
        paths.append(str(path))
    listed = CliRunner().invoke(command, ["--server", "process", *paths], standalone_mode=False)
    assert listed.return_value == 0, listed.output
    words = listed.stdout.splitlines()
    assert [line.split()[0] for line in words if not line.startswith(" ")] == [
        "PASS",
        "DEVIATES",
        "DEVIATES",
        "DEVIATES",
    ]
    for entry in ("full-values-unread", "abort-at-member-in-diff (signal 6", "printer-crash-at-vector (signal 11"):
        assert f"listed deviation: {entry}" in listed.output
    counted = CliRunner().invoke(command, ["--server", "process", "--no-deviations", *paths], standalone_mode=False)
    assert counted.return_value == 1
    assert [line.split()[0] for line in counted.stdout.splitlines() if not line.startswith(" ")] == [
        "PASS", "FAILED", "DIED", "DIED",
    ]  # fmt: skip


def test_cases_come_back_as_json() -> None:
    for case in (GOOD, SPOILING, killing()):
        assert load_any_case(json.loads(json.dumps(dump_case(case)))) == case
