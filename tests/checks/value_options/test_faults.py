"""The check of value_options: its events, its judge with doctored outcomes, and the whole of it on a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.injection import InjectionOutcome, predict, state_of
from conformance.checks.value_options import check
from conformance.checks.value_options.check import Form, judge, make, packed
from conformance.harness import session as labs
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.cursor import Cursor, encode_packed
from conformance.stream import Block, CaseVerdict
from generators.draw import Stream
from tests.checks.value_options.faults import FORMAT_FAULTS
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault

FORMS = [make(Stream("forms", number), number) for number in range(60)]


def perfect(form: Form) -> InjectionOutcome:
    """The outcome of a form on a server that is right."""
    predicted = predict(form.injection)
    before = state_of(form.injection.stored)
    return InjectionOutcome(error=predicted.error, before=before, after=predicted.state or before)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_longer_forms_are_the_same_number(size: int) -> None:
    form = packed(1, size)
    assert Cursor(form).packed("value_options") == 1
    assert len(form) == size + 1 > len(encode_packed(1))


def test_forms_are_of_both_kinds_and_of_all_lengths() -> None:
    assert {form.known for form in FORMS} == {True, False}
    assert {form.injection.name[14:16] for form in FORMS} >= {"fc", "fd", "fe"}


def test_a_server_that_is_right_passes() -> None:
    assert [judge(form, perfect(form), "9.7.4") for form in FORMS] == [None] * len(FORMS)


@each(FORMAT_FAULTS)
def test_a_doctored_outcome_is_noticed(fault: Fault) -> None:
    concerned = [
        form for form in FORMS if fault.id == "format/changed" or form.known is (fault.id == "format/longer-form")
    ]
    for form in concerned:
        problem = judge(form, fault.change(perfect(form)), "9.7.4")
        assert problem is not None, form.injection.name
        assert any("BINLOG" in statement for statement in problem.statements)


def test_a_server_that_dies_or_hangs_is_noticed() -> None:
    for outcome in (InjectionOutcome(death="signal 6"), InjectionOutcome(silent=True)):
        problem = judge(FORMS[0], outcome, "9.7.4")
        assert problem is not None
        assert problem.message == "the server does not go on"


@pytest.mark.live
@pytest.mark.parametrize("number", [1610, 1])
def test_a_real_server_reads_all_forms(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    records: list[AnyRecord] = []
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setattr(check, "_CORRUPT_EVENT", number)
    lab = Lab(Settings(cases=tmp_path), records.append)
    if number == 1610:
        run(check.test_value_options, lab)
    else:
        with pytest.raises(pytest.fail.Exception):
            run(check.test_value_options, lab)
    failing = {record.check for record in records if isinstance(record, Block) and record.failures}
    assert failing == (set() if number == 1610 else {"value_options/forms/error"})
    assert bool([record for record in records if isinstance(record, CaseVerdict)]) is bool(failing)
