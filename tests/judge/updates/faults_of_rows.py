"""Faults in the rows of events."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.cases.row_images import RowImage
from conformance.reference.binlog.rows import STMT_END
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.tables.columns import PartialJson
from tests.judge.doctoring import (
    ONE_DIFF,
    PARTIAL,
    WIDE,
    D,
    Fault,
    P,
    after,
    body,
    change_insert,
    diffs,
    groups,
    patch,
    patch_bits,
    patch_options,
    reversed_rows,
    row,
    sealed,
    swap,
)
from tests.reference.jsonb.jsonb_vectors import deep_bytes, shared_children

ROW_FAULTS: Final = [
    # the rows
    Fault(
        "wrong byte in a diff's value",
        "event",
        f"{P}.rows[0].after.j",
        "one diff",
        diffs("one diff", lambda old: [old[0]._replace(value=6)]),
    ),
    Fault(
        "value of another type",
        "event",
        f"{P}.rows[0].after.j",
        "one diff",
        diffs("one diff", lambda old: [old[0]._replace(value=5.0)]),
    ),
    Fault(
        "diff dropped",
        "event",
        f"{P}.rows[0].after.j",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: old[:1]),
    ),
    Fault(
        "diff too many",
        "event",
        f"{P}.rows[1].after.j",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: [*old, old[-1]], 1),
    ),
    Fault(
        "diffs in another order",
        "event",
        f"{P}.rows[0].after.j",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: old[::-1]),
    ),
    Fault(
        "INSERT as REPLACE",
        "event",
        f"{P}.rows[0].after.j",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: [old[0], old[1]._replace(operation=type(old[1].operation)(0))]),
    ),
    Fault(
        "path not as in the statement",
        "event",
        f"{P}.rows[0].after.j",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, bytes.fromhex("0b00000000 05242e226122 03050500"))),
    ),
    Fault(
        "value wider than it must be",
        "event",
        f"{P}.rows[0].after.j",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, WIDE)),
    ),
    Fault(
        "length in a longer form",
        "event",
        f"{P}.rows[0].after.j",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, bytes.fromhex("0b00000000 fc0300242e61 03050500"))),
    ),
    Fault(
        "diffs that cannot be read",
        "event",
        f"{P}.rows[0].after.j",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, bytes.fromhex("0900000007 03242e61 03050500"))),
    ),
    Fault(
        "full instead of partial",
        "event",
        f"{P}.rows[0].value_options",
        "one diff",
        after("one diff", encode(parse_text(D.replace("1", "5", 1)))),
    ),
    Fault(
        "partial instead of full where 4 + D = L",
        "event",
        f"{P}.rows[0].value_options",
        "border full",
        after("border full", PartialJson(bytes.fromhex("0004245b305d060c0478787878"))),
    ),
    Fault(
        "full instead of partial where 4 + D = L - 1",
        "event",
        f"{P}.rows[0].value_options",
        "border partial",
        after("border partial", encode(["xxxx", "z"])),
    ),
    Fault(
        "empty diffs instead of one", "event", f"{P}.rows[0].after.j", "one diff", after("one diff", PartialJson(b""))
    ),
    Fault(
        "a diff instead of empty diffs",
        "event",
        f"{P}.rows[0].after.j",
        "empty",
        after("empty", PartialJson(bytes.fromhex("0003242e6103050500")), place=1),
    ),
    Fault(
        "diffs under the wrong column's bit",
        "event",
        f"{P}.rows[0].partial_columns",
        "one diff",
        patch(PARTIAL, lambda event: patch_bits(event, 0b10)),
    ),
    Fault("partial bit cleared", "event", f"{P}", "one diff", patch(PARTIAL, lambda event: patch_bits(event, 0))),
    Fault(
        "surplus partial bit",
        "event",
        f"{P}.rows[0].partial_columns",
        "one diff",
        patch(PARTIAL, lambda event: patch_bits(event, 0b11)),
    ),
    Fault(
        "one of two columns full",
        "event",
        f"{P}.rows[0].partial_columns",
        "two columns",
        after("two columns", encode(["a", "z"]), place=1),
    ),
    Fault(
        "value_options 0 in front of diffs",
        "event",
        P,
        "one diff",
        patch(PARTIAL, lambda event: patch_options(event, 0)),
    ),
    Fault("value_options 2", "event", P, "one diff", patch(PARTIAL, lambda event: patch_options(event, 2))),
    Fault("SQL NULL instead of JSON null", "event", f"{P}.rows[0].after.k", "json null", after("json null", None)),
    Fault(
        "JSON null instead of SQL NULL", "event", f"{P}.rows[0].after.k", "sql null", after("sql null", encode(None))
    ),
    Fault("no bytes instead of JSON null", "event", f"{P}.rows[0].after.k", "json null", after("json null", b"")),
    Fault("wrong other column", "event", f"{P}.rows[0].after.n", "empty", after("empty", 7)),
    Fault(
        "wrong before image",
        "event",
        f"{P}.rows[0].before.id",
        "one diff",
        row("one diff", lambda old: old._replace(before=(2,))),
    ),
    Fault(
        "rows in another order",
        "event",
        f"{P}.rows[0].before.id",
        "two diffs, two rows",
        body("two diffs, two rows", reversed_rows),
    ),
    Fault(
        "row dropped",
        "event",
        f"{P}.rows",
        "two diffs, two rows",
        body("two diffs, two rows", lambda old: replace(old, rows=old.rows[:1])),
    ),
    Fault("row twice", "event", f"{P}.rows", "one diff", body("one diff", lambda old: replace(old, rows=old.rows * 2))),
    Fault(
        "wrong columns bitmap",
        "event",
        f"{P}.after_columns",
        "json null",
        body("json null", lambda old: replace(old, after_columns=old.after_columns | 0x80)),
    ),
    Fault(
        "before image FULL instead of MINIMAL",
        "event",
        f"{P}.before_columns",
        "one diff",
        body(
            "one diff",
            lambda old: replace(
                old,
                before_columns=0x1F,
                rows=(old.rows[0]._replace(before=(1, 0, encode(parse_text(D)), encode(["kkkk", ""]), None)),),
            ),
        ),
    ),
    Fault(
        "STMT_END missing",
        "event",
        f"{P}.flags",
        "one diff",
        body("one diff", lambda old: replace(old, flags=old.flags & ~STMT_END)),
    ),
    Fault(
        "foreign key flag",
        "event",
        f"{P}.flags",
        "one diff",
        body("one diff", lambda old: replace(old, flags=old.flags | 2)),
    ),
    Fault(
        "bytes after the last row",
        "event",
        P,
        "one diff",
        patch(PARTIAL, lambda event: sealed(event[:-4] + b"\0" + event[-4:])),
    ),
    Fault("row cut off", "event", P, "one diff", patch(PARTIAL, lambda event: sealed(event[:-7] + event[-4:]))),
    # what the log says of a row cannot be gone on with
    Fault(
        "document that is no JSON", "event", f"{P}.rows[0].value_options", "one diff", after("one diff", b"\x0d\x00")
    ),
    Fault(
        "document cut off",
        "event",
        f"{P}.rows[0].value_options",
        "one diff",
        after("one diff", encode(parse_text(D))[:-70]),
    ),
    Fault(
        "document of shared children",
        "event",
        f"{P}.rows[0].value_options",
        "one diff",
        after("one diff", shared_children(60)),
    ),
    Fault("document too deep", "event", f"{P}.rows[0].value_options", "one diff", after("one diff", deep_bytes(150))),
    Fault(
        "key lost",
        "event",
        f"{P}.rows[0].after.id",
        "one diff",
        row("one diff", lambda old: old._replace(after=(None, *(old.after or ())[1:]))),
        {"image": RowImage.FULL},
    ),
    Fault(
        "key of another row",
        "event",
        f"{P}.rows[0].after.id",
        "one diff",
        row("one diff", lambda old: old._replace(after=(2, *(old.after or ())[1:]))),
        {"image": RowImage.FULL},
    ),
    # the start rows
    Fault("wrong start document", "event", "WRITE_ROWS_EVENT.rows[0].after.j", None, groups(change_insert)),
]
