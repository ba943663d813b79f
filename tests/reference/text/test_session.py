"""The lines in front of a statement and of a user variable, as mysqlbinlog prints them: when they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.header import Flag, Header
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusText
from conformance.reference.binlog.statement_events import UserVar, UserVarType
from conformance.reference.event_types import EventType
from conformance.reference.text.session import Session, ddl_xid

if TYPE_CHECKING:
    from conformance.reference.binlog.query import StatusVariable

FIRST = (
    "SET TIMESTAMP=5",
    "SET @@session.pseudo_thread_id=0",
    "SET @@session.auto_increment_increment=1, @@session.auto_increment_offset=1",
    "SET @@session.lc_time_names=0",
    "SET @@session.collation_database=DEFAULT",
)
CHARSET = "SET @@session.character_set_client={},@@session.collation_connection={},@@session.collation_server={}"


def lines(text: bytes) -> list[str]:
    """Without the delimiter that ends each."""
    *found, last = text.decode().split("/*!*/;\n")
    assert last == ""
    return found


def said(
    session: Session, *status: StatusVariable, text: bytes = b"x", schema: bytes = b"", thread: int = 0, flags: int = 0
) -> list[str]:
    header = Header(timestamp=5, type=EventType.QUERY, server_id=1, length=99, log_pos=99, flags=flags)
    return lines(session.statement(header, Query(text=text, schema=schema, thread_id=thread, status=status)))


def integer(code: Status, value: int | None) -> tuple[StatusVariable, ...]:
    return () if value is None else (StatusInteger(code, value),)


def options(**values: int) -> str:
    return "SET " + ", ".join(f"@@session.{name}={value}" for name, value in values.items())


def test_the_first_statement_sets_what_every_statement_has_and_the_next_its_time_alone() -> None:
    session = Session()
    assert said(session) == list(FIRST)
    assert said(session) == ["SET TIMESTAMP=5"]


@pytest.mark.parametrize(
    ("code", "values"),
    [
        # Once, and what is missing has its default.
        (Status.LC_TIME_NAMES, [
            (7, "SET @@session.lc_time_names=7"), (7, ""), (None, "SET @@session.lc_time_names=0"), (0, ""),
        ]),
        (Status.CHARSET_DATABASE, [
            (33, "SET @@session.collation_database=33"), (33, ""), (0, "SET @@session.collation_database=DEFAULT"),
            (None, ""),
        ]),
        # Once, and what is missing stays.
        (Status.SQL_MODE, [(0, "SET @@session.sql_mode=0"), (0, ""), (None, ""), (9, "SET @@session.sql_mode=9")]),
        (Status.DEFAULT_COLLATION_FOR_UTF8MB4, [
            (255, "/*!80011 SET @@session.default_collation_for_utf8mb4=255*/"), (None, ""), (255, ""),
            (45, "/*!80011 SET @@session.default_collation_for_utf8mb4=45*/"),
        ]),
        (Status.FLAGS2, [
            (1 << 26, options(foreign_key_checks=0, sql_auto_is_null=0, unique_checks=1, autocommit=1)),
            (1 << 26 | 1, ""), (None, ""), (1 << 14, options(foreign_key_checks=1, sql_auto_is_null=1)),
            (1 << 14 | 1 << 27, options(unique_checks=0)),
            (1 << 19, options(sql_auto_is_null=0, unique_checks=1, autocommit=0)),
        ]),
        # Every time.
        (Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP, [
            (value, f"SET @@session.explicit_defaults_for_timestamp={value}") for value in (1, 1, 0)
        ]),
        (Status.SQL_REQUIRE_PRIMARY_KEY, [
            (value, f"/*!80013 SET @@session.sql_require_primary_key={value}*/") for value in (1, 1, 0)
        ]),
        (Status.DEFAULT_TABLE_ENCRYPTION, [
            (value, f"/*!80016 SET @@session.default_table_encryption={value}*/") for value in (1, 1, 0)
        ]),
        (Status.ENABLE_CASCADE_TRIGGERS, [
            (1, "/*!90700 SET @@session.enable_cascade_triggers=1*/"), (0, ""),
            (1, "/*!90700 SET @@session.enable_cascade_triggers=1*/"),
        ]),
    ],
    ids=lambda value: value.name.lower() if isinstance(value, Status) else "",
)  # fmt: skip
def test_a_variable_is_set_when_the_client_sets_it(code: Status, values: list[tuple[int | None, str]]) -> None:
    session = Session()
    said(session)
    for value, line in values:
        assert said(session, *integer(code, value)) == ["SET TIMESTAMP=5", *([line] if line else [])]


def test_variables_that_are_no_single_numbers_are_set_when_they_change() -> None:
    session = Session()
    said(session)
    three_two = StatusIntegers(Status.AUTO_INCREMENT, (3, 2))
    increments = "SET @@session.auto_increment_increment={}, @@session.auto_increment_offset={}".format
    assert said(session, three_two)[1:] == [increments(3, 2)]
    assert said(session, three_two)[1:] == []
    assert said(session)[1:] == [increments(1, 1)]
    zone = StatusText(Status.TIME_ZONE, b"+02:00")
    assert said(session, StatusText(Status.CATALOG_NZ, b"std"), zone)[1:] == ["SET @@session.time_zone='+02:00'"]
    assert said(session, zone)[1:] == []
    assert said(session)[1:] == []
    for numbers, before in (((255, 8, 63), ["/*!\\C utf8mb4 */"]), ((9999, 8, 63), [])):
        status = StatusIntegers(Status.CHARSET, numbers)
        assert said(session, status)[1:] == [*before, CHARSET.format(*numbers)]
        assert said(session, status)[1:] == []
        assert said(session)[1:] == []


@pytest.mark.parametrize(("micro", "shown"), [(None, "5"), (0, "5"), (1, "5.000001"), (999_999, "5.999999")])
def test_a_time_has_its_microseconds_if_there_are_any(micro: int | None, shown: str) -> None:
    assert said(Session(), *integer(Status.MICROSECONDS, micro))[0] == f"SET TIMESTAMP={shown}"


def test_a_thread_is_named_first_and_where_a_statement_depends_on_it() -> None:
    session = Session()
    assert "SET @@session.pseudo_thread_id=4" in said(session, thread=4)
    assert said(session, thread=5) == ["SET TIMESTAMP=5"]
    assert said(session, thread=4, flags=Flag.THREAD_SPECIFIC) == ["SET TIMESTAMP=5"]
    assert said(session, thread=6, flags=Flag.THREAD_SPECIFIC)[1:] == ["SET @@session.pseudo_thread_id=6"]
    assert said(session, thread=6, flags=Flag.THREAD_SPECIFIC)[1:] == []


def test_a_schema_is_used_until_another_or_none_is() -> None:
    session = Session()

    def used(schema: bytes, text: bytes = b"x", flags: int = 0) -> list[str]:
        return [line for line in said(session, schema=schema, text=text, flags=flags) if line.startswith("use")]

    assert used(b"a") == ["use `a`"]
    assert used(b"a") == used(b"") == []
    assert used(b"b`c") == ["use `b``c`"]
    # A statement that suppresses the USE makes the next one say it again; what needs no schema does not.
    for text in (b"BEGIN", b"COMMIT", b"ROLLBACK", b"SAVEPOINT `s`", b"XA END X'78',X'',1"):
        assert used(b"d", text, Flag.SUPPRESS_USE) == []
        assert used(b"b`c") == []
    assert used(b"d", b"create database d", Flag.SUPPRESS_USE) == []
    assert used(b"b`c") == ["use `b``c`"]


def test_the_transaction_of_a_ddl_statement() -> None:
    assert ddl_xid(Query(text=b"x", status=integer(Status.DDL_LOGGED_WITH_XID, 77))) == 77
    assert ddl_xid(Query(text=b"x", status=integer(Status.SQL_MODE, 77))) is None


def charsets(client: int, connection: int, server: int) -> list[str]:
    name = {33: "utf8mb3", 255: "utf8mb4"}[client]
    return [f"/*!\\C {name} */", CHARSET.format(client, connection, server)]


INT, REAL, DECIMAL, STRING = UserVarType.INT, UserVarType.REAL, UserVarType.DECIMAL, UserVarType.STRING


@pytest.mark.parametrize(
    ("kind", "value", "flags", "shown"),
    [
        (INT, b"\xff" * 8, 0, "-1"),
        (INT, b"\xff" * 8, None, "-1"),
        (INT, b"\xff" * 8, 1, "18446744073709551615"),
        (INT, b"\xff" * 8, 2, "-1"),
        (INT, b"\x07" + bytes(7), 0, "7"),
        (REAL, b"\0\0\0\0\0\0\xf8\x3f", 0, "1.5"),
        (REAL, bytes.fromhex("9c7500883ce4377e"), 0, "1e+300"),
        (REAL, bytes.fromhex("555555555555d53f"), 0, "0.33333333333333"),
        (DECIMAL, b"\x03\x02\x81\x32", 0, "1.50"),
        (DECIMAL, b"\x01\x00\x85", 0, "5"),
        # The client's words for a value that it cannot show.
        (INT, b"\x01" * 4, 0, "???"),
        (REAL, bytes(4), 0, "???"),
        (DECIMAL, b"\x01\x00", 0, "???"),
        (DECIMAL, b"\x03\x02\x81", 0, "???"),
        (DECIMAL, b"", 0, "???"),
        (3, bytes(8), 0, "???"),
    ],
)
def test_a_user_variable_that_is_a_number(kind: int, value: bytes, flags: int | None, shown: str) -> None:
    variable = UserVar(name=b"v", value=value, kind=kind, collation=63, flags=flags)
    assert lines(Session().user_variable(variable)) == [*charsets(33, 63, 33), f"SET @`v`:={shown}"]


@pytest.mark.parametrize(
    ("value", "collation", "shown"),
    [
        (b"abc", 255, "_utf8mb4 0x616263 COLLATE `utf8mb4_0900_ai_ci`"),
        (b"\xab\xcd\xef", 63, "_binary 0xABCDEF COLLATE `binary`"),
        (b"12345678", 8, "_latin1 0x3132333435363738 COLLATE `latin1_swedish_ci`"),
        (b"", 63, '_binary "" COLLATE `binary`'),
        (b"abc", 9999, "???"),
        (None, 63, "NULL"),
    ],
)
def test_a_user_variable_that_is_a_string(value: bytes | None, collation: int, shown: str) -> None:
    variable = UserVar(name=b"v", value=value, kind=STRING if value is not None else INT, collation=collation)
    assert lines(Session().user_variable(variable)) == [*charsets(33, 33, 33), f"SET @`v`:={shown}"]


@pytest.mark.parametrize("kind", [INT, REAL, DECIMAL, STRING])
def test_a_user_variable_of_an_unknown_collation_is_not_shown(kind: int) -> None:
    variable = UserVar(name=b"v", value=bytes(8), kind=kind, collation=9999)
    assert lines(Session().user_variable(variable)) == [*charsets(33, 33, 33), "SET @`v`:=???"]


def test_a_statement_without_a_schema_makes_the_next_one_name_its_own() -> None:
    session = Session()
    assert said(session, schema=b"d")[0] == "use `d`"
    assert said(session, schema=b"d") == said(session) == ["SET TIMESTAMP=5"]
    assert said(session, schema=b"d") == ["use `d`", "SET TIMESTAMP=5"]


def test_the_same_statement_under_other_flags_is_looked_at_again() -> None:
    session = Session()
    said(session)
    query = Query(text=b"x", thread_id=9, status=())

    def again(flags: int) -> list[str]:
        header = Header(timestamp=5, type=EventType.QUERY, server_id=1, length=99, log_pos=99, flags=flags)
        return lines(session.statement(header, query))

    assert again(0) == again(0) == ["SET TIMESTAMP=5"]
    assert again(Flag.THREAD_SPECIFIC) == ["SET TIMESTAMP=5", "SET @@session.pseudo_thread_id=9"]
    assert again(Flag.THREAD_SPECIFIC) == again(0) == ["SET TIMESTAMP=5"]


def test_the_character_sets_of_a_statement_hold_again_behind_a_user_variable() -> None:
    session = Session()
    said(session, StatusIntegers(Status.CHARSET, (255, 255, 63)))
    text = session.user_variable(UserVar(name=b"a`\xff"))
    assert b"SET @`a``\xff`:=NULL/*!*/;\n" in text
    assert lines(text.replace(b"\xff", b"")) == [*charsets(33, 33, 33), "SET @`a```:=NULL", *charsets(255, 255, 63)]
