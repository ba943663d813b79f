"""Faults in what the lab observes of large documents over time: files, sessions, the undo log, and purge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.checks.lob_versions import judge_changes, judge_versions, run
from conformance.checks.lob_versions.tally import MESSAGES
from conformance.reference.innodb.lob import PlainLob
from conformance.reference.innodb.lob_index import IndexEntry
from conformance.reference.innodb.undo.row_versions import row_versions
from tests.checks.lob_versions.faults_of_changes import CHANGE_FAULTS, undone
from tests.checks.lob_versions.observed import altered
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.lob_versions.judge_changes import DocumentChange

_CHECK: Final = "test_versions"
# What a change that is seen so breaks as well: the rules are about the same pages, entries and numbers.
_ALSO: Final = {
    "the new entry has the old page": ("LOB21", "LOB28"),
    "the index has another order": ("LOB20",),
    "a change behind the prefix made a new value": ("LOB27",),
    "a change in the prefix made no new value": ("LOB27",),
    "the version of the reference stays": ("LOB20", "LOB21", "LOB28"),
    "a small change makes a new version": ("LOB27",),
    "a copy makes no new version": ("LOB27",),
}


def _fault(name: str, breaks: str, does: str, plant: Plant, *also: str) -> Fault:
    return Fault(
        f"lob-{name.replace(' ', '-')}",
        breaks,
        does,
        plant,
        at=_CHECK,
        also=" ".join(also),
        says=re.escape(MESSAGES[breaks]),
    )


def _of_documents(seen: Callable[[DocumentChange, bytes], tuple[DocumentChange, bytes]]) -> Plant:
    """The change of a document, or its image in the log, is seen otherwise."""
    real = judge_changes.judge_document
    return lambda patch: patch.setattr(run, "judge_document", lambda change, image: real(*seen(change, image)))


def _of_change(fault: Fault) -> Plant:
    return _of_documents(lambda change, image: (fault.change(change) if fault.at(change) else change, image))


def _other_image(change: DocumentChange, image: bytes) -> tuple[DocumentChange, bytes]:
    """Behind a rollback the file has another document than the log."""
    return change, image[:-1] + bytes((image[-1] ^ 1,)) if undone(change) else image


def _judging(name: str, change: Callable[..., tuple[Any, ...]]) -> Plant:
    """A judge of versions gets other observations."""
    real = getattr(run, name)
    return lambda patch: patch.setattr(
        run, name, lambda tally, history, *seen: real(tally, history, *change(history, *seen))
    )


def _during(name: str, within: Plant) -> Plant:
    """While a judge of versions looks, a reader is another one."""
    real = getattr(run, name)

    def judged(*arguments: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            within(patch)
            real(*arguments)

    return lambda patch: patch.setattr(run, name, judged)


def _next_snapshot(_: Any, texts: list[Any]) -> tuple[Any, ...]:
    """The first session reads what the last one does."""
    return ([texts[-1], *texts[1:]],)


def _cut_off(_: Any, texts: list[Any]) -> tuple[Any, ...]:
    """The last letter of a document is missing."""
    key = next(iter(texts[0]))
    return ([{**texts[0], key: {**texts[0][key], "k": texts[0][key]["k"][:-1]}}, *texts[1:]],)


def _byte_of_an_older_version(_: Any, files: dict[Any, Any]) -> tuple[Any, ...]:
    for table, file in files.items():
        for stored in file.documents.values():
            if isinstance(stored.lob, PlainLob):
                for entry in stored.lob.entries:
                    if entry.older:
                        return ({**files, table: altered(file, entry.older[-1].page, 800)},)
    return (files,)


def _undo(versions: slice) -> Plant:
    """The undo log gives these of the versions of each row."""

    def within(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(
            judge_versions,
            "row_versions",
            lambda *words: (found._replace(versions=found.versions[versions]) for found in row_versions(*words)),
        )

    return _during("judge_undo", within)


def _not_purged(_: Any, before: Any, __: Any) -> tuple[Any, ...]:
    return before, before


def _changed_by_purge(_: Any, before: Any, after: Any) -> tuple[Any, ...]:
    table, file = next(iter(after.items()))
    page = next(iter(file.documents.values())).lob.pages()[-1]
    return before, {**after, table: altered(file, page, 700)}


LOB_VERSION_FAULTS: Final = (
    *(
        _fault(
            fault.id, fault.requirement, f"Of a change is seen: {fault.id}.", _of_change(fault),
            *_ALSO.get(fault.id, ()),
        )
        for fault in CHANGE_FAULTS
    ),
    _fault("newest version for all", "LOB22",
           "A reader of the file takes the newest piece, whatever version it asks for.",
           _during("judge_file", lambda patch: patch.setattr(IndexEntry, "at_version", lambda entry, _: entry))),
    _fault("byte of an older version", "LOB22", "A byte of an older version in the file is another one.",
           _judging("judge_file", _byte_of_an_older_version)),
    _fault("snapshot of another", "LOB23", "A session with an older snapshot reads the newest documents.",
           _judging("judge_sessions", _next_snapshot)),
    _fault("text cut off", "LOB23", "A session reads a document without its end.",
           _judging("judge_sessions", _cut_off)),
    _fault("undo lacks a version", "LOB29", "The undo log lacks the oldest version of each row.", _undo(slice(-1))),
    _fault("undo in another order", "LOB29", "The undo log has the versions of a row in another order.",
           _undo(slice(None, None, -1))),
    _fault("rollback leaves another document", "LOB31", "A rollback leaves another document than was there.",
           _of_documents(_other_image)),
    _fault("purge leaves versions", "LOB30", "Purge leaves the older versions.", _judging("judge_purge", _not_purged)),
    _fault("purge changes a document", "LOB30", "Purge changes a byte of a document.",
           _judging("judge_purge", _changed_by_purge)),
)  # fmt: skip
