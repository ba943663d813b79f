"""Transactions for an applier (requirements FR5): diverged documents and damaged events, alone and beside others.

The others are of two kinds: further rows in the same event, with the failing row anywhere among them; and small
transactions beside this one, which workers may run at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierTransaction, repair_of
from conformance.cases.by_hand.damaged_frame import Damage, DamagedFrame
from conformance.cases.by_hand.injection import Injection, full_image, partial_image, predict, row_event_body
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from generators import damaged_events, diverged, documents, object_entries
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from generators.draw import Draw

_FEW: Final = 3  # damages of each error that are always there
_BESIDE: Final = mix((0, 55), (1, 20), (3, 20), (6, 5))
_FITS: Final = encode({"a": 1})
_FITTING: Final = partial_image(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 2)]))
_MATRIX_DOCUMENTS: Final = tuple(diverged.MATRIX_DOCUMENTS.values())


def alone(draw: Draw, injection: Injection, documents: Sequence[bytes | None] = ()) -> ApplierTransaction:
    """One row, which is repaired with the first of ``documents`` that the event fits."""
    repaired = repair_of(injection, documents) if predict(injection).error else None
    return ApplierTransaction(
        rows=(injection,), repaired=None if repaired is None else (repaired,), beside=draw.choice(_BESIDE)
    )


def matrix(draw: Draw, part: int) -> Iterator[ApplierTransaction]:
    """One drawn Case in ``part`` of the matrix of requirements FR5."""
    for number, injection in enumerate(diverged.matrix()):
        one = draw.fork(number)
        if not one.below(part):
            yield alone(one, injection, _MATRIX_DOCUMENTS)


def group(draw: Draw) -> list[ApplierTransaction]:
    """The injections of a generated group, and events of several of its rows."""
    injections = diverged.group(draw)
    documents = list(dict.fromkeys(item.stored for item in injections))
    out = [alone(draw.fork("alone", number), item, documents) for number, item in enumerate(injections)]
    refused = [bool(predict(item).error) for item in injections]
    fitting = [case for case, error in zip(out, refused, strict=True) if not error]
    failing = [case for case, error in zip(out, refused, strict=True) if error]
    if fitting and failing:
        out += [several(draw.fork("several", number), fitting, failing) for number in range(len(injections) // 4)]
    return out


def several(
    draw: Draw, fitting: Sequence[ApplierTransaction], failing: Sequence[ApplierTransaction]
) -> ApplierTransaction:
    """Rows of one event: some fit and, mostly, one does not."""
    chosen = [draw.choice(fitting) for _ in range(1 + draw.below(4))]
    if draw.below(5):
        chosen.insert(draw.below(len(chosen) + 1), draw.choice(failing))
    rows = tuple(case.rows[0] for case in chosen)
    repaired = tuple(
        document
        for case in chosen
        if (document := case.repaired[0] if case.repaired else case.rows[0].stored) is not None
        and (case.repaired or case not in failing)
    )
    return ApplierTransaction(
        rows=rows, repaired=repaired if len(repaired) == len(rows) else None, beside=draw.choice(_BESIDE)
    )


def ignorable(draw: Draw, part: int) -> Iterator[ApplierTransaction]:
    """A part of the matrix, and each of its diffs once on a row that is not there."""
    for number, injection in enumerate(diverged.matrix()):
        one = draw.fork(number)
        if not (injection.row_exists and one.below(part)):
            yield alone(one, injection, _MATRIX_DOCUMENTS)


def without_bytes(draw: Draw) -> ApplierTransaction:
    """A JSON value of no bytes: in the event, or under its diffs."""
    other = documents.document(draw.fork("other"))
    match draw.below(4):
        case 0 | 1:  # a whole value of no bytes in the place of any document
            stored = None if draw.below(8) == 7 else encode(other)
            return alone(draw, Injection(name="whole value of no bytes", stored=stored, image=full_image(b"")))
        case 2:
            return alone(draw, Injection(name="on a value of no bytes", stored=b"", image=full_image(encode(other))))
        case _:
            diffs = encode_diffs(diverged.logged(draw.fork("diffs"), encode(other))[0] if draw.below(4) else ())
            injection = Injection(name="diffs on a value of no bytes", stored=b"", image=partial_image(diffs))
            return alone(draw, injection, [encode(other)])


def damaged_frame(draw: Draw) -> DamagedFrame:
    """A transaction that fits, with one field of its row event's frame changed so that it cannot be parsed."""
    case = ApplierTransaction(rows=(Injection(name="fits", stored=_FITS, image=_FITTING),), beside=draw.choice(_BESIDE))
    size = HEADER_SIZE + len(row_event_body((1, _FITTING))) + FOOTER_SIZE
    match draw.below(4):
        case 0:
            damage = Damage(name="checksum", offset=size - 1 - draw.below(4), data=_bits(draw), flip=True)
        case 1:  # anything else that the checksum guards; the length and the type code are the other cases
            offset = draw.choice((*range(4), *range(5, 9), *range(13, size - 4)))
            damage = Damage(name=f"byte {offset} under the old checksum", offset=offset, data=_bits(draw), flip=True)
        case 2:
            code = draw.choice((0, 23, 24, 25, 43 + draw.below(213)))
            damage = Damage(name=f"type {code}", offset=4, data=bytes((code,)), summed=True)
        case _:
            wrong = draw.choice((draw.below(size), size + 1 + draw.below(100), (1 << 30) + draw.bits(30)))
            damage = Damage(name="length", offset=9, data=wrong.to_bytes(4, "little"))
    return DamagedFrame(transaction=case, damage=damage)


def _bits(draw: Draw) -> bytes:
    return bytes((1 + draw.below(255),))


def listed_damage(draw: Draw) -> Iterator[ApplierTransaction]:
    """The damages of requirements FR5.

    No document fits a damaged event; for an event that merely does not fit, this function looks for a document.
    """
    for number, injection in enumerate(damaged_events.listed()):
        yield alone(draw.fork(number), injection, _MATRIX_DOCUMENTS)


def refused_damage(draw: Draw, part: int) -> Iterator[ApplierTransaction]:
    """One in ``part`` of the listed damages that a server refuses, with all events whose error is rare."""
    few: dict[int, int] = {}
    for number, case in enumerate(listed_damage(draw)):
        error = case.rows[0].number
        if error:
            few[error] = few.get(error, 0) + 1
            if few[error] <= _FEW or not draw.fork("part", number).below(part):
                yield case


def damage(draw: Draw) -> ApplierTransaction:
    """A generated damage."""
    return alone(draw.fork("beside"), damaged_events.damaged(draw.fork("event")))


def damaged_object(draw: Draw, number: int) -> ApplierTransaction:
    """An object with a wrong entry in a diff; every second one is of a kind that may end a server."""
    event = draw.fork("event")
    if number % 6 == 5:
        return alone(draw.fork("beside"), object_entries.twice(event))
    return alone(draw.fork("beside"), object_entries.injection(event, object_entries.DIFF, keys=number % 3 == 1))
