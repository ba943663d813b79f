"""The reference's predictions of what a transaction does to a document in the data file (innodb-lob 8)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.innodb.lob import IndexedLob
from conformance.reference.innodb.lob_change import Kind, LobChange, predict_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.lob_versions.data_file import Stored
    from conformance.checks.lob_versions.transactions import Transaction
    from conformance.reference.innodb.lob import Lob
    from conformance.reference.partial.in_place import Range


class Effect(NamedTuple):
    """The effect of one statement on a column. ``ranges``: None if the server writes the document whole."""

    ranges: tuple[Range, ...] | None
    kept: bool

    @property
    def written(self) -> int:
        """How many bytes the engine gets."""
        return sum(length for _, length in self.ranges or ())


def effects_on(transaction: Transaction, column: str) -> list[Effect]:
    """Return the effects of a transaction's statements on a column, as far as they change its bytes."""
    found = []
    for statement in transaction.statements:
        change = statement.change.columns.get(column)
        if statement.change.logged and change is not None and change.before != change.after:
            found.append(Effect(change.ranges if change.in_place else None, statement.kept))
    return found


@dataclass
class Prediction:
    """The outcome of a transaction for one document.

    ``versions``: that of the reference after each update that is kept; ``kinds``: what it is. ``changes``: what they
    change, neighbouring small changes joined. ``top``: the highest version that the first page has. ``whole``: a
    statement writes the value whole. Nothing is predicted of the statements behind it: ``complete`` is false.
    """

    effects: Sequence[Effect]
    versions: list[int | None] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    changes: list[LobChange] = field(default_factory=list)
    top: int | None = None
    whole: Effect | None = None
    complete: bool = True

    @property
    def undone(self) -> bool:
        """Whether something is rolled back."""
        return any(not effect.kept for effect in self.effects)

    @property
    def rewritten(self) -> bool:
        """Whether the transaction leaves another value in the place of the old one."""
        return self.whole is not None and self.whole.kept


def predict(before: Stored, effects: Sequence[Effect], *, any_version: bool = False) -> Prediction:
    """The outcome of a transaction for a document, from its LOB before. ``any_version``: as :func:`predict_change`."""
    prefix = len(before.value.prefix)
    out = Prediction(effects, top=before.lob.first_version if isinstance(before.lob, IndexedLob) else None)
    kept = lob = before.lob  # what a rollback leads to, and what the next statement finds
    for place, effect in enumerate(effects):
        lob = _at(kept if effect.kept else lob, out.top)
        change = _change(lob, effect, prefix, any_version=any_version)
        if effect.kept:
            out.versions.append(change.version)
            out.kinds.append(change.kind)
        if change.kind is Kind.REWRITTEN:
            out.whole, out.complete = effect, place == len(effects) - 1
            break
        if change.kind is Kind.COPIED:
            out.top = change.version
        lob = _at(lob, out.top, change.version)
        if effect.kept:
            _join(out.changes, change)
            kept = lob
    return out


def _at(lob: Lob, top: int | None, version: int | None = None) -> Lob:
    """The LOB with another version, as far as :func:`predict_change` reads it."""
    if not isinstance(lob, IndexedLob) or lob.reference is None or top is None:
        return lob
    return replace(lob, first_version=top, reference=lob.reference._replace(version=version or lob.reference.version))


def _change(lob: Lob, effect: Effect, prefix: int, *, any_version: bool) -> LobChange:
    if effect.ranges is None:
        return LobChange(Kind.REWRITTEN, 1 if isinstance(lob, IndexedLob) else None)
    return predict_change(lob, effect.ranges, prefix=prefix, any_version=any_version)


def _join(changes: list[LobChange], change: LobChange) -> None:
    """Add a change. The file has no state between two small ones."""
    if changes and changes[-1].kind is change.kind is Kind.SMALL:
        changes[-1] = replace(change, ranges=(*changes[-1].ranges, *change.ranges))
    else:
        changes.append(change)
