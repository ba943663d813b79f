"""The words for subjects, Python objects, and what is said about wrong words."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.specs import SubjectSpecError, open_subject, parse_subject, shown

if TYPE_CHECKING:
    from pathlib import Path

DECODER = """
from decimal import Decimal
class Decoder:
    def hello(self):
        return {"name": "mine", "version": "2", "capabilities": ["file"]}
    def decode(self, path):
        print("noise on standard output")
        yield {"schema": "s", "table": "t", "operation": "insert", "before": None,
               "after": {"b": b"ab", "d": Decimal("1.10")}}
        yield {"mark": {"message": "left out"}}
        if path.endswith("bad"):
            raise ValueError("cannot read this")
def function(path):
    return []
def bytes_as_names(path):
    return [] if path.endswith("good") else [{b"schema": "s"}]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(DECODER, "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("module")
def test_a_python_object_is_a_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    subject = open_subject(parse_subject("py:mine:Decoder"))
    assert (subject.hello().name, subject.hello().version) == ("mine", "2")
    answer = subject.decode(None, "good")  # type: ignore[arg-type] # an object does not see the Case
    assert answer.changes[0]["after"] == {"b": {"hex": "6162"}, "d": "1.10"}
    assert [mark.message for mark in answer.marks] == ["left out"]
    refused = subject.decode(None, "bad")  # type: ignore[arg-type] # as above
    assert (refused.error, len(refused.changes), len(refused.marks)) == ("ValueError: cannot read this", 1, 1)
    assert "noise on standard output" in refused.stderr
    subject.close()


@pytest.mark.usefixtures("module")
def test_a_function_is_enough() -> None:
    subject = open_subject(parse_subject("py:mine:function?name=short"))
    assert subject.hello().name == "short"
    assert subject.decode(None, "x").changes == ()  # type: ignore[arg-type] # as above
    subject.close()


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("name", "words"), [("py:nowhere:x", "No module named 'nowhere'"), ("py:mine:x", "has no attribute 'x'")]
)
def test_an_object_that_is_not_there_cannot_run(name: str, words: str) -> None:
    with pytest.raises(SubjectUnavailable, match=words):
        open_subject(parse_subject(name)).hello()


def test_options_stand_behind_a_question_mark() -> None:
    spec = parse_subject(
        "jsonl:node a.js 'x?y'?timeout=2.5&hello-timeout=9&limit=1&name=My%20tool&capabilities=file,types"
    )
    assert (spec.kind, spec.target, str(spec)) == ("jsonl", "node a.js 'x?y'", "My tool")
    assert (spec.limits.request, spec.limits.hello, spec.limits.output) == (2.5, 9.0, 1 << 20)
    assert parse_subject("cmd:curl 'http://h/?a=b' {file}").options == {}


def test_capabilities_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tool.json"
    file.write_text('{"name": "tool", "version": "7", "capabilities": ["file", "committed"]}', "utf-8")
    spec = f"cmd:{shlex.quote(sys.executable)} {{file}}?capabilities={quote(str(file))}"
    hello = open_subject(parse_subject(spec)).hello()
    assert (hello.name, hello.version, hello.capabilities) == ("tool", "7", ("file", "committed"))
    file.write_text('["file", "fast"]', "utf-8")
    with pytest.raises(SubjectSpecError, match='unknown "fast"; known are file, server, '):
        parse_subject(spec)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nosuch", "unknown subject 'nosuch'; expected cmd:PROGRAM … {file}, jsonl:"),
        ("cmdd:x {file}", "unknown kind of subject 'cmdd' (did you mean cmd?)"),
        ("reference?timeout=5", "a built-in subject has its own timeout; the only options are name and source"),
        ("cmd:", "names nothing; expected cmd:PROGRAM … {file}"),
        (
            "cmd:decode",
            "the command has no {file}, the place of the log's path; expected, for example, cmd:decode {file}",
        ),
        ("cmd:decode '{file}", "cannot be read: No closing quotation"),
        ("py:mine", "expected py:MODULE:OBJECT"),
        ("jsonl:x?timout=3", "unknown option 'timout' (did you mean timeout"),
        ("jsonl:x?timeout=soon", "timeout=soon: expected a positive number (seconds)"),
        ("jsonl:x?capabilities=fast", "capabilities=fast: neither a file nor a list of file, server"),
    ],
)
def test_wrong_words_are_explained(text: str, words: str) -> None:
    with pytest.raises(SubjectSpecError) as raised:
        parse_subject(text)
    assert words in str(raised.value)


def test_a_missing_program_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(SubjectUnavailable, match="no-such-program: no such program"):
        open_subject(parse_subject("jsonl:no-such-program"))
    (tmp_path / "plain").touch()
    with pytest.raises(SubjectUnavailable, match="is not executable"):
        open_subject(parse_subject(f"cmd:'{tmp_path}/plain' {{file}}"))


def test_secrets_are_not_shown() -> None:
    assert shown("wire:tool --password=abc --dsn mysql://u:abc@h/") == "wire:tool --password=*** --dsn mysql://u:***@h/"
    assert "abc" not in str(parse_subject("jsonl:env TOKEN=abc tool --password abc"))


@pytest.mark.usefixtures("module")
def test_an_answer_that_is_no_json_is_an_error_and_the_next_request_is_answered() -> None:
    subject = open_subject(parse_subject("py:mine:bytes_as_names"))
    assert "keys must be str" in subject.decode(None, "bad").error  # type: ignore[arg-type] # as above
    assert subject.decode(None, "good").error == ""  # type: ignore[arg-type] # as above
    subject.close()
