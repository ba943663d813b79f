"""The campaign passes on a server. Its judges find each planted fault in what one block of it observed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.lob_versions import check, judge_changes, judge_versions
from conformance.checks.lob_versions.judge_changes import DocumentChange, judge_bytes
from conformance.checks.lob_versions.judge_versions import judge_file, judge_purge, judge_sessions, judge_undo
from conformance.checks.lob_versions.predictions import predict
from conformance.checks.lob_versions.run import run_block
from conformance.checks.lob_versions.tally import Tally
from conformance.reference.innodb.lob import PlainLob
from conformance.reference.innodb.lob_change import Kind
from conformance.reference.innodb.lob_index import IndexEntry
from conformance.reference.innodb.undo import record as undo_record
from conformance.reference.innodb.undo import row_versions
from generators.draw import Stream
from tests.checks.lob_versions.faults_of_changes import CHANGE_FAULTS, shorter, single, undone
from tests.checks.lob_versions.observed import Observed, altered, judged, observe
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.innodb.undo.record import SmallChange, UndoRecord
    from conformance.servers.run.process import ProcessServer
    from tests.faults.fault import Fault
    from tests.recorded import Recorded

pytestmark = pytest.mark.live
_BLOCK, _ROWS = 4, 8


@pytest.fixture(scope="module")
def observed(server: ProcessServer) -> Observed:
    """A block without a problem."""
    with pytest.MonkeyPatch.context() as patch:
        found, tally = observe(server, patch, number=_BLOCK, rows=_ROWS)
    assert tally.problems == {}
    return found


def test_a_server_passes(recorded: Recorded) -> None:
    finished = run(check.test_versions, recorded.lab)
    assert recorded.failing == set()
    assert recorded.cases("lob_versions/versions") > 500
    assert set(finished.requirements) >= {"LOB11", "LOB20", "LOB31"}


def test_an_index_page_behind_a_small_change_is_predicted(server: ProcessServer) -> None:
    """A transaction of a small change and a copied one: only the second one needs the new index page."""
    tally = run_block(server, Stream("lob-versions", "19", 22), _ROWS, partial_json=False)
    assert tally.problems == {}


@each(CHANGE_FAULTS)
def test_a_fault_of_a_change_is_found(observed: Observed, fault: Fault) -> None:
    change, image = next(observed.changes(fault.at))
    assert judged(change, image).problems == {}
    assert fault.requirement in judged(fault.change(change), image).problems


@pytest.mark.planted("LOB21")
def test_another_byte_at_the_place_of_a_range_is_found(observed: Observed) -> None:
    change, image = next(observed.changes(single(Kind.COPIED)))
    (effect,) = change.prediction.effects
    assert effect.ranges
    at = effect.ranges[0][0]
    assert "LOB21" in judged(change, image[:at] + bytes([image[at] ^ 1]) + image[at + 1 :]).problems


@pytest.mark.planted("LOB31")
def test_another_document_behind_a_rollback_is_found(observed: Observed) -> None:
    change, image = next(observed.changes(undone))
    assert list(judged(change, image[:-1] + bytes([image[-1] ^ 1])).problems) == ["LOB31"]


@pytest.mark.planted("LOB28")
@pytest.mark.parametrize("limit", [98, 102])
def test_another_limit_of_small_changes_is_found(
    observed: Observed, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(judge_changes, "SMALL", limit)
    found = [judged(change, image).problems for change, image in observed.documents]
    assert any("LOB28" in problems for problems in found)


# --- the bytes of a file ---------------------------------------------------------------------------------------------


def judged_bytes(observed: Observed, alter: Callable[[DocumentChange], DocumentChange] | None,
                 flip: tuple[int, int] | None = None) -> list[Tally]:  # fmt: skip
    """The verdicts about each step's files, with a fault in one change or in one byte of the file after."""
    out = []
    for where, before, after, changes, held in observed.files:
        if alter is not None:
            chosen = [change for change in changes if single(Kind.SMALL)(change)]
            changes = [alter(change) if change in chosen[:1] else change for change in changes]
            if not chosen:
                continue
        if flip is not None:
            page = changes[0].before.lob.first.number
            after = altered(after, page + flip[0], flip[1])
        tally = Tally()
        judge_bytes(tally, where, before, after, changes, held)
        out.append(tally)
    return out


@pytest.mark.planted("LOB11")
@pytest.mark.parametrize("offset", [700, 9000, 16300])
def test_a_byte_that_no_range_has_is_found(observed: Observed, offset: int) -> None:
    clean = [not tally.problems for tally in judged_bytes(observed, None)]
    assert all(clean)
    found = [bool(tally.problems) for tally in judged_bytes(observed, None, (0, offset))]
    assert sum(found) > len(found) / 2  # elsewhere the byte lies in a range, or in a new page


@pytest.mark.planted("LOB11")
def test_a_range_that_is_not_predicted_is_found(observed: Observed) -> None:
    assert any("LOB11" in tally.problems for tally in judged_bytes(observed, shorter))


@pytest.mark.planted("LOB11")
def test_a_change_that_is_not_predicted_is_found(observed: Observed) -> None:
    def dropped(change: DocumentChange) -> DocumentChange:
        return replace(change, prediction=predict(change.before, []))

    assert all("LOB11" in tally.problems for tally in judged_bytes(observed, dropped))


