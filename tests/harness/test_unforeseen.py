"""An answer that nobody foresaw costs a check or a block, never the run, and is told with its place."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.updates.campaign import UpdateCampaign
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.updates import blocks
from conformance.harness.updates.blocks import Limits, block_sizes, run_block
from conformance.harness.updates.run import CampaignFailed
from conformance.reference.errors import DecodeError
from conformance.report.directory import ReportError
from conformance.report.results import Summary
from conformance.servers.errors import (
    CaptureError,
    ConnectionLost,
    NoBinaryLog,
    ProtocolError,
    ServerError,
    ServerUnavailable,
    SpecError,
    SqlError,
    StartFailed,
    UnreadableLog,
)
from conformance.servers.recording.tape import NoAnswer
from conformance.servers.unforeseen import ends_all, said
from tests.judge.doctoring import script
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.harness.updates.blocks import BlockResult
    from conformance.stream import AnyRecord

REFUSED = SqlError(1064, "42000", "no such word")
UNREADABLE = DecodeError("binlog/short", "an event ends early")


@pytest.mark.parametrize(
    "error",
    [IndexError("x"), UNREADABLE, ProtocolError("no row"), REFUSED, ServerError("odd"), StartFailed("no"),
     UnreadableLog("the event at binlog.000001:4 ends at 5, expected 9")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_what_a_server_says_ends_nothing_else(error: Exception) -> None:
    assert not ends_all(error)


@pytest.mark.parametrize(
    "error",
    [ConnectionLost("gone"), CaptureError("a right is missing"), NoBinaryLog("off"), ServerUnavailable("none"),
     SpecError("x", "y"), NoAnswer("z"), CampaignFailed("v"), KeyboardInterrupt(), SystemExit(0)],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_without_a_server_or_a_report_nothing_goes_on(error: BaseException) -> None:
    assert ends_all(error)


def test_a_full_disk_is_no_answer_of_a_server() -> None:
    error = ReportError("no space")
    assert ends_all(error) is hasattr(error, "exit_code")


def test_an_error_without_words_gets_its_place() -> None:
    with pytest.raises(TypeError) as raised:
        block_sizes("x")  # type: ignore[arg-type]
    words = said(raised.value)
    assert words.startswith("it cannot go on with what it was told: TypeError: ")
    assert "(harness/updates/blocks.py:" in words
    assert said(ProtocolError("no row")) == "it cannot go on with what it was told: no row"


def judged(error: Exception, monkeypatch: pytest.MonkeyPatch) -> BlockResult:
    def run_case(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(blocks, "run_case", run_case)
    nothing: Any = None
    return run_block(nothing, nothing, "s", 7, 3, Limits(), 10)


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("error", [UNREADABLE, UnreadableLog("the event at binlog.000001:4 ends at 5, expected 9")])
def test_a_log_that_cannot_be_read_makes_its_block_red(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    result = judged(error, monkeypatch)
    (mismatch,) = result.judgement.mismatches
    assert (mismatch.kind, mismatch.broken, mismatch.got) == ("events", ("FR1", "F3"), str(error))
    assert (result.number, result.judgement.updates, result.failure) == (3, 10, "")


@pytest.mark.parametrize("error", [IndexError("x"), ProtocolError("expected one row, got 0"), REFUSED])
def test_a_block_that_cannot_be_judged_says_why(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    result = judged(error, monkeypatch)
    assert result.failure.startswith("block 3 of seed 7: it cannot go on with what it was told: ")
    assert (result.judgement.updates, result.judgement.mismatches) == (0, [])


@pytest.mark.parametrize("error", [ConnectionLost("gone"), NoBinaryLog("off"), NoAnswer("z")])
def test_a_dead_server_ends_the_campaign(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(type(error)):
        judged(error, monkeypatch)


@pytest.mark.planted("FR1")
def test_the_blocks_behind_one_without_a_verdict_are_judged(tmp_path: Path) -> None:
    """Two of three blocks are compared; the row is neither green nor red, and the run is not complete."""
    results = [blocks.judge_block(script(), observe(script()), number, 0.0) for number in range(3)]
    for result in results:
        result.judgement.updates = 100
    results[1].failure = "block 1 of seed 7: it cannot go on with what it was told: no row"
    results[1].judgement.updates = 0

    def answer() -> Iterator[BlockResult]:
        yield from results

    records: list[AnyRecord] = []
    made: Any = SimpleNamespace(results=answer, totals=SimpleNamespace(seconds=0.0))
    lab = Lab(Settings(cases=tmp_path, updates=300, campaign=lambda *_, **__: made), records.append)
    server: Any = SimpleNamespace(number=(9, 7, 4), version="9.7.4", id="s")
    lab._server, lab._resolved = server, True
    UpdateCampaign(lab).run()
    summary = Summary(records)
    row = summary.to_results()["requirements"]["FR1"]
    assert (row["verdict"], row["cases"], row["failed"]) == ("not-run", 300, 0)
    assert summary.counters["updates_compared"] == 200
    end = summary.conclude(seconds=1.0)
    assert (end.complete, end.exit_code) == (False, 4)


@pytest.mark.planted("FR1")
def test_a_session_that_cannot_end_in_order_ends_nothing_else(tmp_path: Path) -> None:
    """A bad answer closes a session; what asks it for the last time must not keep other servers from their end."""
    told: list[str] = []
    ended: list[str] = []

    def lost() -> None:
        raise ConnectionLost("the connection is closed\nwith details")

    lab = Lab(Settings(server="none", cases=tmp_path), lambda _: None, told.append)
    first: Any = SimpleNamespace(close=lost)
    second: Any = SimpleNamespace(close=lambda: ended.append("pairs"))
    server: Any = SimpleNamespace(close=lambda: ended.append("server"))
    lab._injector, lab._pairs, lab._server = first, second, server
    lab.close()
    lab.close()
    assert ended == ["pairs", "server"]
    assert told == ["an end out of order: the connection is closed"]
