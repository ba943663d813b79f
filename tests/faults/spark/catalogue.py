"""Every budget of every matrix, with the faults that must break it: at least three for each."""

from __future__ import annotations

from typing import Final

from tests.faults.spark.appliers import APPLIER_FAULTS
from tests.faults.spark.events import EVENT_FAULTS
from tests.faults.spark.source import SOURCE_FAULTS

FAULTS: Final = {fault.id: fault for fault in (*SOURCE_FAULTS, *EVENT_FAULTS, *APPLIER_FAULTS)}

_NO_DIFFS: Final = ("diffs/95-of-100-lost", "diffs/none", "diffs/none-for-json-set")
_WRONG_DIFFS: Final = (
    "diffs/95-of-100-lost", "diffs/last-lost", "diffs/3-bytes-longer", "diffs/16-bytes-longer",
)  # fmt: skip

BROKEN_BY: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "size-budget": {
        "rows-with-diffs": (*_NO_DIFFS, "diffs/none-for-json-remove"),
        "diffs": _WRONG_DIFFS,
        "def1-constant": (
            "diffs/3-bytes-longer", "diffs/16-bytes-longer", "diffs/paths-quoted", "diffs/lengths-of-3-bytes",
        ),
        "border": ("decision/never", "decision/always", "decision/half", "diffs/95-of-100-lost"),
        "partial-saves-the-difference": (
            "options/of-3-bytes", "on/a-byte-longer", "empty/untouched-whole", "diffs/95-of-100-lost",
        ),
        "partial-is-smaller": ("decision/never", "diffs/95-of-100-lost", "on/300-bytes-longer"),
        "full-plus-one": ("options/of-3-bytes", "on/a-byte-longer", "decision/always"),
        "off-unchanged": ("off/a-byte-longer", "off/300-bytes-longer", "before/minimal-is-whole"),
    },
    "break-even": {
        "rows-with-diffs": _NO_DIFFS,
        "diffs": _WRONG_DIFFS,
        "margin": ("diffs/3-bytes-longer", "diffs/16-bytes-longer", "diffs/lengths-of-3-bytes"),
        "border": ("decision/length-not-counted", "decision/one-byte-late", "decision/at-the-border-too"),
        "costs": ("options/of-3-bytes", "on/a-byte-longer", "decision/at-the-border-too"),
        "saves": ("options/of-3-bytes", "on/a-byte-longer", "decision/one-byte-late"),
    },
    "images": {
        "rows-with-diffs": _NO_DIFFS,
        "diffs": _WRONG_DIFFS,
        "full-images": (
            "before/full-without-text", "before/full-is-key", "after/full-is-assigned", "after/full-without-text",
        ),
        "minimal-before": ("before/minimal-is-whole", "before/minimal-first-column", "before/minimal-and-n"),
        "minimal-after": (
            "after/minimal-is-whole", "after/minimal-and-key", "after/minimal-all-json", "after/minimal-without-n",
        ),
        "noblob-keeps-json": (
            "before/noblob-without-json", "before/noblob-is-whole", "after/noblob-is-whole", "after/noblob-is-assigned",
        ),
        "untouched-is-empty": (
            "empty/untouched-whole", "empty/objects-whole", "empty/all-whole", "after/noblob-is-assigned",
        ),
        "bits": ("bits/of-one-byte", "bits/for-null", "null/as-empty-diffs", "empty/untouched-whole", "decision/never"),
        "null-has-no-bit": ("bits/for-null", "null/as-empty-diffs", "null/as-json-null"),
    },
    "compression": {
        "rows-with-diffs": _NO_DIFFS,
        "diffs": _WRONG_DIFFS,
        "payload-only-when-on": ("payload/never", "payload/always", "payload/row-beside-it"),
        "events-are-the-same": (
            "diffs/95-of-100-lost", "options/of-3-bytes", "before/minimal-is-whole", "payload/row-beside-it",
            "payload/a-byte-lost",
        ),
        "frame-is-bounded": ("payload/unknown-field", "payload/empty-blocks", "payload/blocks-of-a-byte"),
    },
    "equivalence": {
        "rows-with-diffs": _NO_DIFFS,
        "diffs": _WRONG_DIFFS,
        "equal-afterwards": ("apply/last-diff-forgotten", "apply/string-for-date", "apply/inserts-skipped"),
        "same-document-same-bytes": ("apply/compacted", "apply/texts-refused", "apply/first-diff-alone"),
        "order-of-members": ("order/of-the-text", "order/by-length-alone", "order/by-first-byte"),
        "stops-only-when-retyped": ("apply/several-refused", "apply/texts-refused", "apply/3649-for-3648"),
        "padding-never-stops": ("apply/several-refused", "apply/texts-refused", "apply/inserts-refused"),
    },
    "safety": {
        "rows-with-diffs": ("diffs/95-of-100-lost", "diffs/none", "diffs/none-to-send"),
        "refused-or-readable": ("apply/invalid-document", "apply/other-error", "apply/exception"),
        "logged-applies-to-itself": (
            "apply/inserts-refused", "apply/last-diff-forgotten", "apply/nothing-stored",
        ),
        "nothing-applies-to-null": (
            "null/empty-list-refused", "null/stays-null", "null/as-object", "null/diffs-ignored",
        ),
        "empty-list-changes-nothing": ("empty-list/refused", "empty-list/makes-null", "apply/invalid-document"),
        "damage-is-met": (
            "damage/torn-diffs-skipped", "damage/any-operation", "damage/any-options", "damage/3648-for-3649",
        ),
    },
}  # fmt: skip
"""Matrix -> budget -> faults."""
