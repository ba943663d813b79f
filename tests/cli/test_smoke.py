"""The proof of an adapter: what is wrong with it is named exactly."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.in_process import lab_here
from tests.live import ROOT, lab
from tests.subjects.scripts import conversation

if TYPE_CHECKING:
    from pathlib import Path

REFERENCE = f"cmd:{shlex.quote(sys.executable)} -m conformance decode --format jsonl {{file}}"


def test_a_good_adapter_is_proved_step_by_step() -> None:
    end = lab("smoke", REFERENCE)
    assert end.code == 0, end.text
    assert "WRONG" not in end.out
    assert "ok     it introduces itself" in end.out
    assert "ok     it reads columns/int" in end.out
    assert "ok     it refuses a file that is no log" in end.out
    assert "the adapter works: binlog-lab conformance --subject" in end.err


LOST = {
    "partial updates": "found['event'] != 'PARTIAL_UPDATE_ROWS_EVENT'",
    "compressed transactions": "found['inner'] is None",
    "deletes": "found['operation'] != 'delete'",
}


@pytest.mark.parametrize(
    ("lost", "case"),
    [
        ("partial updates", "diffs/replace-scalar"),
        pytest.param("compressed transactions", "payload/insert", marks=pytest.mark.nightly),
        pytest.param("deletes", "files/several-transactions", marks=pytest.mark.nightly),
    ],
)
def test_of_a_decoder_that_loses_events_nobody_says_that_it_works(lost: str, case: str, tmp_path: Path) -> None:
    body = f"""\
sys.path.insert(0, {str(ROOT)!r})
from tests.in_process import lab_here
end = lab_here("decode", "--format", "jsonl", request["path"])
changes = [found for found in map(json.loads, end.out.splitlines()) if {LOST[lost]}]
answer(request, **({{"result": {{"changes": changes}}}} if end.code == 0 else {{"error": {{"message": end.err}}}}))"""
    words = conversation(tmp_path, body, hello='"capabilities": ["file"]')
    end = lab_here("smoke", f"jsonl:{shlex.join(words)}")
    assert end.code == 1, end.text
    assert [line for line in end.out.splitlines() if line.startswith(("LOSES", "WRONG"))] == [
        line for line in end.out.splitlines() if f"it reads {case}: " in line
    ]
    assert "the adapter works" not in end.err
    assert "row changes of 1 log are lost or altered in silence: binlog-lab conformance --subject" in end.err


BAD = {
    "no JSON": ("print('rows', flush=True)", ["garbled: the answer to decode is not JSON", ": rows"]),
    "another id": ("request['id'] = 'x'\nanswer(request, result={})", ['id is "x", expected 2']),
    "no key": ("answer(request, result={'rows': []})", ["has no 'changes'; it has 'rows'"]),
    "no changes": (
        "answer(request, result={'changes': []})",
        ["silent-loss", 'first change expected: {"file"', "first change given: none"],
    ),
    "no answer": ("print('thinking', file=sys.stderr, flush=True)\ntime.sleep(60)", [
        "timed out: no answer within 1 s", "standard error: thinking",
    ]),
    "an end": ("print('no driver', file=sys.stderr)\nsys.exit(3)", [
        "crashed: ended with exit status 3", "standard error: no driver",
    ]),
    "an error": ("answer(request, error={'code': 'E1', 'message': 'cannot'})", ["it refused: E1: cannot"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_named(name: str, tmp_path: Path) -> None:
    body, words = BAD[name]
    end = lab("smoke", f"jsonl:{shlex.join(conversation(tmp_path, body))}?timeout=1")
    assert end.code == 1, end.text
    for word in words:
        assert word in end.out, end.text
    assert "ok     it introduces itself" in end.out
    assert "WRONG  it reads columns/int" in end.out


def test_an_adapter_that_does_not_leave_is_noted(tmp_path: Path) -> None:
    words = conversation(tmp_path, "answer(request, error={'message': 'no'})")
    text = (tmp_path / "adapter.py").read_text("utf-8").replace("        break\n", "        time.sleep(60)\n")
    (tmp_path / "adapter.py").write_text(text, "utf-8")
    end = lab("smoke", f"jsonl:{shlex.join(words)}")
    assert "note   it does not end when it is asked to" in end.out, end.text


@pytest.mark.parametrize(
    ("subject", "code", "words"),
    [
        ("nosuch", 2, "unknown subject 'nosuch'"),
        ("cmd:no-such-program {file}", 3, "no-such-program: no such program"),
        ("jsonl:true", 1, "no introduction: crashed: ended with exit status 0"),
    ],
)
def test_what_cannot_begin_says_why(subject: str, code: int, words: str) -> None:
    end = lab("smoke", subject)
    assert (end.code, words in end.text) == (code, True), end.text
