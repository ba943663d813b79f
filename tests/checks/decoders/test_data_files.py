"""The suite for readers of data files: what is declared, what is in the archive, and that each Case can fail."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.decoder_case import DECODE, ROWS, Allowed, DecoderCase
from conformance.checks.decoders.data_files import ARCHIVE, load_files
from conformance.checks.decoders.data_files.declare import MadeFile, declarations
from conformance.checks.decoders.data_files.record import IDENTITIES, Recorder, make_entry, read_file
from conformance.checks.decoders.suite import load_suite
from conformance.checks.decoders.suite.archive import DATA_FILES, suite_digest, write_archive
from conformance.checks.decoders.suite.record import Identities
from conformance.harness.decoders import OpenedSubject
from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.log_columns import tables_of
from conformance.judge.decoding.observed import Observed
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

SUITE: Final = load_files()
DECLARED: Final = {case.id: case for case in declarations()}
PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "data-file-readers.md"
SAMPLE: Final = ("rows/updated-in-place", "rows/deleted", "entries/several-objects")


def test_the_archive_has_the_declared_cases_in_their_order() -> None:
    assert [case.id for case in SUITE.cases] == list(DECLARED)
    assert not {case.id for case in load_suite().cases} & set(DECLARED)
    assert SUITE.name == DATA_FILES.name


def test_the_archive_is_what_the_committed_list_of_ids_says() -> None:
    identities = Identities.read(IDENTITIES)
    assert not identities.problems(SUITE.entries)
    assert {entry.case.id: (entry.case.rev, entry.digest) for entry in SUITE.entries} == dict(identities.cases)
    assert suite_digest(SUITE.entries) == SUITE.digest


def test_the_same_entries_make_the_same_bytes(tmp_path: Path) -> None:
    write_archive(tmp_path / "again.zip", SUITE.version, SUITE.entries, DATA_FILES)
    assert (tmp_path / "again.zip").read_bytes() == ARCHIVE.read_bytes()
    assert ARCHIVE.stat().st_size < 300_000


def test_every_requirement_has_cases_and_every_case_says_why() -> None:
    named = [name for case in SUITE.cases for name in case.requirements]
    assert set(named) == {name for name in REQUIREMENTS if name.startswith("DAT")} - {"DAT8"}  # of the adapter
    for case in SUITE.cases:
        assert re.fullmatch(r"(rows|entries)/[a-z]+(-[a-z]+)*", case.id)
        assert case.role != DECODE
        assert case.title
        assert case.why.endswith("."), case.id
        assert case.confirmed.startswith(("equal to SELECT on 9.7.4", "equal to what ibd2sdi of 9.7.4")) == bool(
            case.statements
        )
        assert bool(case.statements) == isinstance(DECLARED[case.id], MadeFile)


def test_the_reference_still_finds_what_is_expected() -> None:
    for entry in SUITE.entries:
        case = entry.case
        found = read_file(case.role, case.log)
        assert bool(found.problems) == (case.allowed is Allowed.ERROR), case.id
        if case.allowed is Allowed.CHANGES:
            assert found.lines == entry.expected, case.id


def test_every_column_has_a_type_by_which_it_is_judged() -> None:
    for case in SUITE.cases:
        for change in case.whole if case.statements else ():
            table = tables_of(case).of(change)
            assert table is not None, case.id
            assert all(table.column(name) for name in change["after"]), case.id


def sound(case: DecoderCase, error: str = "") -> Observed:
    return Observed(changes=case.expected, error=error)


def test_the_order_of_rows_means_nothing() -> None:
    for name in ("rows/several-pages", "rows/two-tables", "entries/several-objects"):
        case = SUITE.case(name)
        assert judge(case, (), Observed(changes=case.expected[::-1])).verdict is Verdict.PASS


def test_a_row_that_is_missing_or_comes_twice_is_told() -> None:
    case = SUITE.case("rows/deleted")
    lost = judge(case, (), Observed(changes=case.expected[1:]))
    assert (lost.verdict, lost.requirement) == (Verdict.SILENT_LOSS, "DAT2")
    twice = judge(case, (), Observed(changes=(*case.expected, case.expected[0])))
    assert (twice.verdict, twice.requirement) == (Verdict.FAIL, "DAT2")


def test_another_id_of_an_entry_is_told_and_none_is_allowed() -> None:
    case = SUITE.case("entries/plain")
    other = [{**change, "row": 1} for change in case.expected]
    assert judge(case, (), Observed(changes=other)).verdict.failing
    assert (
        judge(case, (), Observed(changes=[{**change, "row": None} for change in case.expected])).verdict is Verdict.PASS
    )


def test_who_says_nothing_of_damage_owes_the_whole_file() -> None:
    case = SUITE.case("rows/one-page-damaged")
    silent = judge(case, (), sound(case))
    assert (silent.verdict, silent.requirement) == (Verdict.SILENT_LOSS, "DAT7")
    assert judge(case, (), sound(case, error="page 6: checksum")).verdict is Verdict.PASS
    behind = (*case.expected, *case.whole[-5:])
    assert judge(case, (), Observed(changes=behind, error="page 6: checksum")).verdict is Verdict.PASS
    less = judge(case, (), Observed(changes=case.expected[:3], error="page 6: checksum"))
    assert less.verdict is Verdict.REFUSED
    assert judge(case, (), Observed(changes=case.whole)).verdict is Verdict.LENIENT


def test_a_value_that_is_cut_by_damage_may_be_missing_and_not_shorter() -> None:
    case = SUITE.case("rows/page-of-large-value-damaged")
    lacking = case.tolerated[-1]
    assert "body" not in lacking["after"]
    error = "page 6: checksum"
    assert judge(case, (), Observed(changes=[lacking], error=error)).verdict is Verdict.PASS
    shorter = {**lacking, "after": {**lacking["after"], "body": "begin"}}
    assert judge(case, (), Observed(changes=[shorter], error=error)).verdict is Verdict.FAIL


def test_the_example_of_the_page_is_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "example_reader.py").write_text(code)
    command = tmp_path / "binlog-lab"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={PAGE.parents[2]} exec {sys.executable} -m conformance "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    with OpenedSubject("py:example_reader:Reader") as subject:
        verdicts = [subject.judge(SUITE.case(name)).verdict for name in ("rows/plain", "rows/no-data-file")]
        assert subject.judge(SUITE.case("entries/plain")).verdict is Verdict.NOT_APPLICABLE
    assert verdicts == [Verdict.PASS, Verdict.PASS]


def test_the_page_has_the_figures_of_the_suite() -> None:
    page = PAGE.read_text("utf-8")
    entries = [case for case in SUITE.cases if case.role != ROWS]
    assert f"| `reference` | in this kit | {len(SUITE.cases)} | {len(SUITE.cases)} |" in page
    assert f"| `ibd2sdi` | 9.7.4 | {len(entries)} | {len(entries)} |" in page
    records = json.loads((ARCHIVE.parents[1] / "accusations" / "records.json").read_text("utf-8"))
    shown = records["subjects"]["innodb-utils"]["cases"]
    assert set(shown) <= set(DECLARED)
    assert f"| `innodb-utils` | 5.2.0 | {len(SUITE.cases)} | {len(SUITE.cases) - len(shown)} |" in page


@pytest.mark.live
@pytest.mark.nightly
def test_a_server_makes_the_same_files_again(installation: Installation) -> None:
    del installation  # it only says whether there is a server
    recorder = Recorder()
    with recorder.stack:
        for name in SAMPLE:
            entry = make_entry(DECLARED[name], recorder, None, {}, {})
            known = SUITE.case(name)
            if known.role == ROWS:
                assert entry.case.expected == known.expected
            assert (entry.case.confirmed, entry.case.statements) == (known.confirmed, known.statements)
            assert replace(entry.case, log=b"", expected=(), resolved=()).definitions == known.definitions
