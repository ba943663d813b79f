"""The suite for decoders: names that never change their meaning, content that is what its record says."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.decoder_case import Allowed, DecoderCase, sparse_parts
from conformance.checks.decoders.suite import load_suite
from conformance.checks.decoders.suite.archive import ARCHIVE, Entry, suite_digest, write_archive
from conformance.checks.decoders.suite.archive import load_suite as read_archive
from conformance.checks.decoders.suite.confirm import State, Unconfirmed, confirm
from conformance.checks.decoders.suite.declare import Recorded, Written, declarations
from conformance.checks.decoders.suite.edits import build
from conformance.checks.decoders.suite.record import Identities, Recorder, Refused, make_entry
from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.observed import Observed
from conformance.logs.row_change_lines import read_log
from conformance.reference.event_types import EventType
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

SUITE: Final = load_suite()
BY_ID: Final = {entry.case.id: entry for entry in SUITE.entries}
DECLARED: Final = {case.id: case for case in declarations()}
PAGE: Final = Path(__file__).parents[3] / "docs" / "tasks" / "use-the-cases.md"
SAMPLE: Final = (
    "diffs/three-in-one-column", "jsonb/opaque-and-plain", "columns/all-types", "payload/partial-inside",
    "xa/rolled-back", "gtid/tagged-previous-gtids", "metadata/partition-change", "diffs/insert-into-array",
)  # fmt: skip


# --- names -----------------------------------------------------------------------------------------------------------


def test_the_archive_has_the_declared_cases_in_their_order() -> None:
    assert [entry.case.id for entry in SUITE.entries] == list(DECLARED)
    assert len(DECLARED) == len(declarations())
    assert len(DECLARED) >= 280


def test_ids_are_slugs() -> None:
    for name in DECLARED:
        assert re.fullmatch(r"[a-z0-9]+/[a-z0-9.]+(-[a-z0-9.]+)*", name), name


def test_the_archive_is_what_the_committed_list_of_ids_says() -> None:
    identities = Identities.read()
    assert not identities.problems(SUITE.entries)
    assert {name: (entry.case.rev, entry.digest) for name, entry in BY_ID.items()} == dict(identities.cases)
    assert suite_digest(SUITE.entries) == SUITE.digest


def _other(entry: Entry, *, rev: int = 1) -> Entry:
    return replace(entry, case=replace(entry.case, log=entry.case.log + b"\0", rev=rev))


@pytest.mark.parametrize(
    ("entries", "gone", "words"),
    [
        ((), {}, "gone without a tombstone"),
        ((), {"diffs/replace-scalar": "it was wrong"}, None),
        ((_other(BY_ID["diffs/replace-scalar"]),), {}, "no higher revision"),
        ((_other(BY_ID["diffs/replace-scalar"], rev=2),), {}, None),
        ((BY_ID["diffs/replace-scalar"],), {}, None),
        ((BY_ID["diffs/replace-scalar"],), {"diffs/replace-scalar": "it was wrong"}, "must not be used again"),
    ],
)
def test_an_id_neither_disappears_nor_changes_its_meaning(
    entries: tuple[Entry, ...], gone: dict[str, str], words: str | None
) -> None:
    known = BY_ID["diffs/replace-scalar"]
    problems = Identities({known.case.id: (1, known.digest)}, gone).problems(entries)
    assert problems == [] if words is None else words in problems[0]


@pytest.mark.parametrize("name", ["expected", "resolved"])
def test_other_changes_are_another_digest(name: str) -> None:
    entry = BY_ID["diffs/replace-scalar"]
    more: dict[str, Any] = {name: (*getattr(entry, name), "{}")}
    assert replace(entry, **more).digest != entry.digest
    assert replace(entry, case=replace(entry.case, title="another", why="another")).digest == entry.digest


# --- content ---------------------------------------------------------------------------------------------------------


def test_every_requirement_of_decoders_has_three_cases() -> None:
    counts = Counter(name for case in SUITE.cases for name in case.requirements)
    assert set(counts) <= set(REQUIREMENTS)
    wanted = [
        name for name in REQUIREMENTS if re.fullmatch(r"DEC\d+", name) and name != "DEC23"
    ]  # of the adapter, not of a log
    assert not [name for name in wanted if counts[name] < 3]
    assert all(case.requirements[0].startswith("DEC") for case in SUITE.cases)


def test_every_case_says_why_and_how_it_was_confirmed() -> None:
    for case in SUITE.cases:
        assert case.title
        assert case.why.endswith((".", ").")), case.id
        assert case.confirmed, case.id
        assert bool(case.statements) == isinstance(DECLARED[case.id], Recorded) or not case.expected, case.id
        assert set(case.rolled_back) <= set(range(len(case.expected))), case.id
        assert len(case.resolved) == len(case.expected), case.id


def test_most_logs_are_recorded_and_small() -> None:
    recorded = [case for case in SUITE.cases if case.server_version]
    assert len(recorded) > 0.7 * len(SUITE.cases)
    assert sum(len(case.log) <= 1024 for case in SUITE.cases) > 0.7 * len(SUITE.cases)
    assert ARCHIVE.stat().st_size < 800_000


def test_the_reference_still_finds_the_expected_changes() -> None:
    for entry in SUITE.entries:
        case = entry.case
        for resolve, lines in ((False, entry.expected), (True, entry.resolved)):
            verify = case.allowed is not Allowed.CHANGES_OR_ERROR
            found = read_log(case.log, case.file_name, resolve=resolve, sparse=case.sparse, verify=verify)
            assert found.lines == lines, case.id
            assert (found.error is not None) == (case.allowed is Allowed.ERROR), case.id


def test_what_the_kit_writes_is_written_again_to_the_byte() -> None:
    bases = {case.id: case for case in SUITE.cases}
    for name, declared in DECLARED.items():
        if isinstance(declared, Written):
            assert build(declared, bases) == bases[name].log, name


def test_sql_and_words_are_those_of_the_declarations() -> None:
    for name, declared in DECLARED.items():
        case = BY_ID[name].case
        assert (case.title, case.why, case.requirements) == (declared.title, declared.why, declared.requirements)
        if isinstance(declared, Recorded):
            assert (case.prepare, case.statements) == (declared.prepare, declared.statements)


def test_every_kind_of_row_event_is_there() -> None:
    events = Counter(change["event"] for case in SUITE.cases for change in case.expected)
    wanted = ("WRITE_ROWS_EVENT", "UPDATE_ROWS_EVENT", "DELETE_ROWS_EVENT", "PARTIAL_UPDATE_ROWS_EVENT")
    assert set(events) == {*wanted, *(f"{name}_V1" for name in wanted[:3])}
    assert any(change["inner"] is not None for case in SUITE.cases for change in case.expected)
    assert {int(EventType.GTID_TAGGED), int(EventType.XA_PREPARE)} <= {
        case.log[at + 4] for case in SUITE.cases if case.group in ("gtid", "xa") for at in _starts(case.log)
    }


def _starts(log: bytes) -> list[int]:
    found, at = [], 4
    while at + 19 <= len(log):
        found.append(at)
        at += int.from_bytes(log[at + 9 : at + 13], "little")
    return found


def test_every_public_report_of_the_page_has_cases() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| \S+#\d+", line)]
    assert len(rows) >= 30
    for row in rows:
        names = re.findall(r"`([a-z0-9]+/[a-z0-9.-]+)`", row)
        assert names, row
        assert set(names) <= set(BY_ID), row


# --- the archive -----------------------------------------------------------------------------------------------------


def test_the_same_entries_make_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        write_archive(tmp_path / name, SUITE.version, SUITE.entries)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert read_archive(tmp_path / "a.zip") == SUITE


def test_an_archive_of_another_format_is_refused(tmp_path: Path) -> None:
    from zipfile import ZipFile

    path = tmp_path / "other.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("index.json", json.dumps({"format": 99}))
    with pytest.raises(ValueError, match="format 99"):
        read_archive(path)


def test_a_sparse_log_is_written_with_its_holes(tmp_path: Path) -> None:
    case = replace(SUITE.case("files/beyond-4-gib"), sparse=200 << 20)
    path = case.write(tmp_path)
    assert path.stat().st_size == len(case.log) + case.sparse
    starts: list[int] = []
    at = 4
    with path.open("rb") as file:
        while at < path.stat().st_size:
            starts.append(at)
            file.seek(at + 9)
            at += int.from_bytes(file.read(4), "little")
    assert at == path.stat().st_size
    assert len(starts) == len(_starts(case.log)) + 4


@pytest.mark.parametrize("sparse", [19, 64 << 20, (64 << 20) + 1, (64 << 20) + 19, 5_000_000_000])
def test_the_events_of_zeros_fill_the_gap_exactly(sparse: int) -> None:
    log = SUITE.case("checksums/none").log
    parts = list(sparse_parts(log, sparse))
    assert sum(part if isinstance(part, int) else len(part) for part in parts) == len(log) + sparse


def test_a_case_is_written_under_its_own_name(tmp_path: Path) -> None:
    case = SUITE.case("files/name-directory")
    assert case.write(tmp_path).relative_to(tmp_path) == Path(case.file_name)


# --- what is tolerated behind damage ---------------------------------------------------------------------------------


def _tolerated(case: DecoderCase, column: object) -> Observed:
    row = case.tolerated[0]
    image = {**row["after"], "j": column}
    return Observed(changes=(*case.expected, {**row, "after": image}))


@pytest.mark.parametrize("name", ["hostile/document-deep-101", "hostile/diffs-value-missing", "hostile/gtid-cut"])
def test_a_row_around_damage_may_come(name: str) -> None:
    case = SUITE.case(name)
    given = case.tolerated[0]["after"]["j"]
    lenient = judge(case, ["file"], _tolerated(case, given))
    assert lenient.verdict is Verdict.LENIENT
    refused = judge(case, ["file"], replace(_tolerated(case, given), error="damaged"))
    assert refused.verdict is Verdict.PASS
    other = judge(case, ["file"], _tolerated(case, {"hex": "00"}))
    assert other.verdict is (Verdict.FAIL if name == "hostile/gtid-cut" else Verdict.LENIENT)


def test_a_row_with_other_columns_behind_damage_is_invented() -> None:
    case = SUITE.case("hostile/document-deep-101")
    row = case.tolerated[0]
    invented = Observed(changes=(*case.expected, {**row, "after": {**row["after"], "v": "other"}}))
    assert judge(case, ["file"], invented).verdict is Verdict.FAIL


# --- how changes are confirmed ---------------------------------------------------------------------------------------

_KINDS: Final = {"t": {"id": "integer", "j": "json"}}
_BEFORE: Final = State(_KINDS, {"t": [{"id": "1", "j": ('{"a": 1}', {'$."a"': "INTEGER"})}]})
_AFTER: Final = State(_KINDS, {"t": [{"id": "1", "j": ('{"a": 2}', {'$."a"': "INTEGER"})}]})


def _change(before: object, after: object) -> dict[str, object]:
    return {
        "table": "t", "operation": "update",
        "before": {"id": 1, "j": {"json": {"a": before}}}, "after": {"id": 1, "j": {"json": {"a": after}}},
    }  # fmt: skip


def test_changes_that_lead_from_state_to_state_are_confirmed() -> None:
    assert "1 statements" in confirm([_BEFORE, _AFTER], [_change(1, 2)])


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [_change(1, 3)],
        [_change(1, 2.0)],
        [_change(1, {"$type": "UNSIGNED INTEGER", "text": "2"})],
        [_change(5, 2)],
        [_change(1, 2), _change(2, 3)],
        [{**_change(1, 2), "after": None}],
    ],
)
def test_other_changes_are_not(changes: list[dict[str, object]]) -> None:
    with pytest.raises(Unconfirmed):
        confirm([_BEFORE, _AFTER], changes)


@pytest.mark.live
def test_a_server_makes_the_same_changes_again(installation: Installation) -> None:
    del installation  # it only says whether there is a server
    recorder = Recorder()
    bases = {case.id: case for case in SUITE.cases}
    with recorder.stack:
        for name in SAMPLE:
            again = make_entry(DECLARED[name], recorder, None, bases)
            assert _what(again.case) == _what(BY_ID[name].case)
            assert again.case.confirmed == BY_ID[name].case.confirmed


def _what(case: DecoderCase) -> list[list[object]]:
    keys = ("event", "schema", "table", "operation", "row", "before", "after", "inner")
    return [[change[key] for key in keys] for change in (*case.expected, *case.resolved)]


def test_no_file_of_the_archive_leaves_its_folder() -> None:
    for case in SUITE.cases:
        assert not Path(case.file_name).is_absolute()
        assert ".." not in Path(case.file_name).parts


def test_rows_that_an_old_server_selected_are_compared() -> None:
    case = DECLARED["oldtypes/dates"]
    assert isinstance(case, Written)
    bases = {one.id: one for one in SUITE.cases}
    stored = bases[case.id]
    assert make_entry(case, Recorder(), stored, bases).case.confirmed.startswith("equal to SELECT on MariaDB")
    other = [["1", "2024-02-29 12:34:56", "1665:38:00", "2024-02-29 12:34:56", "7"], *case.select[1:]]
    with pytest.raises(Refused, match="gave other rows"):
        make_entry(replace(case, select=tuple(other)), Recorder(), stored, bases)
