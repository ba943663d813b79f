"""Faulty servers: a catalogue without gaps, a relay that changes nothing by itself, and some of the faults."""

from __future__ import annotations

import base64
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.stream import Block, CaseVerdict
from conformance.verdict import Verdict
from tests.faults.servers.bench import Bench, verdict
from tests.faults.servers.catalogue import NO_SERVER, SERVER_FAULTS, by_requirement
from tests.faults.servers.packets import Answer, packed, readable_greeting
from tests.faults.servers.statements import split

if TYPE_CHECKING:
    from collections.abc import Iterator

# One of each way to be faulty; `python -m tests.faults --servers` runs all.
SAMPLE: Final = (
    "last-diff-is-lost",
    "free-space-is-zero",
    "option-stays-on",
    "hint-without-a-warning",
    "option-takes-any-word",
    "vectors-without-a-number",
    "start-forgets-the-metadata",
    "unknown-fields-hide-the-columns",
)
FAULTS: Final = {fault.id: fault for fault in SERVER_FAULTS}


def test_every_judged_requirement_has_two_faulty_servers_or_a_reason() -> None:
    assert len(FAULTS) == len(SERVER_FAULTS) >= 50
    assert {name: len(faults) for name, faults in by_requirement().items() if len(faults) < 2} == {}
    reasons = [name for names in NO_SERVER.values() for name in names]
    judged = {name for name, row in REQUIREMENTS.items() if row.explanation is None}
    assert Counter([*by_requirement(), *reasons]) == Counter(judged)


def test_each_fault_breaks_what_is_judged_and_alters_something() -> None:
    for fault in SERVER_FAULTS:
        assert {*fault.requirements} <= {*REQUIREMENTS}
        assert all(REQUIREMENTS[name].explanation is None for name in fault.requirements)
        assert callable(fault.change) or fault.change.keys() - {"at"}
        assert fault.sentence.endswith(".")


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


@pytest.mark.sampled(4)
@pytest.mark.live
@pytest.mark.parametrize("name", SAMPLE)
def test_a_faulty_server_is_caught_and_explained(bench: Bench, name: str) -> None:
    caught = bench.judge(FAULTS[name])
    assert not caught.problem
    assert set(caught.by) == set(FAULTS[name].requirements)


@pytest.mark.sampled(1)
@pytest.mark.live
@pytest.mark.parametrize("requirement", ["FR1", "S2", "TMF1"])
def test_a_relay_without_a_fault_changes_nothing(bench: Bench, requirement: str) -> None:
    records, problem = bench.run(requirement)
    assert not problem
    assert [record for record in records if isinstance(record, CaseVerdict) and record.fails] == []
    assert sum(record.cases for record in records if isinstance(record, Block)) > 0


def failure(requirement: str, got: str) -> CaseVerdict:
    return CaseVerdict(
        case="c", requirement=requirement, verdict=Verdict.FAIL, subject="s", check="c", expected="error 1231", got=got
    )


def test_a_fault_is_caught_only_under_its_requirement_and_in_its_words() -> None:
    fault = FAULTS["option-takes-any-word"]
    assert not verdict(fault, [failure("S1", "success")], "").problem
    assert verdict(fault, [failure("S2", "success")], "").problem == "S1 does not fail"
    assert "unexplained" in verdict(fault, [failure("S1", "another error")], "").problem
    assert verdict(fault, [], "the lab failed").problem == "the lab failed"


def test_a_fault_of_the_error_log_alters_its_own_messages_alone() -> None:
    first = "2026 0 [Warning] [MY-013101] [Server] When binlog_format=STATEMENT, the option will be ignored."
    third = (
        "2026 0 [Warning] [MY-013103] [Server] When binlog_row_image=FULL, it will be used only for the after-image."
    )
    inside = "2026 0 [Warning] [MY-013140] [Server] When the binary log is closed, the option will be ignored."
    log = f"ready\n{first}\n{third}\n{inside}\n"
    names = ("no-warning-1-at-start", "warning-3-for-1-at-start")
    silent, numbered = (FAULTS[name].change["messages"] for name in names)
    assert silent(log).splitlines() == ["ready", third]
    assert numbered(log) == log.replace("013101", "013103")


def test_a_faulty_client_alters_what_it_prints_of_binlog_statements() -> None:
    event = encode_event(Xid(xid=7), flags=0x0A00)
    text = b"BINLOG '\n" + base64.encodebytes(event) * 2 + b"'/*!*/;\n"
    plain, turned = (
        FAULTS[name].change["printed"]
        for name in ("binlog-statements-lose-the-markers", "binlog-statements-turn-the-flags")
    )
    assert plain(text).count(base64.encodebytes(encode_event(Xid(xid=7)))) == 2
    assert turned(text).count(base64.encodebytes(encode_event(Xid(xid=7), flags=0x000A))) == 2


def test_statements_are_cut_at_semicolons_outside_of_texts_and_bodies() -> None:
    body = "CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW BEGIN SET NEW.n = 1; SET NEW.m = 2; END"
    texts = ['SELECT \';\', "a\\";"', "UPDATE `a;b` SET c = 'it''s; \\' ;'", body, "DO 0"]
    assert split(";".join(texts)) == texts


def test_an_answer_is_read_as_it_is_written() -> None:
    greeting = b"\x0a9.7.4\0" + bytes(4) + b"c" * 8 + b"\0" + b"\xff\xff" + b"\x21" + b"\2\0" + b"\xff\xff" + bytes(20)
    assert readable_greeting(greeting)[-25:-20] == b"\x21\2\0\x7f\xf0"[:3] + readable_greeting(greeting)[-22:-20]
    assert len(readable_greeting(greeting)) == len(greeting)
    assert [packed(n)[0] for n in (250, 251, 65535, 65536, 1 << 24)] == [250, 0xFC, 0xFC, 0xFD, 0xFE]
    assert list(Answer(error=(1231, "42000", "no")).packets()) == [b"\xff\xcf\x04#42000no"]
