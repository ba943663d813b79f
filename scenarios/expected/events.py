"""The row event of an UPDATE with the option and without: columns and bits of the images, and bytes.

The table is that of the matrices: ``id``, JSON columns, ``n``, and a TEXT ``t`` that holds four bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.expected.columns import ColumnOutcome

_HEADER: Final = 19 + 8 + 2  # common header, table id and flags, length of the (absent) extra information
_CHECKSUM: Final = 4
_INT: Final = 4
_TEXT: Final = 2 + 4
_LENGTH: Final = 4  # in front of a document, or of diffs


class Due(NamedTuple):
    """The numbers that an update must give; the names are those of the measures, behind ``due_``."""

    diffs: int = 0
    diff_size: int = 0
    raw: int = 0  # paths and values of the diffs
    full_size: int = 0  # the documents that have diffs
    partial: int = 0
    empty: int = 0
    whole: int = 0
    null: int = 0
    partial_full: int = 0
    partial_diff: int = 0
    on: int = 0
    off: int = 0
    before: int = 0
    after: int = 0
    bits: int = 0


DUE: Final = tuple(f"due_{name}" for name in Due._fields)
QUIET: Final = Due()


def due(
    image: str,
    *,
    keyed: bool,
    sizes: Sequence[int],
    outcomes: Mapping[int, ColumnOutcome],
    counted: bool,
) -> Due:
    """The event of one row. ``sizes``: bytes of the JSON columns before; ``outcomes``: outcomes of those in the SET
    clause, by place; ``counted``: whether it also counts ``n`` up; ``keyed``: whether the table has a key.
    """
    if not counted and not any(outcome.changed for outcome in outcomes.values()):
        return QUIET
    columns = len(sizes)
    every = columns + 3
    before = every if image == "FULL" or not keyed else 1 if image == "MINIMAL" else every - 1
    assigned = len(outcomes) + counted
    after = every if image == "FULL" else assigned if image == "MINIMAL" else every - 1
    documents = sum(sizes) + _LENGTH * columns
    head = _HEADER + 1 + 2 * _bytes(every) + _CHECKSUM
    old = _bytes(before) + (_INT if before == 1 else 2 * _INT + documents + _TEXT * (before == every))
    new = _bytes(after) + (_INT * counted if image == "MINIMAL" else 2 * _INT + _TEXT * (after == every))
    on = off = head + old + new
    diffs = diff_size = raw = full_size = bits = 0
    partial = empty = whole = null = partial_full = partial_diff = 0
    for place in outcomes if image == "MINIMAL" else range(columns):
        outcome = outcomes.get(place)
        size = sizes[place] if outcome is None else outcome.size
        if not size:
            null += 1
            continue
        off += _LENGTH + size
        if outcome is None or (outcome.diffs is not None and (not outcome.diffs or outcome.same_bytes)):
            empty += 1
            bits |= 1 << place
            partial_full += size
            on += _LENGTH
            continue
        if outcome.diffs is not None:
            diffs += outcome.diffs
            diff_size += outcome.encoded
            raw += outcome.raw
            full_size += size
            if outcome.partial:
                partial += 1
                bits |= 1 << place
                partial_full += size
                partial_diff += outcome.encoded
                on += _LENGTH + outcome.encoded
                continue
        whole += 1
        on += _LENGTH + size
    on += 1 + (_bytes(columns) if bits else 0)
    return Due(
        diffs, diff_size, raw, full_size, partial, empty, whole, null, partial_full, partial_diff, on, off,
        before, after, bits,
    )  # fmt: skip


def _bytes(bits: int) -> int:
    return (bits + 7) // 8
