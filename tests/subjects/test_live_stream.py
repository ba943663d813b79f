"""Clients that connect: the source writes a Case's log again, a client reads it, and no way of failing ends the run."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.decoder_case import DecoderCase
from conformance.subjects.answers import Failure, SubjectUnavailable
from conformance.subjects.child import Limits
from conformance.subjects.source import Source
from conformance.subjects.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
CLIENT = (sys.executable, str(ROOT / "tests/subjects/wire_client.py"))
PREPARE = ("DROP SCHEMA IF EXISTS lab", "CREATE SCHEMA lab", "USE lab", "CREATE TABLE t (id INT PRIMARY KEY, v INT)")


def case(*values: int, prepare: tuple[str, ...] = (), expected: tuple[int, ...] | None = None) -> DecoderCase:
    """A Case with an INSERT of each value."""
    return DecoderCase(
        id="own/inserts",
        title="",
        why="",
        requirements=("DEC1",),
        log=b"",
        prepare=(*PREPARE, *prepare),
        statements=tuple(f"INSERT INTO t VALUES ({value}, {value})" for value in values),
        expected=tuple(inserted(value) for value in (values if expected is None else expected)),
    )


def inserted(value: int) -> dict[str, Any]:
    """An expected change."""
    return {"schema": "lab", "table": "t", "operation": "insert", "before": None, "after": {"id": value, "v": value}}


@pytest.fixture(scope="module")
def shared(installation: Installation) -> Iterator[Source]:
    """One server for the tests that leave it alive."""
    with Source(f"process:{installation.mysqld}" if not installation.is_bundle else "process") as source:
        yield source


@pytest.fixture
def stream(shared: Source, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes clients in some mode."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(Source, "close", lambda _: None)
    made: list[Stream] = []

    def make(mode: str) -> Stream:
        client = Stream((*CLIENT, mode), limits=Limits(request=5.0), open_source=lambda: shared)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


def test_a_client_reads_case_after_case(stream: Any) -> None:
    """Tables of the same name, global variables, prepared transactions and schemas: nothing stays for the next Case."""
    client = stream("right")
    assert client.hello().capabilities == ("server", "types")
    first = case(1, 2, prepare=("SET GLOBAL binlog_checksum = NONE", "CREATE SCHEMA other"))
    xa = case(3)
    xa = DecoderCase(
        id="own/xa", title="", why="", requirements=("DEC1",), log=b"",
        prepare=(*xa.prepare, "SET GLOBAL gtid_mode = ON_PERMISSIVE", "SET GLOBAL gtid_mode = ON"),
        statements=("XA START 'x'", *xa.statements, "XA END 'x'", "XA PREPARE 'x'"), expected=xa.expected,
    )  # fmt: skip
    for one in (first, xa, case(4), case(5, prepare=("CREATE SCHEMA other",))):
        answer = client.decode(one, "/nowhere")
        assert (answer.inapplicable, answer.error, answer.failure) == ("", "", None), answer
        assert answer.changes == one.expected


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("mode", "failure"),
    [("dies", Failure.CRASHED), ("hangs", Failure.TIMED_OUT), ("silent", Failure.TIMED_OUT)],
)
def test_a_client_that_fails_is_started_again(stream: Any, mode: str, failure: Failure) -> None:
    """The Case has its failure, with what arrived before it; the next one is read."""
    client = stream(f"{mode}@2")
    assert client.decode(case(1), "/nowhere").changes == (inserted(1),)
    failed = client.decode(case(2), "/nowhere")
    assert failed.failure is failure
    assert failed.changes == ((inserted(2),) if mode == "silent" else ())
    assert client.decode(case(3), "/nowhere").changes == (inserted(3),)


def test_a_case_that_the_server_does_not_write_is_no_failure_of_the_client(stream: Any) -> None:
    """Refused SQL, another log than expected, and a Case without SQL."""
    client = stream("right")
    assert "refuses" in client.decode(case(1, prepare=("SET GLOBAL no_such_variable = 1",)), "/nowhere").inapplicable
    assert "2 changes" in client.decode(case(1, 2, expected=(1,)), "/nowhere").inapplicable
    assert "after of number 0" in client.decode(case(1, expected=(2,)), "/nowhere").inapplicable
    assert client.decode(replace(case(1), prepare=(), statements=()), "/nowhere").inapplicable
    assert client.decode(case(3), "/nowhere").changes == (inserted(3),)


def test_a_client_that_starts_at_a_position_gets_the_log_of_the_case(stream: Any, shared: Source) -> None:
    """Its own bytes, whatever the statements would write, and then the marker; others cannot have a log of the kit."""
    recorded = case(7, 8)
    log = shared.log(shared.serve(recorded))
    client = stream("anywhere")
    for one in (recorded, replace(recorded, statements=()), case(9)):
        answer = client.decode(replace(one, log=log), "/nowhere")
        assert answer.changes == recorded.expected, answer
    assert "reads on" in stream("right").decode(replace(recorded, statements=()), "/nowhere").inapplicable


def test_the_same_gtid_in_two_cases_is_written_twice(stream: Any) -> None:
    """A server skips a GTID that it has executed: each Case gets its own."""
    client = stream("right")
    numbered = replace(
        case(1),
        prepare=(*PREPARE, "SET GLOBAL gtid_mode = ON_PERMISSIVE", "SET GLOBAL gtid_mode = ON"),
        statements=(
            "SET gtid_next = '0b1a5000-0000-4000-8000-000000000001:5'",
            "INSERT INTO t VALUES (1, 1)",
            "SET gtid_next = 'AUTOMATIC'",
        ),
    )
    for _ in range(2):
        assert client.decode(numbered, "/nowhere").changes == (inserted(1),)


def test_a_client_that_cannot_be_started_is_unavailable(shared: Source) -> None:
    client = Stream(("/no/such/program",), open_source=lambda: shared)
    with pytest.raises(SubjectUnavailable, match="No such file"):
        client.hello()


def test_a_server_that_dies_is_replaced(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client is started again with the new server's address."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert installation.version
    opened: list[Source] = []

    def open_source() -> Source:
        opened.append(Source())
        return opened[-1]

    client = Stream((*CLIENT, "right"), open_source=open_source)
    try:
        assert client.decode(case(1), "/nowhere").changes == (inserted(1),)
        os.kill(opened[0].pid, signal.SIGKILL)
        assert client.decode(case(2), "/nowhere").changes == (inserted(2),)
        assert len(opened) == 2
    finally:
        client.close()
    assert not any(source.alive() for source in opened)
