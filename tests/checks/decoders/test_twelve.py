"""Twelve broken decoders, each under the title, the requirement and the reason that were chosen before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.decoders.causes.clusters import clusters_of
from conformance.checks.decoders.causes.features import features_of
from conformance.checks.decoders.causes.rules import rules_for
from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import JudgedCase, observed
from conformance.judge.decoding.judge import judge
from conformance.reference.errors import CodecError
from conformance.subjects.answers import Answer
from conformance.verdict import Verdict
from tests.subjects.faulty.public_reports import Cannot
from tests.subjects.faulty.twelve import TWELVE, Broken, DropsDelete, EnumAsNumber, RefusesEvent39

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.causes.clusters import Cluster
    from tests.subjects.faulty.twelve import Due

    Judged = Callable[..., list[tuple[DecoderCase, JudgedCase]]]

CASES = [case for case in load_suite().cases if not case.sparse]
SOME = [case for number, case in enumerate(CASES) if not number % 5 or case.group in ("columns", "diffs", "payload")]
CAPABILITIES = ("file", "types")
ALL = pytest.mark.parametrize("due", TWELVE, ids=lambda due: due.decoder.__name__)


class Buffered(RefusesEvent39):
    """The same, for a program that writes nothing where it fails: where it stopped, its answer does not tell."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Let a decoder read Cases in this process, and judge its answers."""
    directory: Path = tmp_path_factory.mktemp("logs")
    paths: dict[str, str] = {}

    def answers(
        reader: Broken, cases: Sequence[DecoderCase], capabilities: Sequence[str] = CAPABILITIES
    ) -> list[tuple[DecoderCase, JudgedCase]]:
        out = []
        for case in cases:
            if case.id not in paths:
                paths[case.id] = str(case.write(directory / case.id))
            changes: list[dict[str, Any]] = []
            error = ""
            try:
                changes.extend(reader.decode(paths[case.id]))
            except (CodecError, Cannot) as problem:
                error = str(problem)
            if error and isinstance(reader, Buffered):
                changes = []
            answer = Answer(changes=tuple(changes), error=error)
            judgement = judge(case, capabilities, observed(answer))
            out.append((case, JudgedCase(judgement, answer, judgement.verdict)))
        return out

    return answers


def holds(due: Due, found: Sequence[Cluster]) -> None:
    """One defect, the one that is due, with all Cases."""
    (cluster,) = found
    assert (cluster.title, cluster.requirement, cluster.verdict) == (due.title, due.requirement, due.verdict)
    assert due.because in cluster.because
    assert due.because in cluster.reason


@ALL
def test_each_has_the_title_the_requirement_and_the_reason_that_are_due(due: Due, judged: Judged) -> None:
    answers = judged(due.decoder(), SOME)
    found = clusters_of(answers)
    holds(due, found)
    failing = {case.id for case, one in answers if one.verdict is not Verdict.PASS}
    assert {one.case.id for one in found[0].cases} == failing
    assert found[0].shows(found[0].witness.case, found[0].witness.judged)


@pytest.mark.nightly
@ALL
def test_each_has_them_also_over_the_whole_suite(due: Due, judged: Judged) -> None:
    holds(due, clusters_of(judged(due.decoder(), CASES)))


def test_two_faults_are_two_defects_and_the_silent_loss_comes_first(judged: Judged) -> None:
    class Both(RefusesEvent39, DropsDelete):
        def keep(self, event: object) -> bool:
            return RefusesEvent39.keep(self, event) and DropsDelete.keep(self, event)  # type: ignore[arg-type]

    answers = judged(Both(), SOME)
    loss, refusal = clusters_of(answers)
    assert (loss.title, refusal.title) == (TWELVE[0].title, TWELVE[4].title)
    failing = [case.id for case, one in answers if one.verdict is not Verdict.PASS]
    assert sorted(one.case.id for cluster in (loss, refusal) for one in cluster.cases) == sorted(failing)


def test_a_program_that_writes_nothing_where_it_fails_is_told_by_what_its_logs_share(judged: Judged) -> None:
    (first, *_) = clusters_of(judged(Buffered(), SOME))
    assert (first.title, first.requirement) == (TWELVE[4].title, "DEC1")


def test_numbers_of_members_are_forgiven_where_they_are_declared(judged: Judged) -> None:
    answers = judged(
        EnumAsNumber(), [case for case in SOME if "DEC12" in case.requirements], ("file", "member-numbers")
    )
    assert {one.verdict for _, one in answers} == {Verdict.PASS}


def test_features_are_those_of_the_thing_and_not_of_its_neighbours() -> None:
    case = load_suite().case("diffs/insert-update-delete")
    insert, update, delete = features_of(case).changes
    assert "event:PARTIAL_UPDATE_ROWS_EVENT" in update - insert - delete
    assert "operation:delete" in delete - insert - update
    assert "later-diff" not in frozenset().union(*features_of(case).diffs.values())
    inside = features_of(load_suite().case("payload/delete"))
    assert ["payload" in thing for thing in inside.units] == [True, False]
    damaged = features_of(load_suite().case("hostile/rows-cut"))
    assert [number for number, thing in enumerate(damaged.units) if "damage" in thing] == [len(damaged.changes)]
    cut = replace(case, log=case.log[:-1])  # its changes are known, and its end is damage
    assert "damage" in features_of(cut).end


def test_a_rule_holds_for_what_has_the_effect_and_not_for_what_is_spared() -> None:
    lost = [[frozenset("ab")], [frozenset("ac")], [frozenset("xy"), frozenset("ad")]]
    (rule,) = rules_for(lost, {frozenset("b"): 5, frozenset("xy"): 1})
    assert (rule.features, rule.found, rule.spared) == (("a",), (0, 1, 2), 0)
    assert rules_for(lost, {frozenset("abc"): 50, frozenset("adxy"): 50}) == []
    pair = rules_for([[frozenset("ab")]] * 3, {frozenset("a"): 2, frozenset("b"): 2})
    assert [one.features for one in pair] == [("a", "b")]
