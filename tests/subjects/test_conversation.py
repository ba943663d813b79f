"""Conversations: whatever a subject does, a request has one answer, the next one is served, and no process is left."""

from __future__ import annotations

import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.subjects.answers import Failure, SubjectUnavailable
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from tests.subjects.scripts import GOOD, conversation, program

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = Limits(request=1.0, hello=10.0, output=1 << 20)


def living(word: str) -> list[str]:
    """The processes whose command line or environment has a word."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in text and state != "Z":
            found.append(entry.name)
    return found


@pytest.fixture
def log(tmp_path: Path) -> str:
    file = tmp_path / "log.binlog"
    file.write_bytes(b"\xfebin")
    return str(file)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TEST_OF_SUBJECTS", str(tmp_path))
    yield
    assert [pid for pid in living(f"TEST_OF_SUBJECTS={tmp_path}") if pid != Path("/proc/self").resolve().name] == []


def test_a_conversation_answers_and_ends(tmp_path: Path, log: str) -> None:
    subject = Conversation(conversation(tmp_path, hello='"capabilities": ["file", "types"]'), limits=SHORT)
    hello = subject.hello()
    assert (hello.name, hello.version, hello.capabilities) == ("toy", "1", ("file", "types"))
    for _ in range(3):
        answer = subject.decode(None, log)
        assert answer.failure is None
        assert answer.changes[0]["after"] == {"id": 1, "d": Decimal("1.5")}
    subject.close()
    subject.close()


def test_a_log_can_come_as_base64(tmp_path: Path, log: str) -> None:
    body = 'CHANGE["after"]["id"] = base64.b64decode(request["base64"]).hex()\n' + GOOD
    subject = Conversation(conversation(tmp_path, body, hello='"input": "base64"'), limits=SHORT)
    assert subject.decode(None, log).changes[0]["after"]["id"] == b"\xfebin".hex()
    subject.close()


def test_an_error_is_a_refusal_with_the_changes_before_it(tmp_path: Path, log: str) -> None:
    body = (
        'answer(request, error={"code": "unknown-event", "message": "type 39", "position": 4}, changes=[CHANGE],'
        ' marks=[{"message": "left out", "position": 4}])'
    )
    subject = Conversation(conversation(tmp_path, body), limits=SHORT)
    answer = subject.decode(None, log)
    assert answer.error == "unknown-event: type 39 (at 4)"
    assert (len(answer.changes), answer.marks[0].position, answer.failure) == (1, 4, None)
    subject.close()


BAD = {
    "dies of a signal": ("os.kill(os.getpid(), 11)", Failure.CRASHED, "died of SIGSEGV"),
    "ends": ("sys.exit(3)", Failure.CRASHED, "ended with exit status 3"),
    "half a line, then the end": (
        "os.write(1, b'{\"id\": ')\nsys.exit(0)", Failure.CRASHED,
        "ended with exit status 0, in the middle of a line of 7 bytes",
    ),
    "half a line, then silence": (
        "os.write(1, b'{\"id\": ')\ntime.sleep(60)", Failure.TIMED_OUT,
        "no end of the line within 1 s, after 7 bytes",
    ),
    "closes its output and lives": (
        "os.close(1)\ntime.sleep(60)", Failure.CRASHED, "closed its standard output, but lives"
    ),
    "never answers": ("time.sleep(60)", Failure.TIMED_OUT, "no answer within 1 s"),
    "floods in one line": (
        "while True: os.write(1, b'x' * 65536)", Failure.FLOODED, "more than 1,048,576 bytes on standard output"
    ),
    "floods standard error": ("while True: os.write(2, b'x' * 65536)", Failure.TIMED_OUT, "no answer within 1 s"),
    "writes garbage": ("print('hello world', flush=True)", Failure.GARBLED, "is not JSON"),
    "answers twice": (f"{GOOD}\n{GOOD}", Failure.GARBLED, "a line behind the answer"),
    "another id": ("request['id'] += 7\n" + GOOD, Failure.GARBLED, "the answer to decode: id is 9, expected 2"),
    "no id": ("print(json.dumps({'result': {}}), flush=True)", Failure.GARBLED, "id is missing, expected 2"),
    "a list": ("print('[]', flush=True)", Failure.GARBLED, "is a list, not an object"),
    "no result": ("answer(request)", Failure.GARBLED, "expected either 'result' or 'error'"),
    "no changes": ("answer(request, result={'rows': []})", Failure.GARBLED, "has no 'changes'; it has 'rows'"),
    "a change without a table": (
        "del CHANGE['table']\n" + GOOD, Failure.GARBLED, "changes[0] has no 'table'; it has 'schema', 'operation'"
    ),
    "a wrong operation": ("CHANGE['operation'] = 'upsert'\n" + GOOD, Failure.GARBLED, 'operation is "upsert"'),
    "an insert with a before": ("CHANGE['before'] = {}\n" + GOOD, Failure.GARBLED, "before of an insert is an object"),
    "not UTF-8": ("os.write(1, b'\\xff\\n')", Failure.GARBLED, "is not UTF-8"),
    "NaN": ("CHANGE['after']['d'] = float('nan')\n" + GOOD, Failure.GARBLED, "NaN is no JSON number"),
    "nested too deeply": ("os.write(1, b'[' * 100000 + b'\\n')", Failure.GARBLED, "is nested too deeply"),
    "leaves a child in its group": (
        "if os.fork():\n    os._exit(1)\ntime.sleep(60)", Failure.CRASHED, "ended with exit status 1"
    ),
    "leaves a daemon": (
        "if os.fork():\n    time.sleep(60)\nos.setsid()\ntime.sleep(60)", Failure.TIMED_OUT, "no answer within 1 s"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_failure_costs_one_answer(name: str, tmp_path: Path, log: str) -> None:
    body, failure, detail = BAD[name]
    once = tmp_path / "once"
    body = "\n".join(f"    {line}" for line in body.splitlines())
    body = (
        f"import pathlib\nif not pathlib.Path({str(once)!r}).exists():\n"
        f"    pathlib.Path({str(once)!r}).touch()\n    print('about to fail', file=sys.stderr, flush=True)\n{body}\n"
        f"else:\n    {GOOD}"
    )
    subject = Conversation(conversation(tmp_path, body), limits=SHORT)
    begun = time.monotonic()
    answer = subject.decode(None, log)
    assert (answer.failure, detail in answer.detail) == (failure, True), answer
    if name != "floods standard error":
        assert "about to fail" in answer.stderr
    assert subject.decode(None, log).failure is None
    assert time.monotonic() - begun < 5
    subject.close()


def test_a_subject_that_reads_nothing_is_left_after_its_time(tmp_path: Path) -> None:
    big = tmp_path / "big.binlog"
    big.write_bytes(bytes(4 << 20))
    stuck = (
        "import sys, time\nsys.stdin.readline()\n"
        'print(\'{"id": 1, "result": {"name": "x", "input": "base64"}}\', flush=True)\ntime.sleep(60)'
    )
    subject = Conversation(program(tmp_path, stuck), limits=SHORT)
    answer = subject.decode(None, str(big))
    assert answer.failure is Failure.TIMED_OUT
    assert "bytes of the request were not read" in answer.detail
    subject.close()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import sys; sys.exit('no driver')", "ended with exit status 1; standard error: no driver"),
        ("print('ready', flush=True); input()", "the answer to hello is not JSON"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
        ('print(\'{"id": 1, "result": {}}\', flush=True); input()', "hello: 'name' is missing"),
        ('print(\'{"id": 1, "error": {"message": "no"}}\', flush=True); input()', "hello was refused: no"),
    ],
)
def test_without_an_introduction_a_subject_cannot_run(source: str, words: str, tmp_path: Path) -> None:
    subject = Conversation(program(tmp_path, source), limits=Limits(hello=0.5))
    with pytest.raises(SubjectUnavailable) as raised:
        subject.hello()
    assert words in str(raised.value)
    subject.close()


def test_a_program_that_is_not_there_cannot_run() -> None:
    with pytest.raises(SubjectUnavailable, match="/nowhere/adapter: No such file"):
        Conversation(["/nowhere/adapter"]).hello()


def test_the_labs_password_is_not_for_subjects(tmp_path: Path, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINLOG_LAB_PASSWORD", "hidden")
    body = 'CHANGE["after"]["id"] = os.environ.get("BINLOG_LAB_PASSWORD")\n' + GOOD
    subject = Conversation(conversation(tmp_path, body), limits=SHORT)
    assert subject.decode(None, log).changes[0]["after"]["id"] is None
    subject.close()