# --- the versions ----------------------------------------------------------------------------------------------------


@pytest.mark.planted("LOB22")
def test_a_reader_that_takes_versions_below_its_own_is_found(
    observed: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def below(entry: IndexEntry, version: int) -> IndexEntry | None:
        return next((piece for piece in (entry, *entry.older) if piece.version < version), None)

    monkeypatch.setattr(IndexEntry, "at_version", below)
    assert_found(judge_file, observed.versions, "LOB22")


@pytest.mark.planted("LOB22")
def test_a_reader_that_takes_the_newest_version_is_found(observed: Observed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexEntry, "at_version", lambda entry, _: entry)
    assert_found(judge_file, observed.versions, "LOB22")


@pytest.mark.planted("LOB22")
def test_another_byte_in_an_older_version_is_found(observed: Observed) -> None:
    ((history, files),) = observed.versions
    lobs = [(key, stored.lob) for key, file in files.items() for stored in file.documents.values()]
    table, old = next((table, entry.older[-1]) for table, lob in lobs if isinstance(lob, PlainLob)
                      for entry in lob.entries if entry.older)  # fmt: skip
    file = altered(files[table], old.page, 800)
    assert_found(judge_file, [(history, {**files, table: file})], "LOB22")


@pytest.mark.planted("LOB23")
@pytest.mark.parametrize(("number", "other"), [(0, 1), (3, 4), (7, 8)])
def test_a_session_that_reads_another_version_is_found(observed: Observed, number: int, other: int) -> None:
    ((history, texts),) = observed.sessions
    read = [texts[other] if place == number else found for place, found in enumerate(texts)]
    assert_found(judge_sessions, [(history, read)], "LOB23")


@pytest.mark.planted("LOB23")
def test_a_document_that_is_cut_off_is_found(observed: Observed) -> None:
    ((history, texts),) = observed.sessions
    key = next(iter(texts[0]))
    cut = {**texts[0], key: {**texts[0][key], "k": texts[0][key]["k"][:-1]}}
    assert_found(judge_sessions, [(history, [cut, *texts[1:]])], "LOB23")


@pytest.mark.planted("LOB29")
@pytest.mark.parametrize(
    "alter",
    [
        lambda change: change._replace(offset=change.offset + 1),
        lambda change: change._replace(old=change.old[1:]),
        lambda change: change._replace(old=change.old[::-1]),
        lambda change: change._replace(page=change.page + 1),
    ],
    ids=["another place", "a byte less", "swapped bytes", "another value"],
)
def test_another_small_change_in_the_undo_log_is_found(
    observed: Observed, monkeypatch: pytest.MonkeyPatch, alter: Callable[[SmallChange], SmallChange]
) -> None:
    read = undo_record.read_undo_record

    def altered_record(*arguments: Any) -> UndoRecord:
        record = read(*arguments)
        fields = [item._replace(changes=tuple(alter(change) for change in item.changes)) for item in record.fields]
        return replace(record, fields=tuple(fields))

    monkeypatch.setattr(f"{row_versions.__name__}.read_undo_record", altered_record)
    assert_found(judge_undo, observed.undo, "LOB29")


@pytest.mark.planted("LOB29")
def test_a_version_that_the_undo_log_lacks_is_found(observed: Observed, monkeypatch: pytest.MonkeyPatch) -> None:
    def shortened(*arguments: Any) -> Iterator[row_versions.RowHistory]:
        for found in row_versions.row_versions(*arguments):
            yield found._replace(versions=found.versions[:-1])

    monkeypatch.setattr(judge_versions, "row_versions", shortened)
    assert_found(judge_undo, observed.undo, "LOB29")


@pytest.mark.planted("LOB30")
def test_an_older_entry_behind_purge_is_found(observed: Observed) -> None:
    ((history, before, _),) = observed.purges
    tally = Tally()
    judge_purge(tally, history, before, before)
    assert "LOB30" in tally.problems


@pytest.mark.planted("LOB30")
def test_a_freed_page_of_another_type_is_found(observed: Observed) -> None:
    ((history, before, after),) = observed.purges
    table, freed = next(
        (table, sorted(set(stored.lob.all_pages) - set(after[table].documents[key].lob.all_pages)))
        for table, file in before.items() for key, stored in file.documents.items()
        if isinstance(stored.lob, PlainLob) and any(entry.older for entry in stored.lob.entries)
    )  # fmt: skip
    assert_found(judge_purge, [(history, before, {**after, table: altered(after[table], freed[0], 25)})], "LOB30")


@pytest.mark.planted("LOB30")
def test_a_document_that_purge_changes_is_found(observed: Observed) -> None:
    ((history, before, after),) = observed.purges
    table, file = next(iter(after.items()))
    stored = next(iter(file.documents.values()))
    page = stored.lob.pages()[-1]
    assert_found(judge_purge, [(history, before, {**after, table: altered(file, page, 700)})], "LOB30")


def assert_found(judge: Callable[..., None], calls: list[tuple[Any, ...]], requirement: str) -> None:
    """The judge is content with what was observed, and finds the fault in ``calls``."""
    for arguments in calls:
        tally = Tally()
        judge(tally, *arguments)
        assert list(tally.problems) == [requirement]
