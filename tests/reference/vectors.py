"""All vectors of JSON and its updates, kept by hand or captured (partial-update 9), as checks that run on any copy of
the modules."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.reference.jsonb import jsonb_vectors
from tests.reference.jsonb.jsonb_vectors import nested
from tests.reference.partial import apply_vectors, path_vectors, update_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.reference.kit import Kit


class Vector(NamedTuple):
    """``check(kit, *arguments)`` raises when the rule does not hold."""

    id: str
    check: Callable[..., None]
    arguments: tuple[Any, ...]

    def run(self, kit: Kit) -> None:
        self.check(kit, *self.arguments)


def _table(name: str, check: Callable[..., None], rows: Iterable[tuple[Any, ...]]) -> list[Vector]:
    """Rows whose first item says the rule."""
    return [Vector(f"{name}: {row[0]}", check, tuple(row[1:])) for row in rows]


def _records(name: str, check: Callable[..., None], rows: Iterable[tuple[str, Any]]) -> list[Vector]:
    return [Vector(f"{name}: {rule}", check, (row,)) for rule, row in rows]


@cache
def vectors() -> tuple[Vector, ...]:
    """Every vector; the cheap ones first."""
    paths, jsonb, applying, updates = path_vectors, jsonb_vectors, apply_vectors, update_vectors
    captured = updates.load("partial-updates.json")
    ranges = updates.load("inplace-ranges.json")
    return (
        *_table("reading, jsonb 3", jsonb.check_reading, jsonb.READINGS),
        *_table(
            "path text, partial-update 4.1",
            paths.check_path,
            [(text, text, canonical) for text, canonical in paths.PATHS],
        ),
        *_table(
            "refused path, partial-update 4.1",
            paths.check_bad_path,
            [(text, text, position) for text, position in paths.BAD_PATHS],
        ),
        *_table(
            "position in an array, partial-update 4.1",
            paths.check_position,
            [(f"{row[0]} of {row[1]}", *row) for row in paths.POSITIONS],
        ),
        *_table("diffs, partial-update 4", paths.check_diff, paths.DIFFS),
        *_table("damaged diffs, partial-update 6.1", paths.check_diff_reading, paths.DIFF_READINGS),
        Vector("diff: every truncation", paths.check_truncations, (paths.WORKED, (0, 10, 18))),
        *_records(
            "applying, partial-update 6.2", applying.check_applying, [(row.rule, row) for row in applying.APPLYING]
        ),
        *_table("applying, partial-update 6.2", applying.check_unreadable, applying.UNREADABLE),
        *_table("a DECIMAL with a digit too many", applying.check_wide_decimal, applying.WIDE_DECIMALS),
        *_table("an odd DECIMAL", applying.check_odd_decimal, applying.ODD_DECIMALS),
        *_table("applying strictly, partial-update 6.2", applying.check_strict_only, applying.STRICT_ONLY),
        Vector("applying: depth", applying.check_apply_depth, ()),
        *_table("border of the decision, partial-update 5", updates.check_decision, updates.DECISIONS),
        *_table("eligible, partial-update 1", updates.check_eligible, updates.ELIGIBLE),
        *_table(
            "refused, partial-update 2", updates.check_refused, [(sql, sql, number) for sql, number in updates.REFUSED]
        ),
        *_records(
            "evaluation, partial-update 2", updates.check_evaluation, [(row.sql, row) for row in updates.EVALUATION]
        ),
        Vector("update: depth", updates.check_update_depth, ()),
        Vector("in place, partial-update 3.1: where a value may go", updates.check_find_room, ()),
        Vector("in place, partial-update 3.1: inlined in large only", updates.check_large_entries, ()),
        *_records(
            "captured from 9.7.4, partial-update 9",
            updates.check_captured,
            [(vector["name"], vector) for vector in captured],
        ),
        *_records(
            "byte ranges, partial-update 3.4", updates.check_ranges, [(vector["name"], vector) for vector in ranges]
        ),
        Vector("jsonb: shared children, n = 14", jsonb.check_shared, (14,)),
        Vector("jsonb: shared children, n = 60", jsonb.check_shared, (60,)),
        Vector("jsonb: depth of arrays", jsonb.check_depth, (nested(100),)),
        Vector("jsonb: depth of objects", jsonb.check_depth, (nested(100, key="k"),)),
        *_table("free space, jsonb 9", jsonb.check_free, jsonb.FREE),
        *_table("encoding, jsonb 2", jsonb.check_encoding, jsonb.ENCODINGS),
        *_table("small or large, jsonb 2.1", jsonb.check_size, jsonb.SIZES),
    )
