"""The names of findings, how inputs get smaller, and how libFuzzer's words are read; none of it needs a fuzzer."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fuzz.runner import libfuzzer
from fuzz.runner.alone import triage
from fuzz.runner.alone.sandbox import InputOutcome, Sandbox, SandboxEnded, TimeOver
from fuzz.runner.alone.settle import Bench, Seen, Smaller
from fuzz.runner.alone.shrink import shrink
from fuzz.runner.campaign import Campaign, Result
from fuzz.runner.display import total
from fuzz.runner.run import Budget, TargetState
from fuzz.runner.signature import function_in, identity, signature_of
from fuzz.runner.targets import Target
from fuzz.violation import PeerDefect, Violation, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.runner.findings import Finding


def raised(function: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever comes
        function()
    return caught.value


def inner(number: int) -> float:
    return 1 / number


def outer() -> float:
    return inner(0)


def deep(number: int) -> int:
    return other(number + 1)


def other(number: int) -> int:
    return deep(number + 1)


def test_a_signature_names_the_error_the_innermost_functions_and_the_line() -> None:
    text = signature_of(raised(outer))
    assert text.startswith("ZeroDivisionError in ")
    assert [part.rsplit(".", 1)[-1] for part in text.split(": ")[0].split(" < ")][:2] == ["inner", "outer"]
    assert text.endswith(": return 1 / number")


def test_endless_recursion_has_one_signature_wherever_it_began() -> None:
    assert signature_of(raised(lambda: deep(0))) == signature_of(raised(lambda: other(0)))


def test_a_violated_invariant_is_known_by_its_rule_not_by_the_values() -> None:
    texts = {signature_of(raised(lambda value=value: require(False, "sizes agree", value))) for value in range(3)}  # type: ignore[misc]
    assert len(texts) == 1
    assert texts.pop().endswith(": sizes agree")
    assert "fuzz.violation" not in signature_of(raised(lambda: require(False, "sizes agree")))
    assert signature_of(Violation("a")) != signature_of(Violation("b"))


def test_a_defect_of_a_peer_is_known_by_its_rule_alone() -> None:
    assert signature_of(raised(lambda: (_ for _ in ()).throw(PeerDefect("KeyError in them:read", 7)))) == (
        "KeyError in them:read"
    )
    assert function_in("KeyError in them:read") == function_in("ValueError in them:read < us.check: x") == "them:read"
    assert function_in("altered value: YEAR column") == "altered value: YEAR column"


def test_a_declared_error_is_known_by_its_code() -> None:
    error = type("Refused", (Exception,), {"code": "too-long"})()
    assert signature_of(error) == "Refused[too-long]"
    assert len(identity(signature_of(error))) == 8


@pytest.mark.parametrize(
    ("shows", "smallest"),
    [
        (lambda data: b"needle" in data, b"needle"),
        (lambda data: len(data) >= 3, bytes(3)),
        (lambda data: sum(data) >= 10 and data.count(7) == 1, b"\x07\x03"),
        (lambda data: data.startswith(b"A") and data.endswith(b"Z"), b"AZ"),
    ],
)
def test_inputs_get_as_small_as_they_can(shows: Callable[[bytes], bool], smallest: bytes) -> None:
    data = b"A" + bytes(range(1, 7)) + b"\x07 hay needle hay " + bytes(range(10, 40)) + b"Z"
    assert shows(data)
    assert shrink(data, shows, seconds=60) == smallest


def test_without_time_nothing_gets_smaller() -> None:
    assert shrink(b"abc", lambda _: True, seconds=0) == b"abc"


def test_the_lines_of_libfuzzer_are_read() -> None:
    figures = libfuzzer.Figures()
    for line in (
        "INFO: Seed: 1",
        "#0\tREAD units: 12",
        "#13\tINITED cov: 156 ft: 243 corp: 12/345b exec/s: 0 rss: 61Mb",
        "#2048\tpulse  cov: 157 ft: 250 corp: 14/360b lim: 24 exec/s: 1024 rss: 61Mb",
        "#2100\tNEW    cov: 160 ft: 251 corp: 15/361b lim: 24 exec/s: 1050 rss: 61Mb L: 3/20 MS: 1 EraseBytes-",
        "artifact_prefix='/x/'; Test unit written to /x/timeout-abc",
    ):
        figures.read(line)
    assert figures == libfuzzer.Figures(edges=160, features=251, corpus=15, artifact="/x/timeout-abc", read_all=True)


def test_without_coverage_there_are_no_edges() -> None:
    figures = libfuzzer.Figures()
    figures.read("#2\tINITED exec/s: 0 rss: 40Mb")
    assert figures.edges is None


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (0, None, ""),
        (70, "hang", "did not end in time"),
        (71, "memory", "used too much memory"),
        (77, "death", "ended by a deadly signal"),
        (3, "death", "ended with status 3"),
        (-9, "death", "ended by signal 9"),
    ],
)
def test_every_status_has_a_meaning(status: int, kind: str | None, words: str) -> None:
    assert libfuzzer.kind_of(status) == kind
    assert not words or libfuzzer.words_of(status) == words


def test_a_dictionary_has_each_token_once() -> None:
    assert libfuzzer.dictionary((b"\x00\xff", b"", b"A", b"A")) == '"\\x00\\xFF"\n"\\x41"\n'


@pytest.mark.parametrize(
    ("name", "data", "kind", "words"),
    [
        ("bug", b"TOYBx", "error", "AssertionError"),
        ("bug", b"TOYB", "passed", ""),
        ("memory", b"TOYMx", "memory", "MemoryError"),
        ("death", b"TOYSx", "death", "signal SIGSEGV in toy_death.check"),
        ("exit", b"TOYEx", "death", "exit status 3"),
    ],
)
def test_the_sandbox_outlives_its_inputs(
    toy: Callable[[str], Target], name: str, data: bytes, kind: str, words: str
) -> None:
    with Sandbox(toy(name)) as sandbox:
        for _ in range(2):
            outcome = sandbox.run(data)
            assert outcome.kind == kind
            assert outcome.signature.startswith(words)
        assert sandbox.run(b"") == InputOutcome("passed", "", "", "")


def test_a_sandbox_that_cannot_start_says_so() -> None:
    with Sandbox(Target("none", "no_such_module")) as sandbox, pytest.raises(SandboxEnded, match="none has ended"):
        sandbox.run(b"")


def test_a_smaller_input_shows_the_same_signature(toy: Callable[[str], Target]) -> None:
    target = toy("death")
    with Sandbox(target) as sandbox:
        outcome = sandbox.run(b"TOYS" + bytes(range(20)))
    assert triage.smallest(target, b"TOYS" + bytes(range(20)), outcome, timeout=5, seconds=60) == b"TOYS\0"


def test_what_no_time_is_left_for_is_not_yet_confirmed(toy: Callable[[str], Target]) -> None:
    found = [Seen(b"TOYBx", triage.unseen("error", "one")), Seen(b"TOYC", triage.unseen("error", "two"))]
    with Bench(toy("bug"), timeout=5, stop=threading.Event()) as bench:
        assert list(bench.confirm_all(found, until=time.monotonic() - 1)) == []
        bug, none = bench.confirm_all(found, until=time.monotonic() + 600)
        assert (bug.again, bug.outcome.kind, none.again, none.outcome) == (True, "error", False, found[1].outcome)
        small = bench.shrink(Seen(b"TOYBxyz", bug.outcome), seconds=60, share=60, until=time.monotonic() + 600)
        assert small == Smaller(b"TOYB\0", done=True)
        over = bench.shrink(Seen(b"TOYBxyz", bug.outcome), seconds=60, share=0, until=time.monotonic() + 600)
        assert over == Smaller(b"TOYBxyz", done=False)


def test_an_input_whose_time_is_over_is_broken_off(toy: Callable[[str], Target]) -> None:
    with Sandbox(toy("hang"), timeout=600) as sandbox, pytest.raises(TimeOver, match="in time"):
        sandbox.run(b"TOYHx", until=time.monotonic() + 0.2)


def test_the_last_line_says_how_far_the_findings_have_come() -> None:
    def facts(size: int, **known: bool) -> SimpleNamespace:
        return SimpleNamespace(size=size, size_before=9, **{"reproduced": False, "shrunk": False, **known})

    done = facts(2, reproduced=True, shrunk=True)
    assert ", 1 finding, seed" in total(campaign(findings=[done]))
    some = [done, facts(5, reproduced=True), facts(9)]
    assert ", 3 findings (2 confirmed, 2 shrunk, the rest as first seen), seed" in total(campaign(findings=some))


def campaign(*, interrupted: bool = False, **facts: object) -> Campaign:
    state = TargetState(Target("one", "one", peer=bool(facts.pop("peer", False))), phase="done", executions=10, edges=5)
    for name, value in facts.items():
        setattr(state, name, value)
    return Campaign([state], Budget(runs=10), interrupted=interrupted)


def finding(*, peer: str = "", is_new: bool = True) -> Finding:
    return SimpleNamespace(peer=peer, is_new=is_new)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("ran", "code", "result"),
    [
        (campaign(), 0, Result.CLEAN),
        (campaign(findings=[finding()]), 1, Result.FINDINGS),
        (campaign(findings=[finding(is_new=False)]), 1, Result.FINDINGS),
        (campaign(peer=True, findings=[finding(peer="x 1")]), 1, Result.FINDINGS),
        (campaign(peer=True, findings=[finding(peer="x 1", is_new=False)]), 0, Result.FINDINGS),
        (campaign(trouble="no coverage"), 3, Result.NOT_RUN),
        (campaign(note="ended early"), 4, Result.INCOMPLETE),
        (campaign(interrupted=True, executions=5), 4, Result.INCOMPLETE),
        (campaign(interrupted=True, findings=[finding()]), 4, Result.FINDINGS),
    ],
)
def test_exit_codes_are_those_of_the_contract(ran: Campaign, code: int, result: Result) -> None:
    assert (int(ran.exit_code), ran.result(ran.states[0])) == (code, result)


def test_a_peer_that_is_not_installed_fails_no_run_in_which_others_ran() -> None:
    ran = campaign(peer=True)
    ran.states += campaign(peer=True, trouble="pip install x").states
    assert int(ran.exit_code) == 0
    assert int(campaign(peer=True, trouble="pip install x").exit_code) == 3
