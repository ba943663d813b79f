"""Every card of a run that counts listed deviations, and of one with a broken decoder: what it shows, and that its
command shows it again.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.stream import CaseVerdict, Finding, read_stream
from conformance.verdict import Verdict
from tests.live import environment, lab
from tests.report.card_rules import assert_cards

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {
    Verdict.FAIL: "FAILED", Verdict.DIFFERS: "FAILED", Verdict.SILENT_LOSS: "FAILED", Verdict.CRASH: "DIED",
}  # fmt: skip
MINE = """
import os
from pathlib import Path

from tests.subjects.faulty.twelve import DropsDelete

class Mine(DropsDelete):
    def decode(self, path):
        if b"XA COMMIT" in Path(path).read_bytes()[:65536]:
            os.abort()
        return super().decode(path)
"""


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


@pytest.mark.nightly
def test_every_card_of_a_broken_decoder_comes_again_in_another_folder_with_an_empty_cache(tmp_path: Path) -> None:
    folder, elsewhere, moved = tmp_path / "my decoder", tmp_path / "elsewhere", tmp_path / "a new place"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "mine.py").write_text(MINE, encoding="utf-8")
    end = lab("conformance", "--subject", "py:mine:Mine", "--report", "../old", cwd=folder)
    assert end.code == 1, end.text
    assert_cards(tmp_path / "old")
    (tmp_path / "old").rename(moved)

    records = read_stream(moved).records
    cards = [record for record in records if isinstance(record, CaseVerdict) and record.fails]
    assert Counter(card.verdict for card in cards).keys() == {Verdict.SILENT_LOSS, Verdict.CRASH}
    split = [shlex.split(card.replay or "") for card in cards]
    (before,) = {tuple(one[: one.index("replay")]) for one in split}
    (behind,) = {tuple(one[one.index("replay") + 2 :]) for one in split}
    assert before[-1] == "binlog-lab"
    cases = [one[one.index("replay") + 1] for one in split]
    done = subprocess.run(
        [*before[:-1], sys.executable, "-m", "conformance", "replay", *cases, *behind],
        cwd=elsewhere, env=environment(BINLOG_LAB_CACHE=str(tmp_path / "cache")), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    said = {case: word for word, case in re.findall(r"^([A-Z]+) +(\S+)", done.stdout, re.MULTILINE)}
    assert said == {card.case: WORDS[card.verdict] for card in cards}

    findings = [record for record in records if isinstance(record, Finding)]
    assert any(one.message.startswith("Every DELETE is lost") for one in findings)
    for path in (moved / "findings").glob("*/*"):
        assert lab("replay", path, cwd=elsewhere).code == 1
    for case in cases:
        script = lab("replay", case, "--as", "sql", cwd=elsewhere)
        whole = lab("replay", case, "--as", "json", cwd=elsewhere)
        assert whole.code == 0, whole.text
        assert script.code == (0 if json.loads(whole.out)["statements"] else 2), script.text
