"""Adapters of built-in subjects on recorded logs: where the program reads a log right, its adapter says the same.

What a program loses is no matter of these tests, as long as the adapter neither hides it nor adds to it. A subject that
is not installed is skipped; CI fetches the small ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.observed import Observed
from conformance.subjects import builtin
from conformance.verdict import Verdict
from tests.judge.decoding.kit import case_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.decoder_case import DecoderCase
    from conformance.judge.decoding.judge import Judgement
    from conformance.subjects.answers import Answer, Subject

_SMALL = ("python-mysql-replication", "mysql-event-stream")  # a few megabytes, no runtime but Python
_FILES = tuple(name for name in builtin.names() if builtin.entry(name).reads == "file")
_PLAIN = "17-xa-savepoint-rowsquery"  # rows of INT columns, all three operations, FULL images
_ALL_TYPES = "07-all-types-metadata-full"
_PARTIAL = "11-no-gtid"
_OPEN = "18-not-closed"


@pytest.fixture(scope="module", params=_FILES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """A built-in subject that reads files."""
    name = request.param
    if builtin.installed(name) is None:
        if name not in _SMALL or not os.environ.get("CI"):
            pytest.skip(f"not in the cache: binlog-lab subjects install {name}")
        builtin.install(name)
    opened = builtin.open(name)
    yield opened
    opened.close()


def _ask(subject: Subject, case: DecoderCase, directory: Path) -> tuple[Answer, Judgement]:
    answer = subject.decode(case, str(case.write(directory)))
    observed = Observed(
        changes=answer.changes,
        marks=answer.marks,
        error=answer.error,
        failure=str(answer.failure or ""),
        detail=answer.detail,
    )
    return answer, judge(case, subject.hello().capabilities, observed)


def test_it_introduces_itself(subject: Subject) -> None:
    """Name and version are those of what was fetched."""
    hello = subject.hello()
    found = builtin.entry(hello.name)
    assert hello.version
    assert hello.version == found.version or not found.version[0].isdigit() or hello.name == "mariadb-binlog"
    assert hello.capabilities


def test_plain_rows_pass(subject: Subject, tmp_path: Path) -> None:
    """Every one of these programs reads INT columns of FULL images; so does its adapter, again and again."""
    case = case_of(_PLAIN)
    for _ in range(2):
        answer, judgement = _ask(subject, case, tmp_path)
        assert judgement.verdict is Verdict.PASS, judgement.message
        assert len(answer.changes) == len(case.expected)


def test_nothing_is_invented(subject: Subject, tmp_path: Path) -> None:
    """No log makes an adapter add or repeat changes, break off the conversation, or speak outside of the protocol."""
    for path in sorted((Path(__file__).parents[1] / "data" / "binlogs").glob("*.binlog")):
        answer, judgement = _ask(subject, case_of(path.stem), tmp_path)
        assert judgement.verdict not in (Verdict.FAIL, Verdict.CRASH, Verdict.TIMEOUT), (path.name, judgement.message)
        assert answer.failure is None


def test_changes_before_an_error_are_delivered(subject: Subject, tmp_path: Path) -> None:
    """A log that is cut inside its last rows event: what stands before it arrives."""
    case = case_of(_PLAIN)
    last = case.expected[-1]["position"]
    path = tmp_path / "cut.binlog"
    path.write_bytes(case.log[: last + 25])
    answer = subject.decode(case, str(path))
    whole = [change for change in case.expected if change["position"] < last]
    assert answer.failure is None
    assert len(answer.changes) == len(whole)


def test_a_file_that_is_no_log_is_refused(subject: Subject, tmp_path: Path) -> None:
    """An error with a message, and the subject answers again."""
    path = tmp_path / "text.binlog"
    path.write_bytes(b"no log at all, but long enough for a header\n" * 4)
    case = case_of(_PLAIN)
    answer = subject.decode(case, str(path))
    assert answer.error
    assert not answer.changes
    assert _ask(subject, case, tmp_path)[1].verdict is Verdict.PASS


_READS_ALL_TYPES = {
    "reference": "",
    "mysql-event-stream": "",
    "mysqlbinlog": "!! Don't know how to handle column type=255",  # GEOMETRY: the program says so in its text
}


def test_all_types_pass_where_the_program_reads_them(subject: Subject, tmp_path: Path) -> None:
    """Forms of values that the adapter makes: numbers, dates, bytes, members of ENUM and SET."""
    name = subject.hello().name
    if name not in _READS_ALL_TYPES:
        pytest.skip(f"{name} does not read all types")
    _, judgement = _ask(subject, case_of(_ALL_TYPES), tmp_path)
    if said := _READS_ALL_TYPES[name]:
        assert judgement.verdict is Verdict.REFUSED
        assert said in judgement.message
        # The other columns are right: nothing but what it says is missing, and a text of BINARY is that of the log.
        kinds = {(str(item.kind), item.cause) for item in judgement.differences if item.what == "BINARY column"}
        assert kinds <= {("altered value", "without its closing zeros")}
        others = [item for item in judgement.differences if item.what != "BINARY column"]
        assert {str(difference.kind) for difference in others} == {"missing column"}
    else:
        assert judgement.verdict is Verdict.PASS, judgement.message


_KNOWN = {
    "reference": {Verdict.PASS},
    "mysqlbinlog": {Verdict.PASS, Verdict.LENIENT},
    "python-mysql-replication": {Verdict.PASS, Verdict.LENIENT, Verdict.SILENT_LOSS},
    "mysql-event-stream": {Verdict.REFUSED},
    "mariadb-binlog": {Verdict.REFUSED},
    "debezium-binlog-client": {Verdict.SILENT_LOSS},
}


def test_partial_updates_have_the_known_outcome(subject: Subject, tmp_path: Path) -> None:
    """Event 39: read, refused with a word, or passed over in silence."""
    _, judgement = _ask(subject, case_of(_PARTIAL), tmp_path)
    assert judgement.verdict in _KNOWN[subject.hello().name], judgement.message
