"""The checks of what mysqlbinlog prints and replays fail on the faults planted for them, and pass without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks import lab as labs
from conformance.checks import printing, test_printing
from conformance.checks.lab import Lab, Settings
from conformance.stream import Block, CaseVerdict
from tests.checks.faults_of_printing import TEXT_FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


class Recorded:
    """A lab on the tests' server, and what it wrote."""

    def __init__(self, server: ProcessServer, cases: Path, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(labs, "resolve", lambda *_, **__: server)
        self.records: list[AnyRecord] = []
        self.lab = Lab(Settings(cases=cases), self.records.append)

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]

    def cases(self, check: str) -> int:
        return sum(block.cases for block in self.of(Block) if block.check == check)

    @property
    def failing(self) -> set[str]:
        return {block.check for block in self.of(Block) if block.failures}


@pytest.fixture
def recorded(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    return Recorded(server, tmp_path, monkeypatch)


# --- FR7 -------------------------------------------------------------------------------------------------------------


def test_the_real_client_prints_all_diffs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_printing, "_BLOCKS", {"quick": 1})
    test_printing.test_printed_updates(recorded.lab)
    test_printing.test_worklog_example(recorded.lab)
    assert recorded.of(CaseVerdict) == []
    for check in ("printing/text", "printing/complete"):
        assert recorded.cases(check) >= 45  # some statements of a block change nothing


@pytest.mark.parametrize("fault", TEXT_FAULTS, ids=lambda fault: fault.id)
def test_a_doctored_text_of_the_example_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = printing.client_text
    monkeypatch.setattr(printing, "client_text", lambda *arguments: fault.change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="otherwise"):
        test_printing.test_worklog_example(recorded.lab)
    assert recorded.failing == {"printing/example", "printing/example-text"}


def _without_the_last_row(text: bytes) -> bytes:
    return text[: text.rindex(b"### UPDATE ")]


def _another_digit(text: bytes) -> bytes:
    place = text.rindex(b"JSON_REPLACE(@")
    return text[:place] + text[place:].replace(b"JSON_REPLACE(", b"JSON_INSERT(", 1)


@pytest.mark.parametrize("change", [_without_the_last_row, _another_digit])
def test_a_doctored_text_of_generated_updates_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    real = printing.client_text
    monkeypatch.setattr(test_printing, "_BLOCKS", {"quick": 1})
    monkeypatch.setattr(printing, "client_text", lambda *arguments: change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="differences in what mysqlbinlog prints"):
        test_printing.test_printed_updates(recorded.lab)
    assert recorded.failing == {"printing/text", "printing/complete"}
    verdict = recorded.of(CaseVerdict)[0]
    assert verdict.replay.endswith("printing-0.binlog")
    assert (tmp_path / "printing-0.binlog").read_bytes().startswith(b"\xfebin")
    assert (tmp_path / f"{verdict.case}.json").exists()
