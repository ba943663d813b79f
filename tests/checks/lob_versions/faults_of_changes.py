"""Faults in what was observed of a change of one large document, or predicted for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.lob_versions.predictions import predict
from conformance.reference.innodb.lob import IndexedLob, PlainLob
from conformance.reference.innodb.lob_change import Kind
from tests.checks.lob_versions.observed import altered
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.lob_versions.data_file import Stored
    from conformance.checks.lob_versions.judge_changes import DocumentChange
    from conformance.reference.innodb.lob_index import IndexEntry


def single(kind: Kind, *, prefix: bool = False) -> Callable[[DocumentChange], bool]:
    """A transaction whose one update is kept, of this kind, on a LOB that is not compressed."""

    def wanted(change: DocumentChange) -> bool:
        return (
            len(change.prediction.effects) == 1
            and change.prediction.kinds == [kind]
            and isinstance(change.before.lob, PlainLob)
            and bool(change.before.value.prefix) >= prefix
            and (change.prediction.effects[0].ranges is not None or not prefix)
        )

    return wanted


def undone(change: DocumentChange) -> bool:
    """A transaction that is rolled back, and whose updates would have made a copy."""
    prediction = change.prediction
    return (
        bool(prediction.effects)
        and not prediction.versions
        and prediction.whole is None
        and isinstance(change.before.lob, PlainLob)
        and prediction.top != change.before.lob.first_version
    )


def with_lob(change: DocumentChange, **values: Any) -> DocumentChange:
    """Another LOB after the change."""
    lob = change.after.lob
    assert isinstance(lob, IndexedLob)
    return replace(change, after=change.after._replace(lob=replace(lob, **values)))


def with_entries(change: DocumentChange, alter: Callable[[IndexEntry], IndexEntry]) -> DocumentChange:
    """Other index entries, where a change made new ones."""
    lob = change.after.lob
    assert isinstance(lob, IndexedLob)
    changed = {part.piece for each in change.prediction.changes for part in each.ranges}
    return with_lob(change, entries=tuple(
        alter(entry) if number in changed else entry for number, entry in enumerate(lob.entries)
    ))  # fmt: skip


def old_page(entry: IndexEntry) -> IndexEntry:
    """The entry leads to the page of the one before it, which is gone."""
    old = entry.older[0]
    return entry._replace(page=old.page, creator=old.creator, older=entry.older[1:])


def with_version(stored: Stored, version: int) -> Stored:
    """Another version in the reference."""
    assert isinstance(stored.lob, IndexedLob)
    reference = stored.value.reference._replace(version=version)
    return stored._replace(value=stored.value._replace(reference=reference),
                           lob=replace(stored.lob, reference=reference))  # fmt: skip


def after_version(change: DocumentChange, more: int) -> DocumentChange:
    return replace(change, after=with_version(change.after, (change.after.lob.current or 0) + more))


def flag_flipped(change: DocumentChange) -> DocumentChange:
    return replace(change, file=altered(change.file, change.before.lob.first.number, 39))


def shorter(change: DocumentChange) -> DocumentChange:
    """One range less in the prediction, or the only one shorter by a byte."""
    (effect,) = change.prediction.effects
    assert effect.ranges
    *others, (offset, length) = effect.ranges
    ranges = tuple(others) or ((offset, length - 1),)
    return replace(change, prediction=predict(change.before, [effect._replace(ranges=ranges)]))


def range_added(change: DocumentChange) -> DocumentChange:
    """A second range in the piece of the first: two copies are predicted."""
    (effect,) = change.prediction.effects
    assert effect.ranges
    ranges = (*effect.ranges, (effect.ranges[-1][0] + effect.ranges[-1][1] + 2, 1))
    return replace(change, prediction=predict(change.before, [effect._replace(ranges=ranges)]))


def moved(change: DocumentChange) -> DocumentChange:
    """The reference leads to another first page, or no longer to another one."""
    page = change.before.value.reference.page + (1 if change.same_value else 0)
    reference = change.after.value.reference._replace(page=page)
    return replace(change, after=change.after._replace(value=change.after.value._replace(reference=reference)))


def reversed_index(change: DocumentChange) -> DocumentChange:
    lob = change.after.lob
    assert isinstance(lob, IndexedLob)
    return with_lob(change, entries=lob.entries[::-1])


def entry_left(change: DocumentChange) -> DocumentChange:
    """The first entry has another version than before."""
    lob = change.after.lob
    assert isinstance(lob, IndexedLob)
    return with_lob(change, entries=(lob.entries[0]._replace(version=99), *lob.entries[1:]))


def of_several_pieces(change: DocumentChange) -> bool:
    lob = change.after.lob
    return single(Kind.COPIED)(change) and isinstance(lob, IndexedLob) and len(lob.entries) > 3


_RULE: Final = "A change of a large object is the one that is predicted."
CHANGE_FAULTS: Final = (
    Fault("the old entry is lost", "LOB20", _RULE,
          lambda change: with_entries(change, lambda entry: entry._replace(older=())), at=single(Kind.COPIED)),
    Fault("the new entry has the old page", "LOB20", _RULE, lambda change: with_entries(change, old_page),
          at=single(Kind.COPIED)),
    Fault("a range more is predicted in a piece", "LOB20", _RULE, range_added, at=single(Kind.COPIED)),
    Fault("the index has another order", "LOB21", _RULE, reversed_index, at=of_several_pieces),
    Fault("a change behind the prefix made a new value", "LOB25", _RULE, moved, at=single(Kind.COPIED, prefix=True)),
    Fault("a change in the prefix made no new value", "LOB25", _RULE, moved, at=single(Kind.REWRITTEN, prefix=True)),
    Fault("a value that was replaced has no flag", "LOB26", _RULE, flag_flipped, at=single(Kind.REWRITTEN)),
    Fault("a value that was changed in part has the flag", "LOB26", _RULE, flag_flipped, at=single(Kind.COPIED)),
    Fault("the version of the reference stays", "LOB27", _RULE, lambda change: after_version(change, -1),
          at=single(Kind.COPIED)),
    Fault("the version skips a number", "LOB27", _RULE,
          lambda change: with_lob(change, first_version=(change.after.lob.current or 0) + 1), at=single(Kind.COPIED)),
    Fault("a rollback takes the version back", "LOB27", _RULE,
          lambda change: with_lob(change, first_version=change.before.lob.current), at=undone),
    Fault("a small change makes a new version", "LOB28", _RULE, lambda change: with_lob(change, first_version=2),
          at=single(Kind.SMALL)),
    Fault("a copy makes no new version", "LOB28", _RULE,
          lambda change: with_lob(change, first_version=change.before.lob.current), at=single(Kind.COPIED)),
    Fault("an entry stays behind a rollback", "LOB31", _RULE, entry_left, at=undone),
)  # fmt: skip
