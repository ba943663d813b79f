"""Faults of the parts of FR2, FR4, FR5 and FR6: what a replica shows that errs in one step of the applier.

Rows are compared by the judge of replicas, stops by its explanations, injected events by the judge of diverged rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import (
    Demand,
    Injection,
    InjectionOutcome,
    RowState,
    partial_image,
    predict,
    state_of,
)
from conformance.judge.damage.diverged import judge_injection
from conformance.judge.replica import (
    LoggedRow,
    Relation,
    ReplicaModel,
    Sides,
    Stop,
    Transaction,
    compare_tables,
    judge_stop,
    relation_of,
)
from conformance.judge.replica_binlog import judge_redo
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson
from conformance.verdict import Verdict
from generators import damaged_events
from tests.faults.fault import Fault
from tests.judge import test_replica_binlog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.jsonb.values import JsonValue

# --- rows of a replica behind JSON_SET(j, '$.a', 2) on the first of two rows -----------------------------------------

_OLD: Final[tuple[JsonValue, ...]] = ({"a": 1, "b": "text"}, {"a": 5, "b": "other"})
_NEW: Final[tuple[JsonValue, ...]] = ({"a": 2, "b": "text"}, _OLD[1])
_NAMES: Final = ("id", "n", "j")


def _compared(
    ours: Sequence[JsonValue],
    theirs: Sequence[JsonValue | None],
    *,
    n: int | None = 7,
    relation: Relation | None = None,
    model: Sequence[JsonValue] | None = None,
) -> list[str]:
    """Kinds of differences of a replica's table with the rows ``theirs`` from a source's with ``ours``."""
    stored = [[None if value is None else encode(value) for value in rows] for rows in (ours, theirs)]
    texts = [
        tuple((None if value is None else format_text(value).encode(),) for value in rows) for rows in (ours, theirs)
    ]
    sides = Sides(
        source=tuple((number, 7, value) for number, value in enumerate(stored[0])),
        replica=tuple((number, n, value) for number, value in enumerate(stored[1])),
        source_texts=texts[0],
        replica_texts=texts[1],
        equal=tuple((relation_of(one, other).equal,) for one, other in zip(*stored, strict=True)),
    )
    expected = ReplicaModel([{"j": encode(value)} for value in model or ours], ["j"])
    relations = None if relation is None else {(row, "j"): relation for row in range(len(ours))}
    found = compare_tables(list(_NAMES), ["j"], sides, list(range(len(ours))), expected, relations).found
    return sorted({item.kind for item in found})


def _rows(
    name: str, requirement: str, sentence: str, theirs: Sequence[JsonValue | None], *, n: int | None = 7
) -> Fault:
    return Fault(
        name, requirement, sentence, lambda wrong: _compared(_NEW, theirs, n=n) if wrong else _compared(_NEW, _NEW)
    )


_ONE: Final = encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 2)])
_LOGGED: Final = Transaction(
    start=100, end=900, gtid="g:1", rows=(LoggedRow(0, 0, {"j": PartialJson(_ONE)}, 870, {"id": 0}),)
)
"""An update whose before-image holds the key alone."""


def _stop(number: int, words: str) -> Callable[[bool], object]:
    """The applier stops at an update that the reference applies."""
    stop = Stop(number=number, message=f"{words}, Error_code: {number}; end_log_pos 870", offset=870)

    def judged(wrong: bool) -> object:
        refusal = ReplicaModel([{"j": encode(_OLD[0])}], ["j"]).apply(_LOGGED)
        if not wrong or refusal is not None:
            return refusal
        found = judge_stop(refusal, _LOGGED, stop)
        return found if found.deviation is None else None

    return judged


STEPS: Final = [
    Fault("key-is-not-enough", "A1", "An event whose before-image holds the key alone is applied.",
          _stop(1032, "Can't find record in 't'")),
    _rows("diffs-on-nothing", "A2", "The old document is read from the engine.", ({"a": 2}, _NEW[1])),
    _rows("another-row", "A3", "The row that is changed is that of the before-image.",
          (_OLD[0], {"a": 2, "b": "other"})),
    _rows("diffs-not-applied", "A4", "The diffs are applied to the old document.", _OLD),
    _rows("column-lost", "A6", "The engine gets full values.", (None, _NEW[1])),
]  # fmt: skip

# --- FR4: other bytes on the replica ---------------------------------------------------------------------------------

_EQUAL: Final[tuple[JsonValue, ...]] = ({"a": 2, "b": 1.0},)  # to b: 1 by =, not as text
_SOURCE: Final[tuple[JsonValue, ...]] = ({"a": 2, "b": 1},)
_DATE: Final[tuple[JsonValue, ...]] = ({"a": 2, "d": opaque.date(2020, 1, 1)},)
_STRING: Final[tuple[JsonValue, ...]] = ({"a": 2, "d": "2020-01-01"},)


def _related(
    source: Sequence[JsonValue], right: Sequence[JsonValue], wrong: Sequence[JsonValue], relation: Relation
) -> Callable[[bool], object]:
    return lambda err: _compared(source, wrong if err else right, relation=relation, model=wrong if err else right)


RELATIONS: Final = [
    Fault("no-longer-equal", "FR4.1", "Documents equal by = stay so.",
          _related(_SOURCE, _EQUAL, ({"a": 2, "b": 1.5},), Relation(text=False, equal=True))),
    Fault("no-longer-the-text", "FR4.2", "Documents of equal text keep equal text.",
          _related(_DATE, _STRING, ({"a": 2, "d": "2020-01-02"},), Relation(text=True, equal=False))),
    Fault("clone-that-lost-an-update", "FR4.3", "A clone from a dump applies every later update.",
          lambda wrong: _compared(
              _SOURCE,
              ({"a": 1, "b": 1},) if wrong else _SOURCE,
              relation=Relation(text=True, equal=True),
              model=_SOURCE,
          )),
    Fault("clone-that-stops", "FR4.3", "A clone from a dump goes on.",
          _stop(3648, "Could not apply JSON diff in table t, column j.")),
]  # fmt: skip

# --- FR5: injected events --------------------------------------------------------------------------------------------

_DAMAGED: Final = {item.name: item for item in damaged_events.listed()}
_STORED: Final = state_of(damaged_events.STORED)
_CHANGED: Final = state_of(encode({"planted": 1}))


def _injected(
    injection: Injection, right: InjectionOutcome, wrong: InjectionOutcome, grade: Verdict = Verdict.FAIL
) -> Callable[[bool], object]:
    def judged(err: bool) -> list[Verdict]:
        found = judge_injection(injection, wrong if err else right)
        assert found.verdict in (Verdict.PASS, grade)
        assert found.deviation is None
        return [] if found.verdict is Verdict.PASS else [found.verdict]

    return judged


def _refusal(name: str, wrong: InjectionOutcome, grade: Verdict = Verdict.FAIL) -> Callable[[bool], object]:
    """A damage of the list, which a right server refuses with the number that was observed."""
    injection = _DAMAGED[name]
    right = InjectionOutcome(error=injection.number or 0, before=_STORED, after=_STORED)
    return _injected(injection, right, wrong, grade)


_TAKEN: Final = InjectionOutcome(before=_STORED, after=_STORED)
_APPLIED: Final = Injection(
    name="applies by chance",
    stored=damaged_events.STORED,
    image=partial_image(damaged_events.diff()),
    demand=Demand.EITHER,
)
_BY_CHANCE: Final = InjectionOutcome(before=_STORED, after=predict(_APPLIED).state)
SAFETY: Final = [
    Fault("damage-is-taken", "SC1", "A wrong format is an error.", _refusal("path-empty", _TAKEN)),
    Fault("damage-changes-the-row", "SC1", "A wrong format leaves the row alone.",
          _refusal("path-empty", InjectionOutcome(error=3649, before=_STORED, after=_CHANGED))),
    Fault("not-rolled-back", "SC2", "What was done before the error is rolled back.",
          _refusal("two-levels-missing", InjectionOutcome(error=3648, before=_STORED, after=_CHANGED))),
    Fault("applied-to-no-json", "SC3", "What applies by chance leaves a valid document.",
          _injected(_APPLIED, _BY_CHANCE, InjectionOutcome(before=_STORED, after=RowState(error=3142)))),
    Fault("another-number", "SC4", "The damage has its own number.",
          _refusal("path-empty", InjectionOutcome(error=1610, before=_STORED, after=_STORED), Verdict.DIFFERS)),
    Fault("operation-of-the-future", "FX2", "Operation 3 is refused.", _refusal("operation-3", _TAKEN)),
]  # fmt: skip

# --- FR6.2 -----------------------------------------------------------------------------------------------------------


def _redo(growth: int) -> list[str]:
    """Twelve updates of documents of 400 kB. ``growth``: growth of the redo log in bytes."""
    return [word for word in (judge_redo(growth, 0, 12, 400_000),) if word != "pass"]


def _replica_binlog(wrong: bool) -> object:
    """The log of a replica that writes whole documents although its own option is on."""
    return test_replica_binlog.judged(
        test_replica_binlog.script(), test_replica_binlog.MINIMAL, really=_WHOLE if wrong else None
    ).found


_WHOLE: Final = replace(test_replica_binlog.MINIMAL, partial_json=False)
ENGINE: Final = [
    Fault("whole-documents-in-the-redo-log", "FR6.2", "The engine gets byte ranges.",
          lambda wrong: _redo(12 * 400_000 if wrong else 12 * 2_000)),
]  # fmt: skip

REPLICA_BINLOG: Final = [
    Fault("whole-documents-in-its-own-log", "FR6.1", "Under its own option a replica logs diffs itself.",
          _replica_binlog),
]  # fmt: skip

FAULTS: Final = [*STEPS, *RELATIONS, *SAFETY, *ENGINE, *REPLICA_BINLOG]
