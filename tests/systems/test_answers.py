"""The digests of all kinds are those of every other Python, and words and tables of Python's own would change them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.reference import portable
from conformance.reference.jsonb import parse, text_reader
from conformance.reference.sql import expressions, statement_words, tokens
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.live import ROOT
from tests.systems import answers
from tests.systems.answers import digest, recorded
from tests.systems.kinds import KINDS
from tests.systems.said import changed, said

if TYPE_CHECKING:
    from collections.abc import Callable


def test_every_kind_has_its_digests() -> None:
    for full in (False, True):
        assert list(recorded(full=full)) == list(KINDS)
        assert all(kind.inputs for kind in recorded(full=full).values())
    assert recorded(full=True)["identifiers"].inputs == 0x110000 - 0x800


@pytest.mark.parametrize("name", KINDS)
def test_the_answers_are_those_of_every_other_python(name: str) -> None:
    assert digest(name) == recorded()[name]


def pythons_own_reader(text: str, start: int, hooks: text_reader.Hooks) -> object:
    """The place that json says, as the reference had it once."""
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise text_reader.refusal(text, error.pos, error.msg) from None


# What two dashes were under Python 3.11.2, where they are no comment.
_LOSING = re.compile(
    statement_words._PLAIN.pattern.replace(r"--(?=\s|$)", r"--(?=\s|$)|--"), statement_words._PLAIN.flags
)

_SAME = "Every Python says the same."
PLANTED = (
    Fault("place of json", "", _SAME, (parse, "read", pythons_own_reader), at="JSON texts"),
    Fault("groups of 3.11.2", "", _SAME, (statement_words, "_PLAIN", _LOSING), at="words and tokens"),
    Fault("repr", "", _SAME, (tokens, "shown", lambda value: repr(value).upper()), at="code points"),
    Fault("case of names", "", _SAME, (expressions, "folded", lambda name: name), at="code points"),
    Fault("depth of the stack", "", _SAME, (expressions, "_SHALLOW", 10**6), at="depth"),
    Fault("levels of JSON", "", _SAME, (portable, "MAX_LEVELS", 10**6), at="keyrings"),
)  # fmt: skip


@each(PLANTED)
def test_what_python_says_itself_changes_the_digest(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*fault.change)
    assert digest(fault.at) != recorded()[fault.at]


def test_mutations_depend_on_the_bytes_alone() -> None:
    forms = list(changed(b"some bytes", 50, "key"))
    assert forms == list(changed(b"some bytes", 50, "key"))
    assert len(set(forms)) > 20
    assert forms != list(changed(b"some bytes", 50, "other"))


def test_an_answer_tells_values_and_errors_apart() -> None:
    calls: list[Callable[[], object]] = [
        lambda: 1, lambda: True, lambda: "1", lambda: parse.parse_text("[1,]"), lambda: parse.parse_text("[1, ]"),
        lambda: parse.parse_text("[x]"), lambda: dict[str, int]()["x"],
    ]  # fmt: skip
    given = [said(call) for call in calls]
    assert len(set(given)) == len(calls)
    assert given[3] == "mysql-3140 'no JSON value begins like this at offset 3, got ] [mysql-3140]'"
    assert given[-1] == "not declared: KeyError"


@pytest.mark.parametrize("kind", ["keyrings", "nothing"])
def test_the_program_says_what_differs(kind: str, tmp_path: object) -> None:
    """With another seed of hashes, in a process of its own."""
    command = [sys.executable, "-m", "tests.systems.answers", "--kind", kind]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if kind == "nothing":
        assert done.returncode == 2
        assert "invalid choice: 'nothing'" in done.stderr
    else:
        assert done.returncode == 0
        assert done.stdout.split() == ["keyrings", *map(str, recorded()["keyrings"])]


def test_another_digest_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["answers", "--kind", "keyrings"])
    monkeypatch.setattr(answers, "recorded", lambda *, full=False: {"keyrings": answers.Digest(1, "0")})
    assert answers.main() == 1
    assert capsys.readouterr().out.endswith("  differs from answers.json\n")
