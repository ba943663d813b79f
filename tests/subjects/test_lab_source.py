"""Clients before the lab's own source: Cases with SQL and without, and the option that asks for it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.decoders.suite import load_suite
from conformance.harness.updates.generated_logs import generated_case
from conformance.judge.decoding.exact_json import parse
from conformance.subjects.child import Limits
from conformance.subjects.lab_source import LabSource
from conformance.subjects.specs import SubjectSpecError, client_command, open_subject, parse_subject
from conformance.subjects.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
CLIENT = (sys.executable, str(ROOT / "tests/subjects/wire_client.py"), "anywhere")
KEYS = ("schema", "table", "operation", "before", "after")


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stream]:
    """The lab's own client before the lab's own source."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with_source = Stream(CLIENT, limits=Limits(request=20.0), open_source=LabSource)
    yield with_source
    with_source.close()


def kept(changes: Any) -> list[dict[str, Any]]:
    """The members of changes that are compared."""
    return [{key: change[key] for key in KEYS} for change in changes]


def test_cases_with_and_without_sql_are_read_one_after_the_other(stream: Stream) -> None:
    suite = load_suite()
    names = ("basic/insert", "basic/update", "basic/delete")
    cases = [entry.case for entry in suite.entries if entry.case.id in names] or [e.case for e in suite.entries][:3]
    made = generated_case("lab-source", 1)
    assert made is not None
    for case in (*cases, made, *cases):
        answer = stream.decode(case, "/nowhere")
        if not answer.inapplicable:
            assert (answer.error, answer.failure) == ("", None), answer
            assert kept(answer.changes) == kept(case.expected)
    assert stream.decode(made, "/nowhere").inapplicable == ""


def test_a_log_of_another_case_is_told_apart(stream: Stream) -> None:
    """A planted fault: the source serves one Case's bytes under the other's name."""
    one, other = (generated_case("lab-source", number) for number in (1, 2))
    assert one is not None
    assert other is not None
    answer = stream.decode(replace(one, log=other.log), "/nowhere")
    assert kept(answer.changes) != kept(one.expected)


def test_what_is_no_log_is_not_served(stream: Stream) -> None:
    made = generated_case("lab-source", 1)
    assert made is not None
    assert "not a binary log" in stream.decode(replace(made, log=b"nonsense"), "/nowhere").inapplicable
    assert "gaps" in stream.decode(replace(made, sparse=1 << 20), "/nowhere").inapplicable


def test_the_types_of_columns_come_with_the_request() -> None:
    made = generated_case("lab-source", 1)
    assert made is not None
    with LabSource(tls=False) as source:
        served = source.serve(made)
        columns = served.columns["lab.t"]
        image = parse_image(made.expected[0])
        assert set(image) <= set(columns)
        assert "json" in columns.values()
        assert source.request(served)["tls"] is False


def parse_image(change: dict[str, Any]) -> dict[str, Any]:
    """The image of a change that has all its columns."""
    found = change["before"] or change["after"]
    return dict(found) if isinstance(found, dict) else parse(found)


def test_the_option_is_for_clients_alone() -> None:
    spec = parse_subject(f"wire:{shlex.quote(sys.executable)} x.py?source=lab")
    subject = open_subject(spec)
    assert isinstance(subject, Stream)
    assert subject._open_source is LabSource
    assert client_command(spec)[0] == sys.executable
    assert parse_subject("zongji?source=mysql").options == {"source": "mysql"}
    for wrong in ("reference?source=lab", "cmd:cat {file}?source=lab", "zongji?source=other"):
        with pytest.raises(SubjectSpecError):
            parse_subject(wrong)
    with pytest.raises(SubjectSpecError, match="does not connect"):
        client_command(parse_subject("reference"))
