"""The check on table definitions: what a server and a client do right passes, and each planted fault is called by its
name."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.table_metadata import check as test_table_metadata
from conformance.checks.table_metadata import definitions, unknown_fields
from conformance.checks.table_metadata.run import MODES, Definition, DefinitionLog
from conformance.checks.table_metadata.table_map_judge import OWNERS, concerned, judge_table_map
from conformance.harness.needs.questions import Questions
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum
from conformance.reference.dialect import WORKLOG as WORKLOG_DIALECT
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.metadata import WORKLOG
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.table_metadata import metadata_text
from conformance.servers.programs import LocalProgram
from conformance.servers.wire.capture import Captured, Position
from conformance.stream import Block, CaseVerdict
from tests.checks.table_metadata.faults_of_definitions import (
    MAP_FAULTS,
    MODE_FAULTS,
    TEXT_FAULTS,
    UNKNOWN_FIELD_FAULTS,
)
from tests.faults.runner import each
from tests.judge.doctoring import script
from tests.judge.perfect_server import observe
from tests.judge.updates.faults_of_facts import FIELDS, altered, one
from tests.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.dialect import LogForms
    from conformance.servers.run.process import ProcessServer
    from tests.faults.fault import Fault

ALL = {"TMF1", "TMF2", "TMF3", "TMF4", "TMF5", "TMF6", "TMF7", "TMM1", "TMG1", "TMG2", "TMG3", "TMG4", "TMP1"}


class FakeServer:
    """Makes no tables: its events are the reference's."""

    id = "fake"
    version = "9.7.4"
    number = (9, 7, 4)
    started_by_us = True

    def client_program(self, _: str) -> LocalProgram:
        return LocalProgram(["/bin/echo", "mysqlbinlog  Ver 9.7.4 for Linux"])

    def connect(self) -> Any:
        return nullcontext()

    def capture(self) -> Any:
        return self

    @contextmanager
    def schema(self, _: object) -> Iterator[str]:
        yield "s"

    def close(self) -> None:
        """Nothing to do."""


@cache
def cached(seed: str, numbers: range, schema: str, log: LogForms, *, systems: bool) -> list[Definition]:
    """The same tables for every fault."""
    return definitions.draw_definitions(seed, numbers, schema, log, systems=systems)


def perfect(
    items: Sequence[Definition],
    change: Callable[[TableMap], TableMap] = lambda table: table,
    algorithm: int = Checksum.CRC32,
) -> DefinitionLog:
    """The log that a server writes for the definitions, as far as the reference knows."""
    description = encode_event(FormatDescription(algorithm=algorithm))
    maps = {
        mode: tuple(
            encode_event(change(table_map(item.table, mode, table_id=number)), algorithm=algorithm)
            for number, item in enumerate(items, 1)
        )
        for mode in MODES
    }
    place = Position(file="b", offset=4)
    events = tuple(event for mode in MODES for event in maps[mode])
    captured = Captured(start=place, end=place, format_description=description, events=events)
    return DefinitionLog(captured=captured, maps=maps)


def printed(log: DefinitionLog, change: Callable[[bytes], bytes] = lambda text: text) -> bytes:
    """The text that a client prints of the table maps in a log."""
    out = b""
    for event in log.captured.events:
        table = TableMap.decode(event[HEADER_SIZE:-FOOTER_SIZE])
        out += definitions.head_of(table) + change(metadata_text(table)) + b"# at 1\n"
    return out


MAPS, UNKNOWN = test_table_metadata.test_table_maps, test_table_metadata.test_unknown_fields


def lab(
    monkeypatch: pytest.MonkeyPatch,
    *,
    event: Callable[[TableMap], TableMap] = lambda table: table,
    text: Callable[[bytes], bytes] = lambda text: text,
) -> Recorded:
    """A session with such events and texts."""
    found = on_fake()
    monkeypatch.setattr(Questions, "has", lambda *_: True)
    logs: list[DefinitionLog] = []

    def run(_: object, __: object, items: Sequence[Definition]) -> DefinitionLog:
        logs.append(perfect(items, event))
        return logs[-1]

    monkeypatch.setattr(test_table_metadata, "draw_definitions", cached)
    monkeypatch.setattr(test_table_metadata, "run_block", run)
    monkeypatch.setattr(test_table_metadata, "client_text", lambda *_: printed(logs[-1], text))
    return found


def on_fake(**settings: Any) -> Recorded:
    """A session on a fake server."""
    found = Recorded.of_settings(**settings)
    found.lab._server, found.lab._resolved = FakeServer(), True  # type: ignore[assignment]
    return found


