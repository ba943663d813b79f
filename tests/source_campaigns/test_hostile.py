"""Hostile streams do no harm to the lab; and a source that breaks is noticed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conformance.reference.binlog.header import MAGIC
from conformance.servers.source import catalogue
from conformance.servers.source.log_files import LogFiles, NoLog
from conformance.servers.source.login import Account
from conformance.servers.source.scripted import FILE, PASSWORD, USER
from conformance.servers.source.server import Source
from generators.draw import Stream
from tests.source_campaigns import hostile, hostile_streams

ROOT = Path(__file__).resolve().parents[2]
CLIENT = f"wire:{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'tests/subjects/wire_client.py'))} anywhere"


def test_a_client_reads_hostile_streams_and_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    harm = hostile.run(CLIENT, 0, 2)
    assert harm.problems == []
    assert sum(harm.outcomes.values()) == 4


def served(first: int, count: int) -> hostile.Harm:
    """The lab's own questions to a source of each log."""
    harm = hostile.Harm()
    for number in range(first, first + count):
        events = hostile_streams.stream(Stream("hostile", number))
        try:
            logs = LogFiles.of_bytes([(FILE, MAGIC + b"".join(events))])
        except NoLog:
            continue
        with Source(logs, account=Account(user=USER, password=PASSWORD), tls=False) as source:
            hostile._check(source, harm, number)
    return harm


def test_tables_and_versions_of_hostile_logs_are_answered() -> None:
    assert served(40, 25).problems == []


def test_a_source_that_breaks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: the source cannot describe its tables."""

    def broken(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(catalogue, "_column_row", broken)
    monkeypatch.setattr("conformance.servers.source.facts.fill", broken)
    with pytest.raises(Exception, match=r"closed the connection|planted|Lost"):
        served(3, 1)


def test_streams_are_the_same_anywhere_and_damaged() -> None:
    one, again = (hostile_streams.stream(Stream("hostile", 7)) for _ in range(2))
    assert one == again
    assert len({b"".join(hostile_streams.stream(Stream("hostile", n))) for n in range(20)}) == 20
