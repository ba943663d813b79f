"""The check of printed damage: its damage is damage, and the faults planted for it are noticed."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.damaged_log import log_of_image
from conformance.cases.by_hand.injection import partial_image
from conformance.checks.mysqlbinlog_damage import check
from conformance.checks.mysqlbinlog_damage.generate import Damaged, damaged
from conformance.checks.mysqlbinlog_damage.judge import judge
from conformance.harness.profiles import SIZES
from conformance.reference.binlog.files import read_events
from conformance.reference.errors import CodecError
from conformance.reference.partial.diffs import decode_diffs
from conformance.servers.roles.mysqlbinlog import ClientEnd
from conformance.stream import CaseVerdict
from generators.draw import Stream
from tests.checks.mysqlbinlog_damage.faults import DAMAGE_FAULTS
from tests.faults.runner import each, plant_in
from tests.running import run

if TYPE_CHECKING:
    from tests.faults.fault import Fault
    from tests.recorded import Recorded


@pytest.mark.parametrize("number", range(40))
def test_damage_is_refused_by_the_reference_in_a_file_that_can_be_read(number: int) -> None:
    diffs = damaged(Stream("damage", number)).diffs
    with pytest.raises(CodecError):
        decode_diffs(diffs)
    assert len(list(read_events(BytesIO(log_of_image(partial_image(diffs)))))) == 6


def test_a_text_that_breaks_off_is_noticed() -> None:
    damage = Damaged("operation 3", b"", "Error reading operation type")
    row = b"### UPDATE `binlog_lab_injection`.`t`\n### WHERE\n###   @1=1\n### SET\n###   @2="
    said, behind = row + b"Error reading operation type\n\n", row + b"JSON_REMOVE(@2, '$.after')\n"
    end = b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
    assert judge(damage, ClientEnd(0, said + behind + end, 0)) is None
    for text in (
        b"",
        said,
        said + behind,
        said + end,
        behind + end,
        said + said + behind + end,
        said + behind * 2 + end,
    ):
        assert judge(damage, ClientEnd(0, text, 0)) is not None
    for status, errors in ((None, b""), (-6, b""), (1, b""), (0, b"ERROR: no\n")):
        assert judge(damage, ClientEnd(status, said + behind + end, 0, errors)) is not None


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_damage/diffs"], "quick", 10)


@pytest.mark.live
@pytest.mark.usefixtures("few_files")
def test_the_real_client_names_damage(recorded: Recorded) -> None:
    run(check.test_damaged_diffs_are_named, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("mysqlbinlog_damage/diffs") == 10


@pytest.mark.live
@pytest.mark.usefixtures("few_files")
@each(DAMAGE_FAULTS)
def test_a_client_that_hides_damage_or_dies_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    def doctored(end: ClientEnd) -> ClientEnd:
        status, text = fault.change((end.status, end.text))
        return ClientEnd(status, text, end.peak, end.errors)

    plant_in(monkeypatch, check, "print_bytes", doctored)
    recorded.fails(check.test_damaged_diffs_are_named, r"mysqlbinlog (died|does not|fails)")
    assert recorded.failing == {"mysqlbinlog_damage/diffs"}
