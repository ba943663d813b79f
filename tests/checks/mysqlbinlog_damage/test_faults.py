"""The check of printed damage: its damage is damage, and the faults planted for it are noticed."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.mysqlbinlog_damage import check as test_printed_damage
from conformance.checks.mysqlbinlog_damage.check import damaged, damaged_file, judge
from conformance.harness import session as labs
from conformance.harness.lab import Lab, Settings
from conformance.reference.binlog.files import read_events
from conformance.reference.errors import CodecError
from conformance.reference.partial.diffs import decode_diffs
from conformance.stream import Block, CaseVerdict
from generators.draw import Stream
from tests.checks.mysqlbinlog_output.faults_of_printing import DAMAGE_FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

END = b"### '$.after'\n/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"


@pytest.mark.parametrize("number", range(40))
def test_damage_is_refused_by_the_reference_in_a_file_that_can_be_read(number: int) -> None:
    _, diffs = damaged(Stream("damage", number))
    with pytest.raises(CodecError):
        decode_diffs(diffs)
    assert len(list(read_events(BytesIO(damaged_file(diffs))))) == 6


def test_a_text_that_breaks_off_is_noticed() -> None:
    words = b"###   @2=Error reading operation type while printing JSON diff\n"
    assert judge("", 0, words + END) is None
    for text in (words, words + END.replace(b"$.after", b""), END):
        assert judge("", 0, text) is not None


@pytest.fixture
def records() -> list[AnyRecord]:
    return []


@pytest.fixture
def lab(server: ProcessServer, records: list[AnyRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setattr(test_printed_damage, "_FILES", {"quick": 10})
    return Lab(Settings(cases=tmp_path), records.append)


@pytest.mark.live
def test_the_real_client_names_damage(lab: Lab, records: list[AnyRecord]) -> None:
    test_printed_damage.test_damaged_diffs_are_named(lab)
    assert not [record for record in records if isinstance(record, CaseVerdict)]


@pytest.mark.live
@pytest.mark.parametrize("fault", DAMAGE_FAULTS, ids=lambda fault: fault.id)
def test_a_client_that_hides_damage_or_dies_fails_the_check(
    lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = test_printed_damage.run
    monkeypatch.setattr(test_printed_damage, "run", lambda *arguments: fault.change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="not named"):
        test_printed_damage.test_damaged_diffs_are_named(lab)
    assert {record.check for record in records if isinstance(record, Block) and record.failures} == {"printing/damage"}
