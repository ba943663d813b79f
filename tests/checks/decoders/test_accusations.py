"""Scripts tell the library's fault from the adapter's, and only what a script has shown is said of a program."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.decoders.accusations import forms
from conformance.checks.decoders.accusations.proof import Proof, State, prove, run, shown
from conformance.checks.decoders.accusations.records import RECORDS, load_records, told
from conformance.checks.decoders.accusations.script import script_of
from conformance.checks.decoders.accusations.vendors import VENDORS, Vendor
from conformance.checks.decoders.data_files import load_files
from conformance.checks.decoders.run import record_case
from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import JudgedCase, OpenedSubject
from conformance.judge.decoding.column_values import differences_of_values
from conformance.judge.decoding.judge import Judgement
from conformance.judge.decoding.log_columns import LogColumn, tables_of
from conformance.report.matrix import Matrix
from conformance.report.subjects.page import sections
from conformance.stream import DECODER, CaseInfo, CaseVerdict, Subject
from conformance.subjects.builtin.catalogue import catalogue
from conformance.verdict import Verdict
from tests.checks.decoders.accusations_page import PAGE, page

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.decoder_case import DecoderCase
    from conformance.subjects.answers import Answer

SUITE = {case.id: case for case in (*load_suite().cases, *load_files().cases)}
FAULTY = "py:tests.subjects.faulty."
ADAPTERS = {  # adapters that alter what a library gives, and a Case that shows it
    "values:TimeWithoutSign": "columns/time-negative",
    "values:UnsignedAsSigned": "columns/bigint-unsigned",
    "values:AbsentAsNull": "images/minimal-update",
    "values:JsonNullAsSqlNull": "diffs/json-null-whole",
    "streams:DropsEvent39": "updates/no-json-column",
    "stored:EmptyAsNull": "rows/empty-text",
    "stored:FirstEntryOnly": "entries/plain",
}
_NAME = "mysql-event-stream"


def judged(adapter: str) -> tuple[DecoderCase, Judgement, Answer]:
    """The verdict on an adapter that alters something, before any script."""
    case = SUITE[ADAPTERS[adapter]]
    with OpenedSubject(FAULTY + adapter) as subject:
        found = subject.judge(case)
    assert found.judgement is not None
    assert found.verdict in (Verdict.SILENT_LOSS, Verdict.FAIL)
    return case, found.judgement, found.answer


def library(changes: Any) -> Vendor:
    """A library that gives these changes, each value as Python has it."""
    rows = [(change["operation"], plain(change["before"]), plain(change["after"])) for change in changes]
    return Vendor(f"ROWS = {rows!r}\n\n\ndef rows(log):\n    yield from ROWS\n", "planted 1.0", "nothing")


def plain(image: dict[str, Any] | None) -> dict[str, Any] | None:
    if image is None:
        return None
    values = {
        name: value["json"] if isinstance(value, dict) and "json" in value else value for name, value in image.items()
    }
    nulls = {name for name, value in image.items() if value == {"json": None}}
    return {name: "null" if name in nulls else value for name, value in values.items()}


def proof_of(vendor: Vendor, case: DecoderCase, judgement: Judgement) -> Proof:
    script = script_of(vendor, case, judgement, judgement.signature)
    assert "import conformance" not in script
    assert "from conformance" not in script
    return shown(vendor, _NAME, run(script, sys.executable, []), judgement, judgement.signature, script)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_fault_of_the_adapter_is_named_as_such(adapter: str) -> None:
    case, judgement, _ = judged(adapter)
    proof = proof_of(library(case.expected), case, judgement)
    assert (proof.state, proof.program) == (State.ADAPTER, f"the lab's adapter of {_NAME}"), proof.said
    assert not proof.holds


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_same_fault_of_the_library_is_reproduced(adapter: str) -> None:
    case, judgement, answer = judged(adapter)
    proof = proof_of(library(answer.changes), case, judgement)
    assert (proof.state, proof.program, proof.holds) == (State.REPRODUCED, "planted 1.0", True), proof.said
    assert proof.said.endswith("\nFAULT")


@pytest.mark.parametrize(
    "ending", ["raise ValueError(1)", "import os; os._exit(0)", "import os; os._exit(1)", "print('FAULT')"]
)
def test_a_script_that_ends_in_another_way_shows_nothing(ending: str) -> None:
    case, judgement, _ = judged("values:TimeWithoutSign")
    broken = Vendor(f"{ending}\n\n\ndef rows(log):\n    raise ValueError(2)\n", "planted 1.0", "nothing")
    assert proof_of(broken, case, judgement).state is State.NOT_REPRODUCED


def test_a_crash_of_the_library_is_shown_by_its_signal_and_a_refusal_by_its_error() -> None:
    case = SUITE["columns/int"]
    crash = Judgement(verdict=Verdict.CRASH, message="crashed", signature="crashed", requirement="DEC22")
    dies = Vendor("import os\n\n\ndef rows(log):\n    os.kill(os.getpid(), 11)\n    yield\n", "planted 1.0", "nothing")
    refuses = Vendor("def rows(log):\n    raise KeyError(5)\n    yield\n", "planted 1.0", "nothing")
    reads = library(case.expected)
    assert proof_of(dies, case, crash).state is State.REPRODUCED
    assert proof_of(reads, case, crash).state is State.ADAPTER
    refused = Judgement(verdict=Verdict.REFUSED, message="refused", signature="refused: KeyError", requirement="DEC1")
    assert proof_of(refuses, case, refused).state is State.REPRODUCED
    assert proof_of(reads, case, refused).state is State.ADAPTER
    assert proof_of(library(case.expected[:2]), case, refused).state is State.NOT_REPRODUCED


def test_a_log_without_names_is_read_by_the_places_of_its_columns() -> None:
    case, judgement, _ = judged("values:TimeWithoutSign")
    changes = [
        {**change, "after": {f"@{place}": value for place, value in enumerate(change["after"].values(), 1)}}
        for change in case.expected
    ]
    assert proof_of(library(changes), case, judgement).state is State.ADAPTER


# --- what is published -----------------------------------------------------------------------------------------------


def recorded(directory: Path, state: State, signature: str, case: str, version: str = "") -> Path:
    place = directory / f"{len(list(directory.iterdir()))}.json"  # a file is read once
    known = {"signature": signature, "state": state.value, "program": "planted 1.0"}
    about = {"version": version or catalogue()[_NAME].version, "cases": {case: known}}
    place.write_text(json.dumps({"schema": 1, "subjects": {_NAME: about}}), encoding="utf-8")
    return place


def test_only_what_was_reproduced_is_said_of_a_built_in_subject(tmp_path: Path) -> None:
    case, judgement, _ = judged("values:TimeWithoutSign")
    for state, verdict in (
        (State.REPRODUCED, judgement.verdict), (State.ADAPTER, Verdict.INCONCLUSIVE),
        (State.NOT_REPRODUCED, Verdict.INCONCLUSIVE),
    ):  # fmt: skip
        known = recorded(tmp_path, state, judgement.signature, case.id)
        found = told(_NAME, case.id, judgement, path=known)
        assert (found.verdict, found.state, found.program) == (verdict, state, "planted 1.0")
    for other in (
        recorded(tmp_path, State.REPRODUCED, "another signature", case.id),
        recorded(tmp_path, State.REPRODUCED, judgement.signature, "columns/int"),
        recorded(tmp_path, State.REPRODUCED, judgement.signature, case.id, "another version"),
    ):
        assert told(_NAME, case.id, judgement, path=other).verdict is Verdict.INCONCLUSIVE
    path = recorded(tmp_path, State.ADAPTER, judgement.signature, case.id)
    for own in ("py:my.adapter:decode", "cmd:mine {file}", "reference"):
        assert told(own, case.id, judgement, path=path) == (judgement.verdict, "", judgement.message, "")


class Block:
    """A block that keeps what it is told."""

    def __init__(self) -> None:
        self.counted: list[Verdict] = []
        self.shown: list[tuple[Verdict, dict[str, Any]]] = []

    def count(self, verdict: Verdict, **_: Any) -> None:
        self.counted.append(verdict)

    def show(self, verdict: Verdict, **facts: Any) -> None:
        self.shown.append((verdict, facts))


def test_a_fault_of_the_adapter_reaches_no_column_of_the_matrix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    case, judgement, answer = judged("values:TimeWithoutSign")
    for state, verdict, accused in ((State.ADAPTER, Verdict.INCONCLUSIVE, 0), (State.REPRODUCED, judgement.verdict, 1)):
        path = recorded(tmp_path, state, judgement.signature, case.id)
        monkeypatch.setattr("conformance.checks.decoders.run.told", lambda *about, to=path: told(*about, path=to))
        block: Any = Block()
        record_case(block, case, JudgedCase(judgement, answer, judgement.verdict), "replay", _NAME)
        assert block.counted == [verdict]
        ((seen, facts),) = block.shown
        assert (seen, facts["proof"], facts["program"]) == (verdict, state, "planted 1.0")
        matrix = Matrix()
        matrix.add_subject(Subject(id=_NAME, role=DECODER, version="1"))
        info = CaseInfo(id=case.id, title="t", why="w", group="columns", requirements=case.requirements)
        matrix.cases[case.id] = info
        evidence = facts.pop("evidence")
        assert evidence
        facts.pop("stderr")
        assert matrix.add(CaseVerdict(verdict=seen, subject=_NAME, check="decoders/columns", **facts))
        assert len(matrix.accusations(_NAME)) == accused
        assert [section.id for section in sections(matrix.defects(_NAME))] == (["alters"] if accused else ["unshown"])
        assert matrix.counts(_NAME)[Verdict.SILENT_LOSS] == accused


def test_the_records_are_about_the_pinned_versions_and_hold_no_input() -> None:
    records = load_records()
    assert set(records) <= set(catalogue())
    for name, about in records.items():
        assert about["version"] == catalogue()[name].version
        for case, known in about["cases"].items():
            assert SUITE[case].rev == known["rev"], case
            assert State(known["state"]) is State.NOT_REPRODUCED or known["program"], case
            assert State(known["state"]) is not State.REPRODUCED or known["program"] == VENDORS[name].product, case
    assert "base64" not in RECORDS.read_text("utf-8")


def test_a_subject_without_a_script_is_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    case, judgement, _ = judged("values:TimeWithoutSign")
    monkeypatch.delitem(VENDORS, "rivet")
    proof = prove("rivet", case, judgement, judgement.signature)
    assert (proof.state, proof.program, proof.script) == (State.NOT_REPRODUCED, "", "")
    assert "or the lab's adapter" in told("go-mysql", case.id, judgement).message
    assert "@solashi/go-mysql-binlog-node" in told("go-mysql", case.id, judgement).message


def test_the_page_says_what_the_records_say() -> None:
    assert PAGE.read_text("utf-8") == page()


# --- forms that vendors document -------------------------------------------------------------------------------------


def test_text_in_another_character_set_is_right_as_the_vendor_documents_it() -> None:
    case = SUITE["charsets/utf16"]
    table = tables_of(case).of(case.expected[2])
    assert table is not None
    column = table.column("c")
    assert column is not None
    stored = "plain".encode("utf-16-be")
    assert repr(stored.decode("utf-8", "surrogateescape")) in forms.of_column(column, "plain", stored)
    assert differences_of_values(column, "plain", {"hex": stored.hex()}, None, "c") == []
    latin = LogColumn("c", "CHAR", collation=8)
    assert repr("caf\udce9") in forms.of_column(latin, "café", b"caf\xe9")


@pytest.mark.parametrize(
    ("kind", "text", "form"),
    [
        ("TIME", "-00:00:01.5", "dt.timedelta(microseconds=-1500000)"),
        ("TIME", "-00:00:01.5", repr("-00:00:01.500000")),
        ("DATETIME", "2024-02-29 12:00:00", "dt.datetime(2024, 2, 29, 12, 0)"),
        ("TIMESTAMP", "1970-01-01 00:00:01", repr("1")),
        ("TIMESTAMP", "0000-00-00 00:00:00", "0"),
        ("DATE", "2024-02-29", "dt.date(2024, 2, 29)"),
    ],
)
def test_dates_and_times_have_several_forms(kind: str, text: str, form: str) -> None:
    assert form in forms.of_moment(kind, text)
