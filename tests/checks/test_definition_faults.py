"""The check on table definitions: what a server and a client do right passes, and each planted fault is called by its
name."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks import definitions, test_table_metadata
from conformance.checks.lab import Lab, Settings
from conformance.judge.table_maps import OWNERS, concerned, judge_table_map
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.binlog.table_map import TableMap
from conformance.reference.metadata_text import metadata_text
from conformance.reference.tables import table_map
from conformance.servers.capture import Captured, Position
from conformance.servers.run_definitions import MODES, Definition, DefinitionLog
from conformance.stream import Block, CaseVerdict
from tests.checks.faults_of_definitions import MAP_FAULTS, MODE_FAULTS, TEXT_FAULTS, MapFault, TextFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.servers.process import ProcessServer
    from conformance.stream import AnyRecord

ALL = {"TMF1", "TMF2", "TMF3", "TMF4", "TMF5", "TMF6", "TMF7", "TMM1", "TMG1", "TMG2", "TMG3", "TMG4", "TMP1"}


class FakeServer:
    """Makes no tables: its events are the reference's."""

    id = "fake"
    version = "9.7.4"
    number = (9, 7, 4)
    started_by_us = True

    def program(self, _: str) -> list[str]:
        return ["mysqlbinlog"]

    def connect(self) -> Any:
        return nullcontext()

    def capture(self) -> Any:
        return self

    @contextmanager
    def schema(self, _: object) -> Iterator[str]:
        yield "s"

    def close(self) -> None:
        """Nothing to do."""


def perfect(items: Sequence[Definition], change: Callable[[TableMap], TableMap] = lambda table: table) -> DefinitionLog:
    """What a server writes, as far as the reference knows."""
    maps = {
        mode: tuple(
            encode_event(change(table_map(item.table, mode, table_id=number))) for number, item in enumerate(items, 1)
        )
        for mode in MODES
    }
    place = Position(file="b", offset=4)
    events = tuple(event for mode in MODES for event in maps[mode])
    return DefinitionLog(captured=Captured(start=place, end=place, format_description=b"", events=events), maps=maps)


def printed(log: DefinitionLog, change: Callable[[bytes], bytes] = lambda text: text) -> bytes:
    """What a client prints."""
    out = b""
    for event in log.captured.events:
        table = TableMap.decode(event[HEADER_SIZE:-FOOTER_SIZE])
        out += definitions._head(table) + change(metadata_text(table)) + b"# at 1\n"
    return out


def check(
    monkeypatch: pytest.MonkeyPatch,
    *,
    event: Callable[[TableMap], TableMap] = lambda table: table,
    text: Callable[[bytes], bytes] = lambda text: text,
) -> tuple[list[AnyRecord], bool]:
    """Records, and whether the check passed."""
    records: list[AnyRecord] = []
    lab = Lab(Settings(), records.append)
    lab._server, lab._resolved = FakeServer(), True  # type: ignore[assignment]
    logs: list[DefinitionLog] = []

    def run(_: object, __: object, items: Sequence[Definition]) -> DefinitionLog:
        logs.append(perfect(items))
        return perfect(items, event)

    monkeypatch.setattr(test_table_metadata, "run_block", run)
    monkeypatch.setattr(test_table_metadata, "client_text", lambda *_: printed(logs[-1], text))
    monkeypatch.setattr(FakeServer, "close", lambda _: None)
    try:
        test_table_metadata.test_table_maps(lab)
    except pytest.fail.Exception:
        return records, False
    return records, True


def failing(records: list[AnyRecord]) -> set[str]:
    return {name for record in records if isinstance(record, Block) and record.failures for name in record.requirements}


def test_events_and_texts_in_order_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    records, passed = check(monkeypatch)
    assert passed
    assert [record for record in records if isinstance(record, CaseVerdict)] == []
    cases: dict[str, int] = {}
    for record in records:
        if isinstance(record, Block):
            cases[record.requirements[0]] = cases.get(record.requirements[0], 0) + record.cases
    assert cases.keys() == ALL
    assert min(cases.values()) >= 50
    assert cases["TMF7"] == cases["TMP1"] == 2 * test_table_metadata._TABLES["quick"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many tables as show every fault."""
    monkeypatch.setattr(test_table_metadata, "_TABLES", {"quick": 30})


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("fault", [*MAP_FAULTS, *MODE_FAULTS], ids=lambda fault: fault.id)
def test_a_fault_of_the_event_breaks_its_own_sentence(monkeypatch: pytest.MonkeyPatch, fault: MapFault) -> None:
    records, passed = check(monkeypatch, event=fault.change)
    assert not passed
    found = failing(records)
    assert fault.requirement in found
    # A missing or added field is also what the setting must not do; nothing else is blamed.
    assert found <= {fault.requirement, "TMM1", "TMG1", *(OWNERS.values() if fault in MODE_FAULTS else ())}
    shown = [record for record in records if isinstance(record, CaseVerdict)]
    assert all(record.statements and record.replay for record in shown)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("fault", TEXT_FAULTS, ids=lambda fault: fault.id)
def test_a_fault_of_the_text_is_found(monkeypatch: pytest.MonkeyPatch, fault: TextFault) -> None:
    records, passed = check(monkeypatch, text=fault.change)
    assert not passed
    assert failing(records) == {fault.requirement}


def test_a_lost_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    items = definitions.made("1", range(3), "s")
    log = perfect(items)
    short = replace(log, maps={**log.maps, "FULL": log.maps["FULL"][1:]})
    broken = definitions.judge_events(Lab(Settings(server="none"), lambda _: None), items, short)
    assert {item.requirement for item in broken} == {"TMG1"}


def test_what_is_no_table_map_is_found() -> None:
    (item,) = definitions.made("1", range(1), "s")
    (event,) = perfect([item]).maps["FULL"]
    for data in (event[:4] + b"\x1e" + event[5:], event[:30] + event[-4:]):
        assert [found.requirement for found in judge_table_map(item.table, "FULL", data)] == ["TMG1"]
    assert judge_table_map(item.table, "FULL", event) == []
    assert "TMF3" in concerned(item.table, "FULL")
    assert "TMF3" not in concerned(item.table, "MINIMAL")


@pytest.mark.live
def test_the_real_server_writes_and_the_real_client_prints_what_is_predicted(server: ProcessServer) -> None:
    records: list[AnyRecord] = []
    lab = Lab(Settings(seed="live"), records.append)
    lab._server, lab._resolved = server, True
    test_table_metadata.test_table_maps(lab)
    assert [record for record in records if isinstance(record, CaseVerdict)] == []
    assert {record.requirements[0] for record in records if isinstance(record, Block)} == ALL
    with server.connect() as connection:
        assert connection.variable("global.binlog_row_metadata") == "MINIMAL"
