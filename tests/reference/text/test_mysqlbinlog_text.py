"""Whole logs as text, against what mysqlbinlog 9.7.4 printed (tests/data/mysqlbinlog)."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import pytest

from conformance.reference.binlog import control_events, statement_events
from conformance.reference.binlog.event import Event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusText
from conformance.reference.binlog.rows import LazyRows, Row, rows_body
from conformance.reference.event_types import MariadbEventType
from conformance.reference.tables import columns as column_types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import Bits, Members, Names, Numbers, PrefixKey
from conformance.reference.text.mysqlbinlog import LogText
from conformance.reference.text.table_metadata import metadata_text
from tests.reference.text.made_logs import insert, table_of

DATA = Path(__file__).parents[2] / "data"
WHOLE = sorted((DATA / "mysqlbinlog").glob("*.whole.txt"))
OWN_COMMENTS = re.compile(rb"^# (?:Not closed: |A relay log, ).*\n", re.MULTILINE)


def whole_text(path: Path, *, types: bool = False, metadata: bool = False) -> bytes:
    text = LogText(types=types, metadata=metadata)
    out = [text.begin()]
    with path.open("rb") as file:
        for event in read_events(file, expand=True):
            out += text.event(event)
    return b"".join([*out, *text.end()])


@pytest.mark.parametrize("golden", WHOLE, ids=lambda path: path.name.partition(".")[0])
def test_whole_logs_print_as_the_client_printed_them(golden: Path) -> None:
    name = golden.name.removesuffix(".whole.txt")
    ours = whole_text(DATA / "binlogs" / f"{name}.binlog", types=True, metadata=True)
    assert OWN_COMMENTS.sub(b"", ours) == golden.read_bytes()


def event_of(body: object, **header: int) -> Event:
    fields = {"timestamp": 1700000000, "type": body.type, "server_id": 1, "length": 99, "log_pos": 99, "flags": 0}  # type: ignore[attr-defined]
    return Event(Header(**{**fields, **header}), body, None, 4)  # type: ignore[arg-type]


def shown(*bodies: object, types: bool = False) -> str:
    text = LogText(types=types)
    return b"".join(piece for body in bodies for piece in text.event(event_of(body))).decode()


def test_session_variables_are_printed_when_they_change() -> None:
    first = shown(Query(text=b"a"))
    for words in ("sql_mode=1168113696", "foreign_key_checks=1, @@session.sql_auto_is_null=0", "pseudo_thread_id=0"):
        assert words in first
    status = (
        StatusInteger(Status.FLAGS2, 1 << 26 | 1 << 14),
        StatusInteger(Status.SQL_MODE, 7),
        StatusIntegers(Status.AUTO_INCREMENT, (3, 2)),
        StatusIntegers(Status.CHARSET, (8, 33, 63)),
        StatusText(Status.TIME_ZONE, b"SYSTEM"),
        StatusInteger(Status.MICROSECONDS, 123),
        StatusInteger(Status.DDL_LOGGED_WITH_XID, 99),
        StatusInteger(Status.SQL_REQUIRE_PRIMARY_KEY, 1),
        StatusInteger(Status.ENABLE_CASCADE_TRIGGERS, 1),
    )
    text = shown(Query(text=b"a"), Query(text=b"b"), Query(text=b"c", status=status, schema=b"a`b"))
    _, second, third = text.split("# at 4\n")[1:]
    assert second == (
        "#231114 22:13:20 server id 1  end_log_pos 99 \tQuery\tthread_id=0\texec_time=0\terror_code=0\n"
        "SET TIMESTAMP=1700000000/*!*/;\nb\n/*!*/;\n"
    )
    assert third.splitlines()[1:] == [
        "use `a``b`/*!*/;",
        "SET TIMESTAMP=1700000000.000123/*!*/;",
        "SET @@session.foreign_key_checks=0, @@session.sql_auto_is_null=1/*!*/;",
        "SET @@session.sql_mode=7/*!*/;",
        "SET @@session.auto_increment_increment=3, @@session.auto_increment_offset=2/*!*/;",
        "/*!\\C latin1 *//*!*/;",
        "SET @@session.character_set_client=8,@@session.collation_connection=33,@@session.collation_server=63/*!*/;",
        "SET @@session.time_zone='SYSTEM'/*!*/;",
        "/*!80013 SET @@session.sql_require_primary_key=1*//*!*/;",
        "/*!90700 SET @@session.enable_cascade_triggers=1*//*!*/;",
        "c",
        "/*!*/;",
    ]


def test_the_statement_of_rows_is_escaped_and_comes_with_vv_only() -> None:
    body = statement_events.RowsQuery(text=b"a\tb\\c'd\re\0\n\nf")
    assert shown(body, types=True).endswith("\tRows_query\n# a\\tb\\\\c'd\\re\\0\n# \n# f\n")
    assert shown(body) == "# at 4\n"


def test_rows_wait_for_the_end_of_their_statement_and_are_never_dropped() -> None:
    table = table_of(ColumnType(column_types.LONG))
    event = insert(table, "00 01000000")
    event.flags = 0
    text = LogText()
    head = b"".join([*text.event(event_of(table)), *text.event(event_of(event))])
    assert b"### " not in head
    assert head.endswith(b"\tWrite_rows: table id 100\n")
    assert b"".join(text.end()).startswith(b"### INSERT INTO `d`.`t`\n")


def test_flags_of_rows_have_the_clients_order() -> None:
    table = table_of(ColumnType(column_types.LONG))
    event = insert(table, "00 01000000")
    event.flags = 0x3F
    assert isinstance(event, LazyRows)
    assert (
        "flags: STMT_END_F NO_FOREIGN_KEY_CHECKS_F RELAXED_UNIQUE_CHECKS_F USE_SQL_FOREIGN_KEY_F COMPLETE_ROWS_F"
        " UNKNOWN_FLAG(0x20)\n"
    ) in shown(event)


def test_rows_of_a_type_that_is_not_mysqls_are_named_as_any_event() -> None:
    table = table_of(ColumnType(column_types.LONG))
    inserted = rows_body(table, MariadbEventType.WRITE_ROWS_COMPRESSED, [Row(None, (1,))])
    assert "WRITE_ROWS_COMPRESSED_EVENT: table id 100 flags: STMT_END_F" in shown(table, inserted)


@pytest.mark.parametrize(("version", "told"), [(80029, False), (80030, True), (None, False), (999999, False)])
def test_whether_a_table_map_tells_of_a_generated_key_depends_on_the_server(version: int | None, told: bool) -> None:
    extra = {} if version is None else {"transaction_length": 9, "immediate_server_version": version}
    gtid = Gtid(uuid=UUID(int=1), gno=1, immediate_commit_timestamp=1, **extra)
    assert ("# has_generated_invisible_primary_key=0" in shown(gtid, table_of(ColumnType(column_types.LONG)))) is told


@pytest.mark.parametrize("gtid", [Gtid(gno=1), GtidTagged(gno=1, tag="t")], ids=["plain", "tagged"])
def test_a_gtid_without_its_transaction_gets_one_at_the_end(gtid: Gtid | GtidTagged) -> None:
    text = LogText()
    list(text.event(event_of(gtid)))
    added = b"BEGIN /*added by mysqlbinlog */ /*!*/;\nROLLBACK /* added by mysqlbinlog */ /*!*/;\n"
    assert b"".join(text.end()).startswith(added)


def test_an_open_transaction_is_rolled_back_at_the_end() -> None:
    text = LogText()
    list(text.event(event_of(Query(text=b"BEGIN"))))
    assert b"ROLLBACK /* added by mysqlbinlog */" in b"".join(text.end())


@pytest.mark.parametrize(("last", "open_at_the_end"), [
    (control_events.Xid(xid=1), False), (Query(text=b"COMMIT"), False),
    (control_events.XaPrepare(gtrid=b"x"), True), (Query(text=b"XA ROLLBACK X'78',X'',1"), False),
        (Query(text=b"XA COMMIT X'78',X'',1"), True)])  # fmt: skip
def test_only_xid_commit_and_rollback_close_what_the_client_calls_open(last: object, open_at_the_end: bool) -> None:
    text = LogText()
    for body in (Query(text=b"XA START X'78',X'',1"), last):
        list(text.event(event_of(body)))
    assert any(piece.startswith(b"ROLLBACK /* added") for piece in text.end()) == open_at_the_end


def test_metadata_of_keys_members_and_invisible_columns() -> None:
    enum = ColumnType(column_types.STRING, column_types.ENUM | 1 << 8)
    table = table_of(
        ColumnType(column_types.LONG),
        enum,
        metadata=[
            Names(("a`b", "e")),
            Members(6, ((b"x'y", b"\0\t"),)),
            Numbers(11, (8,)),
            PrefixKey(((1, 3), (0, 0))),
            Bits(12, (False, True)),
        ],
    )
    assert metadata_text(table).decode() == (
        "# Columns(`a``b` INT INVISIBLE,\n"
        "#         `e` ENUM('x\\'y', '\\0\\t') CHARSET latin1 COLLATE latin1_swedish_ci)\n"
        "# Primary Key(e(3), a`b)\n"
    )


def test_a_generated_key_shows_without_names() -> None:
    table = table_of(
        ColumnType(column_types.LONGLONG), ColumnType(column_types.LONG), metadata=[Bits(1, (True, False))], flags=5
    )
    assert metadata_text(table).decode() == (
        "# Columns(`my_row_id` BIGINT UNSIGNED NOT NULL INVISIBLE AUTO_INCREMENT,\n"
        "#         INT)\n# Primary Key(my_row_id)\n"
    )
