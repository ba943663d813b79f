"""The check of row values on a real server, and on logs and a reference with planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.row_images import RowImage
from conformance.checks.row_values import check as test_row_values
from conformance.checks.row_values import run as row_values
from conformance.checks.row_values.run import Observed, judge, offer, offered_value, run_block
from conformance.harness import session as labs
from conformance.harness.needs.questions import Questions
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.tables import columns, temporal
from conformance.servers.roles.variables import global_variable
from conformance.stream import Block, CaseVerdict
from generators.draw import Stream
from generators.row_values import ROUND, SHAPES, shapes_of, table
from tests.checks.row_values.faults_of_row_values import CODEC_FAULTS, LOG_FAULTS
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault


@pytest.fixture(scope="module")
def blocks(server: ProcessServer) -> list[Observed]:
    """Tables of a real server with every kind of column, and few rows."""
    with (
        global_variable(server, "binlog_row_metadata", "FULL"),
        server.connect() as connection,
        server.schema(connection) as schema,
    ):
        capture = server.capture()
        offered = offer(connection, Questions(server))
        made = [
            run_block(connection, capture, schema, Stream("faults", number), number, 4, offered=offered)
            for number in range(ROUND)
        ]
        capture.close()
    return made


def test_a_round_of_tables_has_every_kind_of_column() -> None:
    assert {shape for number in range(ROUND) for shape in shapes_of(number)} == set(SHAPES)
    for first in (0, 7):
        assert {shape for number in range(ROUND) for shape in shapes_of(first * ROUND + number)} == set(SHAPES)


def test_a_server_with_less_gets_blobs_instead() -> None:
    some = {"latin1_swedish_ci", "utf8mb4_0900_ai_ci"}
    for number in range(ROUND):
        made = table(Stream("less", number), number, schema="d", name="t", vectors=False, collations=some)
        assert {column.collation for column in made.columns} <= {None, *some}
        assert "VECTOR" not in {column.type for column in made.columns}


def test_values_of_a_missing_spatial_reference_system_are_in_the_plane() -> None:
    value = "ST_GeomFromText('POINT(1 2)', 3857)"
    assert offered_value(value, {"3857"}) == "ST_GeomFromText('POINT(1 2)', 0)"
    assert offered_value(value, {"4326"}) == value
    assert offered_value("'ST_GeomFromText(x, 3857)'", {"3857"}) == "'ST_GeomFromText(x, 3857)'"


def test_the_sizes_of_the_profiles() -> None:
    tables = SIZES["row_values/values/tables"]
    rows = {name: 2 * count * SIZES["row_values/values/rows"][name] for name, count in tables.items()}
    assert rows["quick"] >= 400
    assert rows["full"] >= 20_000
    assert all(count % ROUND == 0 for count in tables.values())


@pytest.mark.live
def test_a_real_server_differs_in_nothing(blocks: list[Observed]) -> None:
    assert {observed.row_image for observed in blocks} == set(RowImage)
    for observed in blocks:
        judged = judge(observed)
        assert judged.values == ()
        assert judged.events == ()
        assert judged.event_count >= 3
        assert len(observed.inserted) == len(observed.changed) == 4


@pytest.mark.live
@each(LOG_FAULTS)
def test_a_log_that_tells_otherwise_is_noticed(blocks: list[Observed], fault: Fault) -> None:
    found = 0
    for observed in blocks:
        doctored = fault.change(observed)
        if doctored != observed:
            found += bool(judge(doctored).values)
    assert found >= 3


@pytest.fixture
def fresh_codecs() -> Iterator[None]:
    """Codecs keep the functions that they were made with."""
    columns._codec.cache_clear()
    yield
    columns._codec.cache_clear()


@pytest.mark.live
@pytest.mark.usefixtures("fresh_codecs")
@each(CODEC_FAULTS)
def test_a_codec_that_writes_otherwise_is_noticed(
    blocks: list[Observed], monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(temporal, fault.at, fault.change)
    assert any(judge(observed).events for observed in blocks)


@pytest.mark.live
@pytest.mark.parametrize("wrong", [False, True])
def test_the_check_reports_what_it_finds(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: bool
) -> None:
    records: list[AnyRecord] = []
    words: list[str] = []
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setitem(SIZES["row_values/values/tables"], "quick", 2)
    monkeypatch.setitem(SIZES["row_values/values/rows"], "quick", 3)
    lab = Lab(Settings(cases=tmp_path), records.append, words.append)
    if wrong:
        monkeypatch.setattr(test_row_values, "judge", lambda observed: row_values.judge(LOG_FAULTS[4].change(observed)))
        with pytest.raises(pytest.fail.Exception, match="the log tells another value"):
            run(test_row_values.test_values_from_the_log_alone, lab)
    else:
        run(test_row_values.test_values_from_the_log_alone, lab)
    made = [record for record in records if isinstance(record, Block)]
    assert {record.check for record in made if record.failures} == ({"row_values/values/TMV1"} if wrong else set())
    assert sum(record.cases for record in made if record.check == "row_values/values/TMV1") == 12
    told = [record for record in records if isinstance(record, CaseVerdict)]
    assert all(record.statements[0].startswith("CREATE TABLE") for record in told)
    assert bool(told) is wrong
    assert words[-1].startswith("row values: 12 rows")
    with server.connect() as connection:
        assert connection.variable("global.binlog_row_metadata") == "MINIMAL"
