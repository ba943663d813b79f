"""FR15's check on real servers under callgrind: small blocks, with and without statements that cost more."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.costs import check_throughput as test_throughput
from conformance.checks.costs import throughput
from conformance.harness import session as labs
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.servers.run.callgrind import missing_programs
from conformance.stream import Block, CaseVerdict
from generators.draw import Stream
from tests import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def source(server: ProcessServer) -> Iterator[throughput.Source]:
    """A source under callgrind, whose start takes most of a test's time."""
    missing = missing_programs()
    if missing is not None:
        pytest.skip(missing)
    draw = Stream("throughput", Settings().seed).fork("table")
    with throughput.Source(server.installation, draw, lambda _: None) as started:
        yield started


@pytest.fixture
def records(server: ProcessServer, source: throughput.Source, monkeypatch: pytest.MonkeyPatch) -> list[AnyRecord]:
    monkeypatch.setitem(test_throughput._SIDES, "source", lambda *_: nullcontext(source))
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setattr(throughput, "WORKLOADS", throughput.WORKLOADS[2:3])
    monkeypatch.setattr(throughput, "WARM_UP", 100)
    monkeypatch.setattr(throughput.ratios, "__kwdefaults__", {"pairs": 6, "updates": 60})
    return []


def blocks(records: list[AnyRecord]) -> dict[str, str]:
    return {item.check: next(iter(item.verdicts)) for item in records if isinstance(item, Block)}


@pytest.mark.nightly
def test_figures_are_recorded_and_nothing_fails(records: list[AnyRecord]) -> None:
    running.run(test_throughput.test_instructions, Lab(Settings(), records.append), side="source")
    assert blocks(records)["costs/instructions/source"] in ("pass", "inconclusive")
    (shown,) = (item for item in records if isinstance(item, CaseVerdict))
    assert shown.requirement == "FR15"
    assert shown.field == "instructions, on / off: non-JSON updates, MINIMAL images"
    assert "6 pairs" in str(shown.got)


@pytest.mark.planted("FR15")
@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "replica"])
def test_a_side_that_works_more_with_the_option_on_fails(
    records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    """With the option on all rows are updated once more."""
    original = throughput.switch
    on_now: list[bool] = []

    def switch(connection: Any, workload: Any, *, on: bool) -> None:
        on_now[:] = [on]
        original(connection, workload, on=on)

    def run(connection: Any, sql: list[str]) -> None:
        connection.execute_many([*sql, *(["UPDATE t SET n = n + 1"] * on_now[0])]).check()

    monkeypatch.setattr(throughput, "switch", switch)
    monkeypatch.setattr(throughput, "run", run)
    with pytest.raises(pytest.fail.Exception, match="more instructions"):
        running.run(test_throughput.test_instructions, Lab(Settings(), records.append), side=side)
    assert blocks(records)[f"costs/instructions/{side}"] == "fail"


@pytest.mark.nightly
def test_without_valgrind_the_check_names_it(records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match="valgrind and vgdb"):
        running.run(test_throughput.test_instructions, Lab(Settings(), records.append), side="source")
