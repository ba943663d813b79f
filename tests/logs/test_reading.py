"""Row changes as objects: no digit of a number is lost."""

from __future__ import annotations

from decimal import Decimal

from conformance import dialect, read_rows
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_from_text
from conformance.reference.tables.definitions import Column, Table, table_map
from tests.written_logs import log_file, row_group

LONG = "123456789012345678.123456789012345678"


def test_a_number_that_no_float_holds_is_a_decimal() -> None:
    table = table_map(Table(schema="d", name="t", columns=(Column(name="j", type="JSON"),)))
    document = encode([decimal_from_text(LONG), decimal_from_text("1.50"), 0.1, 1e300])
    insert = rows_body(table, EventType.WRITE_ROWS, [Row(None, (document,))])
    log = log_file("9.7.4", dialect("9.7.4"), row_group(table, insert))
    (row,) = read_rows(log)
    found = row["after"]["@1"]["json"]
    assert found == [Decimal(LONG), 1.5, 0.1, 1e300]
    assert [type(number) for number in found] == [Decimal, float, float, float]
