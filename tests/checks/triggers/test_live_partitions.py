"""Partitioned tables on a real server: the check passes, and fails where the server would name another partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.triggers import check_partitions as test_partitions
from conformance.checks.triggers import run as triggers
from conformance.checks.triggers.partitions import METHODS
from conformance.harness import session as labs
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.binlog.header import checksum_of
from conformance.reference.event_types import EventType
from conformance.servers.roles.update_cases import run_case
from conformance.stream import Block
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.observation import Observation
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live
_EXTRA = 19 + 8 + 2  # header, table id and flags, length: where the extra data of a row event starts


@pytest.fixture
def records() -> list[AnyRecord]:
    return []


@pytest.fixture
def lab(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: list[AnyRecord]) -> Lab:
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    return Lab(Settings(cases=tmp_path), records.append)


def test_partitioned_tables_are_logged_as_foretold(lab: Lab, records: list[AnyRecord]) -> None:
    run(test_partitions.test_partitions, lab)
    blocks = [item for item in records if isinstance(item, Block)]
    assert not any(block.failures for block in blocks)
    assert sum(block.cases for block in blocks if block.requirements == ("F3",)) >= 50


def _with_another_partition(event: bytes) -> bytes:
    """The target of an update, and its checksum."""
    if event[4] not in (EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS):
        return event
    data = event[: _EXTRA + 1] + bytes((event[_EXTRA + 1] ^ 1,)) + event[_EXTRA + 2 : -4]
    return data + checksum_of(data).to_bytes(4, "little")


@pytest.mark.nightly
@pytest.mark.planted("F3")
def test_another_partition_fails(lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch) -> None:
    def doctored(*arguments: Any) -> Observation:
        seen = run_case(*arguments)
        return replace(seen, events=tuple(map(_with_another_partition, seen.events)))

    monkeypatch.setattr(triggers, "run_case", doctored)
    monkeypatch.setitem(SIZES["triggers/partitions"], "quick", len(METHODS))
    with pytest.raises(pytest.fail.Exception, match="failed: "):
        run(test_partitions.test_partitions, lab)
    failing = {item.check for item in records if isinstance(item, Block) and item.failures}
    assert failing == {"triggers/partitions/event-bytes"}
