"""Doctored observations: what a server that errs would leave, and what the judge must say about each.

``python -m tests.judge.planted_observations`` (from the repository's root) prints one line per fault and
``caught/planted`` at the end.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.cases.images import RowImage
from conformance.cases.observation import StatementOutcome
from conformance.judge.compare import judge
from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import EventType
from conformance.reference.binlog.query import Query, Status
from conformance.reference.binlog.rows import STMT_END
from conformance.reference.binlog.small import RowsQuery, Xid
from conformance.reference.binlog.table_map import TableMap
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from tests.judge.perfect_server import is_update, observe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.judge.mismatch import Judgement


from tests.judge.doctoring import (
    NUMBERS,
    D,
    after,
    answer,
    as_update_rows,
    body,
    broken_checksum,
    broken_frame,
    cell,
    change_insert,
    change_payload,
    delete_body,
    diffs,
    drop_last_statement,
    flag_in_header,
    group_of,
    groups,
    lose_read_back,
    merge_transactions,
    patch,
    patch_bits,
    patch_options,
    query,
    reversed_rows,
    row,
    script,
    sealed,
    status,
    swap,
    table_map,
    types_lie,
)

PARTIAL: Final = EventType.PARTIAL_UPDATE_ROWS
P: Final = "PARTIAL_UPDATE_ROWS_EVENT"
GTID: Final = "GTID_LOG_EVENT"
ONE_DIFF: Final = bytes.fromhex("0900000000 03242e61 03050500")
WIDE: Final = bytes.fromhex("0b00000000 03242e61 050705000000")


class Fault(NamedTuple):
    """``kind`` and ``field`` (its beginning) of the first mismatch; ``step``: the name of the step it must blame."""

    id: str
    kind: str
    field: str
    step: str | None
    observation: dict[str, Any]
    session: Mapping[str, Any] = MappingProxyType({})


FAULTS: Final = [
    # the rows
    Fault(
        "wrong byte in a diff's value",
        "event",
        f"{P}.rows[0].after.@3",
        "one diff",
        diffs("one diff", lambda old: [old[0]._replace(value=6)]),
    ),
    Fault(
        "value of another type",
        "event",
        f"{P}.rows[0].after.@3",
        "one diff",
        diffs("one diff", lambda old: [old[0]._replace(value=5.0)]),
    ),
    Fault(
        "diff dropped",
        "event",
        f"{P}.rows[0].after.@3",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: old[:1]),
    ),
    Fault(
        "diff too many",
        "event",
        f"{P}.rows[1].after.@3",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: [*old, old[-1]], 1),
    ),
    Fault(
        "diffs in another order",
        "event",
        f"{P}.rows[0].after.@3",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: old[::-1]),
    ),
    Fault(
        "INSERT as REPLACE",
        "event",
        f"{P}.rows[0].after.@3",
        "two diffs, two rows",
        diffs("two diffs, two rows", lambda old: [old[0], old[1]._replace(operation=type(old[1].operation)(0))]),
    ),
    Fault(
        "path not as in the statement",
        "event",
        f"{P}.rows[0].after.@3",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, bytes.fromhex("0b00000000 05242e226122 03050500"))),
    ),
    Fault(
        "value wider than it must be",
        "event",
        f"{P}.rows[0].after.@3",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, WIDE)),
    ),
    Fault(
        "length in a longer form",
        "event",
        f"{P}.rows[0].after.@3",
        "one diff",
        patch(PARTIAL, swap(ONE_DIFF, bytes.fromhex("0b00000000 fc0300242e61 03050500"))),
    ),
    Fault(
        "diffs that cannot be read",
        "event",
        f"{P}.rows[0].after.@3",
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
        "empty diffs instead of one", "event", f"{P}.rows[0].after.@3", "one diff", after("one diff", PartialJson(b""))
    ),
    Fault(
        "a diff instead of empty diffs",
        "event",
        f"{P}.rows[0].after.@3",
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
    Fault("SQL NULL instead of JSON null", "event", f"{P}.rows[0].after.@4", "json null", after("json null", None)),
    Fault(
        "JSON null instead of SQL NULL", "event", f"{P}.rows[0].after.@4", "sql null", after("sql null", encode(None))
    ),
    Fault("no bytes instead of JSON null", "event", f"{P}.rows[0].after.@4", "json null", after("json null", b"")),
    Fault("wrong other column", "event", f"{P}.rows[0].after.@2", "empty", after("empty", 7)),
    Fault(
        "wrong before image",
        "event",
        f"{P}.rows[0].before.@1",
        "one diff",
        row("one diff", lambda old: old._replace(before=(2,))),
    ),
    Fault(
        "rows in another order",
        "event",
        f"{P}.rows[0].before.@1",
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
    # the start rows
    Fault("wrong start document", "event", "WRITE_ROWS_EVENT.rows[0].after.@3", None, groups(change_insert)),
    # the frame of an event
    Fault("wrong checksum", "event", P, "one diff", patch(PARTIAL, broken_checksum)),
    Fault(
        "wrong length in the header",
        "event",
        P,
        "one diff",
        patch(PARTIAL, lambda event: event[:9] + (len(event) + 1).to_bytes(4, "little") + event[13:]),
    ),
    Fault("header flag", "event", P, "one diff", patch(PARTIAL, flag_in_header)),
    Fault("type in the header says UPDATE_ROWS", "events", "event types", "one diff", patch(PARTIAL, types_lie)),
    Fault("wrong checksum of the GTID", "event", GTID, None, patch(EventType.GTID, broken_checksum)),
    Fault("GTID cut off", "event", GTID, None, patch(EventType.GTID, lambda event: sealed(event[:-6] + event[-4:]))),
    # the events of a transaction
    Fault(
        "UPDATE_ROWS instead of PARTIAL_UPDATE_ROWS",
        "events",
        "event types",
        "one diff",
        body("one diff", as_update_rows),
    ),
    Fault("row event missing", "events", "event types", "one diff", delete_body("one diff", is_update)),
    Fault(
        "TABLE_MAP missing",
        "events",
        "event types",
        "one diff",
        delete_body("one diff", lambda item: isinstance(item, TableMap)),
    ),
    Fault(
        "BEGIN missing", "events", "event types", None, delete_body("one diff", lambda item: isinstance(item, Query))
    ),
    Fault("XID missing", "events", "event types", None, delete_body("one diff", lambda item: isinstance(item, Xid))),
    Fault(
        "ROWS_QUERY that nobody asked for",
        "events",
        "event types",
        "one diff",
        groups(lambda found: found[group_of("one diff")].insert(2, RowsQuery(text=b"UPDATE"))),
    ),
    Fault(
        "second statement of a transaction missing",
        "events",
        "event types",
        "second of two",
        groups(lambda found: drop_last_statement(found[group_of("second of two")])),
    ),
    Fault("two transactions as one", "events", "event types", None, groups(merge_transactions)),
    Fault("last transaction missing", "events", "transactions", None, groups(lambda found: found.__delitem__(-1))),
    Fault(
        "last transaction twice", "events", "transactions", None, groups(lambda found: found.append(list(found[-1])))
    ),
    Fault(
        "transaction in the middle missing",
        "event",
        f"{P}",
        None,
        groups(lambda found: found.__delitem__(group_of("one diff"))),
    ),
    Fault("everything missing", "events", "transactions", None, groups(list.clear)),
    # BEGIN, TABLE_MAP, GTID
    Fault(
        "tables for update not named",
        "event",
        "QUERY_EVENT.status",
        None,
        status("one diff", Status.TABLE_MAP_FOR_UPDATE),
    ),
    Fault("time zone missing", "event", "QUERY_EVENT.status", None, status("time zone", Status.TIME_ZONE)),
    Fault("sql_mode missing", "event", "QUERY_EVENT.status", None, status("one diff", Status.SQL_MODE)),
    Fault(
        "status variables in another order",
        "event",
        "QUERY_EVENT.status",
        None,
        query("one diff", lambda old: replace(old, status=old.status[::-1])),
    ),
    Fault(
        "another schema",
        "event",
        "QUERY_EVENT.schema",
        None,
        query("one diff", lambda old: replace(old, schema=b"other")),
    ),
    Fault(
        "another text than BEGIN",
        "event",
        "QUERY_EVENT.text",
        None,
        query("one diff", lambda old: replace(old, text=b"begin")),
    ),
    Fault(
        "error code in BEGIN",
        "event",
        "QUERY_EVENT.error_code",
        None,
        query("one diff", lambda old: replace(old, error_code=1)),
    ),
    Fault(
        "nullable column that is not",
        "event",
        "TABLE_MAP_EVENT.nullable",
        "one diff",
        table_map("one diff", lambda old: replace(old, nullable=(False,) * 5)),
    ),
    Fault(
        "another table name",
        "event",
        "TABLE_MAP_EVENT.table",
        "one diff",
        table_map("one diff", lambda old: replace(old, table="u")),
    ),
    Fault(
        "another schema in TABLE_MAP",
        "event",
        "TABLE_MAP_EVENT.schema",
        "one diff",
        table_map("one diff", lambda old: replace(old, schema="x")),
    ),
    Fault(
        "column of another type",
        "event",
        "TABLE_MAP_EVENT.columns",
        "one diff",
        table_map("one diff", lambda old: replace(old, columns=(*old.columns[:3], old.columns[1], old.columns[4]))),
    ),
    Fault(
        "optional metadata missing",
        "event",
        "TABLE_MAP_EVENT.metadata",
        "one diff",
        table_map("one diff", lambda old: replace(old, metadata=())),
    ),
    Fault(
        "GTID flags",
        "event",
        f"{GTID}.gtid_flags",
        None,
        body("one diff", lambda old: replace(old, gtid_flags=1), where=lambda item: isinstance(item, Gtid)),
    ),
    Fault(
        "transaction_length one too large",
        "event",
        f"{GTID}.transaction_length",
        None,
        body("one diff", lambda old: replace(old, transaction_length=999), where=lambda item: isinstance(item, Gtid)),
    ),
    Fault(
        "original timestamp of a transaction that is not replicated",
        "event",
        f"{GTID}.original_commit_timestamp",
        None,
        body(
            "one diff", lambda old: replace(old, original_commit_timestamp=5), where=lambda item: isinstance(item, Gtid)
        ),
    ),
    # what the client sees
    Fault("no error where one is due", "outcome", "error", "refused", answer("refused", StatementOutcome(0))),
    Fault("another error number", "outcome", "error", "refused", answer("refused", StatementOutcome(0, 3143, "x"))),
    Fault("error out of the blue", "outcome", "error", "one diff", answer("one diff", StatementOutcome(0, 1205, "x"))),
    Fault(
        "one row less changed",
        "outcome",
        "rows changed",
        "two diffs, two rows",
        answer("two diffs, two rows", StatementOutcome(1)),
    ),
    Fault(
        "a row changed where none should",
        "outcome",
        "rows changed",
        "unchanged",
        answer("unchanged", StatementOutcome(1)),
    ),
    Fault("storage size", "size", "j", "one diff", cell("one diff", 0, 0, b"138")),
    Fault("storage size of a NULL", "size", "k", "sql null", cell("sql null", 1, 3, b"0")),
    Fault("free space", "free", "j", "one diff", cell("one diff", 0, 1, b"1")),
    Fault("free space of a document with a hole", "free", "j", "hole", cell("hole", 0, 1, b"0")),
    Fault("text", "text", "j", "one diff", cell("one diff", 0, 2, D.replace("1", "6", 1).encode())),
    Fault(
        "text that differs in a space",
        "text",
        "j",
        "one diff",
        cell("one diff", 0, 2, D.replace("1", "5", 1).replace(": ", ":", 1).encode()),
    ),
    Fault("text null instead of NULL", "text", "k", "sql null", cell("sql null", 1, 5, b"null")),
    Fault("NULL instead of text null", "text", "k", "json null", cell("json null", 0, 5, None)),
    Fault("row that cannot be read back", "text", "rows read back", "one diff", {"client": lose_read_back}),
    # other sessions
    Fault(
        "payload that does not decompress",
        "event",
        "TRANSACTION_PAYLOAD_EVENT",
        None,
        patch(EventType.TRANSACTION_PAYLOAD, broken_frame),
        {"compression": True},
    ),
    Fault(
        "wrong value inside a payload",
        "event",
        f"{P}.rows[0].after.@3",
        "one diff",
        diffs("one diff", lambda old: [old[0]._replace(value=6)]),
        {"compression": True},
    ),
    Fault(
        "event missing inside a payload",
        "events",
        "event types",
        "one diff",
        delete_body("one diff", is_update),
        {"compression": True},
    ),
    Fault(
        "payload's uncompressed size",
        "event",
        "TRANSACTION_PAYLOAD_EVENT",
        None,
        patch(EventType.TRANSACTION_PAYLOAD, lambda event: change_payload(event, uncompressed_size=1)),
        {"compression": True},
    ),
    Fault(
        "payload of unknown compression",
        "event",
        "TRANSACTION_PAYLOAD_EVENT",
        None,
        patch(EventType.TRANSACTION_PAYLOAD, lambda event: change_payload(event, compression=7)),
        {"compression": True},
    ),
    Fault(
        "payload's header flag",
        "event",
        "TRANSACTION_PAYLOAD_EVENT",
        None,
        patch(EventType.TRANSACTION_PAYLOAD, flag_in_header),
        {"compression": True},
    ),
    Fault(
        "wrong checksum of a payload",
        "event",
        "TRANSACTION_PAYLOAD_EVENT",
        None,
        patch(EventType.TRANSACTION_PAYLOAD, broken_checksum),
        {"compression": True},
    ),
    Fault(
        "not compressed though the session says so",
        "events",
        "event types",
        None,
        {"compression": False},
        {"compression": True},
    ),
    Fault("compressed though the session does not say so", "events", "event types", None, {"compression": True}),
    Fault(
        "another text in ROWS_QUERY",
        "event",
        "ROWS_QUERY_LOG_EVENT.text",
        "one diff",
        body("one diff", lambda old: replace(old, text=b"UPDATE"), where=lambda item: isinstance(item, RowsQuery)),
        {"rows_query": True},
    ),
    Fault(
        "column missing in a FULL image",
        "event",
        f"{P}.after_columns",
        "one diff",
        body(
            "one diff",
            lambda old: replace(
                old, after_columns=0x0F, rows=tuple(item._replace(after=item.after[:4]) for item in old.rows)
            ),
        ),
        {"image": RowImage.FULL},
    ),
    Fault(
        "wrong unchanged column in a FULL image",
        "event",
        f"{P}.rows[0].before.@4",
        "one diff",
        row("one diff", lambda old: old._replace(before=(*(old.before or ())[:3], encode(1), None))),
        {"image": RowImage.FULL},
    ),
]


def judged(fault: Fault) -> Judgement:
    """What the judge says about one doctored observation."""
    made = script(**fault.session)
    return judge(made, observe(made, **fault.observation))


def verdict(fault: Fault) -> str:
    """Empty if the fault is caught as it should be, else what is wrong."""
    judgement = judged(fault)
    if not judgement.mismatches:
        return "not caught"
    first = judgement.mismatches[0]
    step = None if fault.step is None else NUMBERS[fault.step]
    if first.kind != fault.kind or not first.field.startswith(fault.field):
        return f"caught as {first.kind} {first.field}: {first.message}"
    if fault.step is not None and first.step != step:
        return f"step {step} is to blame, not {first.step}"
    return ""


def main() -> int:
    """Print what is caught."""
    missed = 0
    for fault in FAULTS:
        try:
            problem = verdict(fault)
        except Exception as error:  # noqa: BLE001 - a judge that breaks has not caught anything
            problem = f"the judge broke: {type(error).__name__}: {error}"
        missed += bool(problem)
        sys.stdout.write(f"{fault.id:60} {problem or 'caught'}\n")
    sys.stdout.write(f"{len(FAULTS) - missed}/{len(FAULTS)} caught/planted\n")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
