"""Refusals of a double, and their words: from the data, without a server."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.event_types import EventType
from conformance.requirements.versions import SWITCHES, dialect_of, parse_version
from conformance.servers.wire.capture import split_events
from tests.doubles.lacking import lacking
from tests.doubles.log import Writer, whole_groups
from tests.doubles.server import table_of
from tests.doubles.words import Words
from tests.faults.servers.packets import Answer

REAL = "9.7.4-2"
NEAR = (
    "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the "
    "right syntax to use near '{}' at line 1"
)
TABLE = "performance_schema.variables_metadata"
TAGGED = "3e11fa47-71ca-11e1-9e33-c80aa9429562:tag:1"


def words(version: str) -> Words:
    return Words(lacking(version), REAL)


def near(text: str) -> tuple[int, str, str]:
    return 1064, "42000", NEAR.format(text)


def unknown(name: str) -> tuple[int, str, str]:
    return 1193, "HY000", f"Unknown system variable '{name}'"


@pytest.mark.parametrize(
    ("version", "statement", "error"),
    [
        # As 8.0.45 answered: the errors beside its recorded logs.
        ("8.0.45", "create table t(i int, v1 vector(2), v2 vector(5))", near("vector(2), v2 vector(5))")),
        ("8.0.45", "create table t(i int, c vector(3), d vector)", near("vector(3), d vector)")),
        ("8.4.10", "ALTER TABLE t ADD COLUMN v VECTOR(3)", near("VECTOR(3)")),
        ("8.0.45", "SHOW BINARY LOG STATUS", near("LOG STATUS")),
        ("8.0.45", "PREPARE p FROM 'SHOW BINARY LOG STATUS'", near("LOG STATUS")),
        ("8.0.45", "RESET BINARY LOGS AND GTIDS", near("BINARY LOGS AND GTIDS")),
        ("8.0.45", "SELECT @@global.server_memory", unknown("server_memory")),
        ("8.4.10", "SET SESSION sql_mode = '', enable_cascade_triggers = 1", unknown("enable_cascade_triggers")),
        ("8.0.45", "SET gtid_next = 'AUTOMATIC:x'", (1774, "HY000", "Malformed GTID specification 'AUTOMATIC:x'.")),
        ("8.0.45", f"DO GTID_SUBSET('{TAGGED}', '')", (1772, "HY000", f"Malformed GTID set specification '{TAGGED}'.")),
        ("8.4.10", "DO TO_VECTOR('[1]')", (1305, "42000", "FUNCTION TO_VECTOR does not exist")),
        ("8.4.10", f"SELECT * FROM {TABLE}", (1146, "42S02", f"Table '{TABLE}' doesn't exist")),
        ("8.0.45", f"SET gtid_next = '{TAGGED.replace('tag:', '')}'", None),
        ("8.0.45", "INSERT INTO t VALUES ('CREATE TABLE x (v VECTOR(2)), @@server_memory')", None),
        ("8.0.45", "CREATE TABLE `vector` (id INT)", None),
        ("8.4.10", "SHOW BINARY LOG STATUS", None),
        ("8.4.10", "SELECT @@restrict_fk_on_non_standard_key", None),
        ("8.4.10", f"SET gtid_next = '{TAGGED}'", None),
    ],
)
def test_a_version_refuses_what_came_later(version: str, statement: str, error: tuple[int, str, str] | None) -> None:
    assert words(version).error(statement) == error
    assert words(version).sent(statement) == (statement if error is None else "DO 0")
    assert words(version).answered(statement, Answer()).error == error


def test_old_forms_are_sent_as_the_server_knows_them() -> None:
    assert words("8.0.45").sent("SHOW MASTER STATUS") == "SHOW BINARY LOG STATUS"
    assert words("8.0.45").sent("PREPARE p FROM 'RESET MASTER'") == "PREPARE p FROM 'RESET BINARY LOGS AND GTIDS'"
    assert words("8.4.10").sent("SHOW MASTER STATUS") == "SHOW MASTER STATUS"  # which 9.7.4 refuses itself


def test_the_version_stands_in_the_place_of_the_real_one() -> None:
    answer = Answer(columns=("a", "b"), rows=((REAL.encode(), b"x"), (None, f"{REAL}!".encode())))
    assert words("8.0.45").answered("SELECT 1", answer).rows == ((b"8.0.45", b"x"), (None, f"{REAL}!".encode()))


def test_lists_of_variables_have_those_of_the_version() -> None:
    rows = ((b"autocommit", b"ON"), (b"server_memory", b"1"))
    answer = Answer(columns=("Variable_name", "Value"), rows=rows)
    asked = "SHOW GLOBAL VARIABLES LIKE 'binlog_transaction_dependency_%'"
    gone = (b"binlog_transaction_dependency_tracking", b"WRITESET")
    assert words("8.0.45").answered("SHOW VARIABLES", answer).rows == rows[:1]
    assert words("8.0.45").answered(asked, answer).rows == (*rows[:1], gone)
    assert words("8.4.10").answered(asked, answer).rows == rows[:1]


def test_each_fact_names_its_evidence_and_each_row_that_is_left_its_reason() -> None:
    lacks = lacking("8.0.45")
    assert set(lacks.left) <= set(SWITCHES)
    assert all(re.search(r"[a-z]", why) for why in lacks.left.values())
    table = table_of(lacks, (9, 7, 4))
    for name, row in table.items():
        expected = (9, 7, 4) if name in lacks.left else lacks.number
        assert row.at(lacks.number).value == SWITCHES[name].at(expected).value, name


# --- the log ----------------------------------------------------------------------------------------------------------


def writer(version: str) -> Writer:
    number = parse_version(version)
    return Writer(version, number, dialect_of(number))


def test_the_description_is_that_of_the_version() -> None:
    made = writer("8.0.45").event(encode_event(FormatDescription(server_version=REAL)))
    body = decode_event(made, verify=False).body
    assert isinstance(body, FormatDescription)
    assert (body.server_version, len(body.post_header_lengths)) == ("8.0.45", 41)
    assert body.post_header_length(EventType.UPDATE_ROWS_V1) == 8


def test_flags_and_lengths_of_row_events_are_those_of_the_version() -> None:
    rows = bytes(4) + bytes((EventType.UPDATE_ROWS,)) + bytes(14) + bytes(6) + b"\x11\x00" + b"rest"
    assert writer("8.4.10").event(rows)[25] == 0x01
    query = encode_event(RowsQuery(text=b"x" * 300))
    assert writer("8.0.45").event(query)[19] == 300 & 0xFF


_GTID = Gtid(immediate_commit_timestamp=1, transaction_length=300)


def test_a_gtid_names_the_version_and_drops_an_equal_original() -> None:
    gtid = replace(_GTID, immediate_server_version=90704, original_server_version=80045)
    made = decode_event(writer("8.0.45").event(encode_event(gtid)), verify=False).body
    assert isinstance(made, Gtid)
    assert (made.immediate_server_version, made.original_server_version) == (80045, None)


def test_a_compressed_transaction_is_written_as_the_version_writes_it() -> None:
    inner = [encode_event(RowsQuery(text=b"a" * 40)), encode_event(Query(text=b"BEGIN"))]
    bare = [event[:-4] for event in inner]
    sized = [event[:9] + len(event).to_bytes(4, "little") + event[13:] for event in bare]
    payload = TransactionPayload.compress(b"".join(sized))
    made = decode_event(writer("8.0.45").event(encode_event(payload)), verify=False).body
    assert isinstance(made, TransactionPayload)
    first, second = split_events(made.uncompressed())
    assert (first[19], second[19:]) == (40, bare[1][19:])


def test_what_stands_between_transactions_is_a_group_of_its_own() -> None:
    kinds = [15, 35, 33, 2, 16, 4, 34, 2]
    events = [bytes(4) + bytes((kind,)) + bytes(14) for kind in kinds]
    assert [[event[4] for event in group] for group in whole_groups(events)] == [[15], [35], [33, 2, 16], [4], [34, 2]]
