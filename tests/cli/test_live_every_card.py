"""Every card of a run that counts listed deviations: what it shows, and that its command shows it again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from conformance.stream import CaseVerdict, read_stream
from conformance.verdict import Verdict
from tests.live import lab
from tests.report.card_rules import assert_cards

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {Verdict.FAIL: "FAILED", Verdict.DIFFERS: "FAILED", Verdict.CRASH: "DIED"}


def words(*arguments: str | Path, cwd: Path) -> dict[str, str]:
    """The words of a replay, by Case as it was named."""
    lines = [line.split("  ", 2) for line in lab("replay", *arguments, cwd=cwd).out.splitlines()]
    return {line[2]: line[0] for line in lines if len(line) == 3 and line[0] in WORDS.values()}


@pytest.mark.live
@pytest.mark.nightly
def test_every_card_is_sound_and_comes_again_where_the_report_was_moved(tmp_path: Path) -> None:
    end = lab("conformance", "--no-deviations", "--seed", "7", "--updates", "300", "--report", tmp_path / "old")
    assert end.code == 1, end.text
    assert_cards(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "a new place")
    (tmp_path / "elsewhere").mkdir()
    due: dict[str, str] = {}
    for card in read_stream(tmp_path / "a new place").records:
        command = shlex.split(card.replay or "") if isinstance(card, CaseVerdict) and card.fails else []
        if isinstance(card, CaseVerdict) and command[1:2] == ["replay"]:
            case = command[-1].replace(str(tmp_path / "old"), str(tmp_path / "a new place"))
            due[case] = WORDS[card.verdict]
    files = {case: word for case, word in due.items() if not case.startswith("deviation:")}
    others = {case: word for case, word in due.items() if case.startswith("deviation:")}
    assert words(*files, cwd=tmp_path / "elsewhere") == files
    assert words("--no-deviations", *others, cwd=tmp_path / "elsewhere") == others
    for case in files:
        assert lab("replay", case, "--as", "sql").code == 0, case