def test_events_and_texts_in_order_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lab(monkeypatch)
    assert found.passes(MAPS)
    assert found.of(CaseVerdict) == []
    cases: Counter[str] = Counter()
    for block in found.of(Block):
        cases[block.requirements[0]] += block.cases
    assert cases.keys() == ALL
    assert min(cases.values()) >= 50
    assert cases["TMF7"] == cases["TMP1"] == 2 * SIZES["table_metadata/bytes"]["quick"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many tables as show every fault."""
    monkeypatch.setitem(SIZES["table_metadata/bytes"], "quick", 30)


@pytest.mark.sampled(11)
@pytest.mark.usefixtures("few")
@each([*MAP_FAULTS, *MODE_FAULTS])
def test_a_fault_of_the_event_breaks_its_own_sentence(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    found = lab(monkeypatch, event=fault.change)
    assert not found.passes(MAPS)
    assert fault.requirement in found.red
    # A missing or added field is also what the setting must not do; nothing else is blamed.
    assert found.red <= {fault.requirement, "TMM1", "TMG1", *(OWNERS.values() if fault in MODE_FAULTS else ())}
    assert all(verdict.statements and verdict.replay for verdict in found.of(CaseVerdict))


@pytest.mark.usefixtures("few")
@each(TEXT_FAULTS)
def test_a_fault_of_the_text_is_found(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    found = lab(monkeypatch, text=fault.change)
    assert not found.passes(MAPS)
    assert found.red == {fault.requirement}


def test_a_lost_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    items = definitions.draw_definitions("1", range(3), "s")
    log = perfect(items)
    short = replace(log, maps={**log.maps, "FULL": log.maps["FULL"][1:]})
    broken = definitions.judge_events(Lab(Settings(server="none"), lambda _: None), items, short)
    assert {item.requirement for item in broken} == {"TMG1"}


@pytest.mark.planted("TMG1")
@pytest.mark.parametrize("name", ["header.log_pos", "GTID_LOG_EVENT.gno", "TABLE_MAP_EVENT.table_id"])
def test_a_field_that_no_definition_decides_keeps_its_rule(name: str) -> None:
    items = definitions.draw_definitions("1", range(3), "s")
    observed = observe(script())
    log = replace(perfect(items), own=observed.events, thread_id=observed.thread_id, facts=observed.log)
    lab = Lab(Settings(server="none"), lambda _: None)
    assert definitions.judge_events(lab, items, log) == []
    wrong = replace(log, own=altered(observed, FIELDS[name], one).events)
    found = definitions.judge_events(lab, items, wrong)
    assert {item.requirement for item in found} == {"TMG1"}
    assert name in {item.problem.field for item in found}


def test_what_is_no_table_map_is_found() -> None:
    (item,) = definitions.draw_definitions("1", range(1), "s")
    (event,) = perfect([item]).maps["FULL"]
    for data in (event[:4] + b"\x1e" + event[5:], event[:30] + event[-4:]):
        assert [found.requirement for found in judge_table_map(item.table, "FULL", data)] == ["TMG1"]
    assert judge_table_map(item.table, "FULL", event) == []
    assert "TMF3" in concerned(item.table, "FULL")
    assert "TMF3" not in concerned(item.table, "MINIMAL")


@pytest.mark.live
def test_the_real_server_writes_and_the_real_client_prints_what_is_predicted(server: ProcessServer) -> None:
    found = Recorded.of_settings(seed="live")
    found.lab._server, found.lab._resolved = server, True
    assert found.passes(MAPS)
    assert found.of(CaseVerdict) == []
    assert {block.requirements[0] for block in found.of(Block)} == ALL
    with server.connect() as connection:
        assert connection.variable("global.binlog_row_metadata") == "MINIMAL"


# --- fields that nobody knows ----------------------------------------------------------------------------------------


def log_of(items: Sequence[Definition]) -> DefinitionLog:
    """As the server writes it: rows behind each TABLE_MAP."""
    log = perfect(items)
    rows = {event: event[:4] + b"\x1e" + event[5:] for event in log.captured.events}
    events = tuple(part for event in log.captured.events for part in (event, rows[event]))
    return replace(log, captured=replace(log.captured, events=events))


def unknown(
    monkeypatch: pytest.MonkeyPatch,
    text: Callable[[unknown_fields.Unknown], bytes],
    error: Callable[[unknown_fields.Unknown], int | None],
    *,
    listed: bool = True,
) -> tuple[Recorded, bool]:
    """The check with a client that prints ``text`` of each event, and an applier that ends with ``error``."""
    found = on_fake(deviations=listed)
    shown: list[unknown_fields.Unknown] = []

    class Session:
        """Takes every statement."""

        def execute(self, _: str) -> None:
            """Nothing to do."""

    def applied(_: object, __: object, items: Sequence[unknown_fields.Unknown]) -> list[tuple[int | None, int | None]]:
        shown[:] = items
        return [(None, error(item)) for item in items]

    monkeypatch.setattr(FakeServer, "connect", lambda _: nullcontext(Session()))
    monkeypatch.setattr(test_table_metadata, "run_block", lambda _, __, items: log_of(items))
    monkeypatch.setattr(unknown_fields, "apply", applied)
    monkeypatch.setattr(
        test_table_metadata,
        "client_text",
        lambda *_: b"".join(definitions.head_of(item.plain) + text(item) + b"# at 1\n" for item in shown),
    )
    return found, found.passes(UNKNOWN)


def skipping(item: unknown_fields.Unknown) -> bytes:
    """A client that goes over what it does not know."""
    return metadata_text(item.plain)


def reading_inside(item: unknown_fields.Unknown) -> bytes:
    """The client of 9.7.4."""
    return metadata_text(item.read_inside)


def dimensions_lost(item: unknown_fields.Unknown) -> int | None:
    """The applier of 9.7.4."""
    lost = [info.dimension for info in item.read_inside.described] != [info.dimension for info in item.plain.described]
    return unknown_fields.REFUSED if lost else None


def test_reading_inside_an_unknown_field_is_the_listed_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    found, passed = unknown(monkeypatch, reading_inside, dimensions_lost)
    assert passed
    assert sum(sum(block.deviations.values()) for block in found.of(Block)) > 10


def test_without_the_list_it_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    found, passed = unknown(monkeypatch, reading_inside, dimensions_lost, listed=False)
    assert not passed
    assert found.red == {"TMNF3"}


def test_a_reader_that_goes_over_unknown_fields_is_an_unexpected_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    found, passed = unknown(monkeypatch, skipping, lambda _: None)
    assert not passed
    assert {verdict.case for verdict in found.of(CaseVerdict)} == {unknown_fields.DEVIATION}
    found, passed = unknown(monkeypatch, skipping, lambda _: None, listed=False)
    assert passed
    assert found.red == set()


@each(UNKNOWN_FIELD_FAULTS)
def test_what_an_unknown_field_changes_otherwise_is_a_failure(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    found, passed = unknown(monkeypatch, lambda item: fault.change(reading_inside(item)), dimensions_lost)
    assert not passed
    assert found.red == {fault.requirement}


@pytest.mark.planted("TMNF3")
def test_an_applier_that_refuses_every_unknown_field_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    found, passed = unknown(monkeypatch, reading_inside, lambda _: unknown_fields.REFUSED)
    assert not passed
    assert found.red == {"TMNF3"}


@pytest.mark.live
def test_the_real_reader_shows_the_listed_deviation_and_nothing_else(server: ProcessServer) -> None:
    found = Recorded.of_settings(seed="live")
    found.lab._server, found.lab._resolved = server, True
    assert found.passes(UNKNOWN)
    assert {verdict.deviation for verdict in found.of(CaseVerdict)} == {unknown_fields.DEVIATION}


# --- the worklog's own form ------------------------------------------------------------------------------------------


def test_events_in_the_form_of_the_worklog_are_made_and_judged() -> None:
    table = Table(
        schema="s",
        name="t",
        columns=(
            Column(name="y", type="YEAR"),
            Column(name="n", type="INT", unsigned=True, nullable=False),
            Column(name="e", type="ENUM", members=("ab", "c")),
            Column(name="p", type="POINT", invisible=True),
            Column(name="a", type="VARCHAR", length=5, charset="latin1"),
            Column(name="b", type="VARCHAR", length=5),
            Column(name="c", type="VARCHAR", length=5),
            Column(name="d", type="VARCHAR", length=5, charset="latin1"),
        ),
        primary_key=((1, 0),),
    )
    event = encode_event(table_map(table, "FULL", rules=WORKLOG))
    assert judge_table_map(table, "FULL", event, WORKLOG_DIALECT) == []
    fields = event[event.index(b"\x01\x01\x80") : -4]
    # Flags without YEAR; a default for half of the columns, because its number takes three bytes; names; members with
    # their length in bytes; 7 is the key, 9 the geometry types; nothing from 10 on.
    assert fields.hex() == ("0101800207fcff000008030809010104100179016e0165017001610162016301640606050261620163070101")
    assert judge_table_map(table, "FULL", event)  # by the shipped rules it is something else
