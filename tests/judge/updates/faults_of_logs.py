"""Faults around the rows: frames of events, transactions, what the client sees, other sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.cases.observation import StatementOutcome
from conformance.cases.row_images import RowImage
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.query import Query, Status
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.table_map import TableMap
from tests.judge.doctoring import (
    GTID,
    PARTIAL,
    D,
    Fault,
    P,
    answer,
    append_to_payload,
    as_update_rows,
    body,
    broken_checksum,
    broken_frame,
    cell,
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
    query,
    row,
    sealed,
    status,
    table_map,
    types_lie,
)
from tests.judge.perfect_server import is_update

LOG_FAULTS: Final = [
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
        f"{P}.rows[0].after.j",
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
        "bytes behind the last event of a payload",
        "events",
        "event types",
        None,
        patch(EventType.TRANSACTION_PAYLOAD, lambda event: append_to_payload(event, b"\0" * 5)),
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
        f"{P}.rows[0].before.k",
        "one diff",
        row("one diff", lambda old: old._replace(before=(*(old.before or ())[:3], encode(1), None))),
        {"image": RowImage.FULL},
    ),
]
