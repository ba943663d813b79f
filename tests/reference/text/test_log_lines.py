"""Text that is printed of each kind of event, line by line; lines that wait, and those that the end of a log adds."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from time import gmtime, struct_time
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from conformance.reference.binlog import control_events, statement_events
from conformance.reference.binlog.event import Event, decode_event, encode_event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.group_replication import TransactionContext, ViewChange
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import Checksum, Flag, Header
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.load import DeleteFile, ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.dialect import MYSQL
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.mysqlbinlog import LogText
from tests.reference.refusals import refused, where
from tests.reference.text.made_logs import insert, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = "#231114 22:13:20 server id 1  end_log_pos 99 "
LONG, JSON = ColumnType(types.LONG), ColumnType(types.JSON, 4)
END = (
    "SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ /*!*/;\n"
    "DELIMITER ;\n"
    "# End of log file\n"
    "/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"
    "/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
)


def event(body: Any, *, position: int | None = 4, checksum: int | None = None, **header: int) -> Event:
    fields = {"timestamp": 1700000000, "type": body.type, "server_id": 1, "length": 99, "log_pos": 99, "flags": 0}
    return Event(Header(**{**fields, **header}), body, checksum, position)


def printed(text: LogText, *events: Event) -> str:
    return b"".join(piece for item in events for piece in text.event(item)).decode("utf-8", "surrogateescape")


def end(text: LogText) -> str:
    return b"".join(text.end()).decode()


def body_text(body: Any, **header: int) -> str:
    """Behind the place and the head."""
    found = printed(LogText(), event(body, **header))
    assert found.startswith(f"# at 4\n{HEAD}")
    return found.removeprefix(f"# at 4\n{HEAD}")


PAYLOAD = "\tTransaction_Payload\t\tpayload_size=3\tcompression_type={}\n# Start of compressed events.\n"
INCIDENT = "\n# Incident: LOST_EVENTS\nRELOAD DATABASE; # Shall generate syntax error\n"
BODIES: list[tuple[Any, str]] = [
    (control_events.Stop(), "\tStop\n"),
    (control_events.Rotate(name=b"binlog.000002", position=4), "\tRotate to binlog.000002  pos: 4\n"),
    (control_events.Xid(xid=7), "\tXid = 7\nCOMMIT/*!*/;\n"),
    (
        LoadBlock(type=EventType.BEGIN_LOAD_QUERY, file_id=3, data=b"abc"),
        "\n#Begin_load_query: file_id: 3  block_len: 3\n",
    ),
    (LoadBlock(type=EventType.APPEND_BLOCK, file_id=3, data=b""), "\n#Append_block: file_id: 3  block_len: 0\n"),
    (DeleteFile(file_id=3), "\n#Delete_file: file_id=3\n"),
    (control_events.Incident(number=1, message=b"a\\b\nc"), INCIDENT),
    (ViewChange(view_id=b"v:1"), "View_change_log_event: view_id=v:1\n"),
    (
        TransactionContext(server_uuid=b"uuid", thread_id=5),
        "Transaction_context: server_uuid=uuid\tthread_id=5\n",
    ),
    (control_events.Ignorable(data=b"abc"), "\tIgnorable\n# Unrecognized ignorable event\n"),
    (control_events.Opaque(type=EventType.HEARTBEAT, data=b""), "\tHEARTBEAT_LOG_EVENT\n# not shown\n"),
    (control_events.Opaque(type=99, data=b""), "\tUNKNOWN_EVENT(99)\n# not shown\n"),
    (PreviousGtids(), "\tPrevious-GTIDs\n# [empty]\n"),
    (
        control_events.XaPrepare(gtrid=b"x", bqual=b"\xff", format_id=7),
        "\tXA PREPARE X'78',X'ff',7\nXA PREPARE X'78',X'ff',7\n/*!*/;\n",
    ),
    (
        control_events.XaPrepare(one_phase=True, gtrid=b"x", bqual=b"", format_id=1),
        "\tXA PREPARE X'78',X'',1\nXA COMMIT X'78',X'',1 ONE PHASE\n/*!*/;\n",
    ),
    (
        TransactionPayload(payload=b"abc", compression=UNCOMPRESSED, uncompressed_size=3),
        PAYLOAD.format("NONE"),
    ),
    (
        TransactionPayload(payload=b"abc", uncompressed_size=9),
        PAYLOAD.format("ZSTD\tuncompressed_size=9"),
    ),
    (
        TransactionPayload(payload=b"abc"),
        PAYLOAD.format("ZSTD\tuncompressed_size=0"),
    ),
    (table_of(LONG, name="t`\udcff"), "\tTable_map: `d`.`t`\udcff` mapped to number 100\n"),
    (table_of(LONG, schema="\udcfe"), "\tTable_map: `\udcfe`.`t` mapped to number 100\n"),
]


@pytest.mark.parametrize(
    ("body", "text"), BODIES, ids=[f"{type(body).__name__} {n}" for n, (body, _) in enumerate(BODIES)]
)
def test_an_event_is_printed_in_the_clients_words(body: Any, text: str) -> None:
    assert body_text(body) == text


def test_an_event_that_may_be_ignored_is_said_to_be() -> None:
    ignored = "\tIgnorable\n# Unrecognized ignorable event\n"
    unknown = control_events.Opaque(type=99, data=b"")
    assert body_text(unknown, flags=Flag.IGNORABLE) == ignored
    assert body_text(control_events.Stop(), flags=Flag.IGNORABLE) == "\tStop\n"


def test_a_set_of_gtids_has_a_line_for_each_source() -> None:
    one, other = UUID(int=1), UUID(int=2)
    bodies = decode_event(encode_event(PreviousGtids.parse(f"{one}:1-3,{other}:5"))).body
    assert body_text(bodies) == f"\tPrevious-GTIDs\n# {one}:1-3,\n# {other}:5\n"


def test_a_load_whose_file_was_not_seen_is_printed_only_where_all_is() -> None:
    load = ExecuteLoadQuery(text=b"LOAD DATA INFILE 'x'", file_id=3, start=9, end=20, status=())
    shown = "Execute_load_query"
    assert shown in printed(LogText(), event(load))
    for file_id, code in (
        (4, EventType.BEGIN_LOAD_QUERY),
        (3, EventType.APPEND_BLOCK),
        (3, EventType.BEGIN_LOAD_QUERY),
    ):
        text = LogText(complete=False)
        assert shown not in printed(text, event(load))
        printed(text, event(LoadBlock(type=code, file_id=file_id, data=b"")))
        assert (shown in printed(text, event(load))) is (file_id == 3 and code == EventType.BEGIN_LOAD_QUERY)
        assert shown not in printed(text, event(load))  # the file is loaded by now


def test_file_ids_have_a_sign_but_not_those_of_deleted_files() -> None:
    for file_id, signed in (((1 << 31) - 1, 2147483647), (1 << 31, -2147483648), ((1 << 32) - 1, -1)):
        block = LoadBlock(type=EventType.APPEND_BLOCK, file_id=file_id, data=b"x")
        assert body_text(block) == f"\n#Append_block: file_id: {signed}  block_len: 1\n"
        assert body_text(DeleteFile(file_id=file_id)) == f"\n#Delete_file: file_id={file_id}\n"
        load = ExecuteLoadQuery(text=b"LOAD DATA INFILE 'x'", file_id=file_id, start=9, end=20, status=())
        assert f"# file_id: {signed} \n" in body_text(load)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (statement_events.Intvar(kind=1, value=(1 << 64) - 2), "SET LAST_INSERT_ID=-2"),
        (statement_events.Intvar(kind=2, value=1 << 63), "SET INSERT_ID=-9223372036854775808"),
        (
            statement_events.Rand(seed1=(1 << 63) - 1, seed2=1 << 63),
            "SET @@RAND_SEED1=9223372036854775807, @@RAND_SEED2=-9223372036854775808",
        ),
    ],
)
def test_numbers_of_a_statement_have_a_sign(body: Any, text: str) -> None:
    lines = printed(LogText(), event(body), event(Query(text=b"INSERT", status=()))).splitlines()
    assert f"{text}/*!*/;" in lines


def test_what_waits_is_dumped_where_it_is_printed() -> None:
    intvar, query = event(statement_events.Intvar(kind=2, value=5)), event(Query(text=b"INSERT", status=()))
    text = LogText()
    assert b"".join(text.event(intvar, b"\x55" * 40)) == b"# at 4\n"
    lines = b"".join(text.event(query, b"\x66" * 40)).split(b"Intvar")
    assert (b"55 55 55" in lines[0], b"66 66" in lines[0], b"66 66 66" in lines[1]) == (True, False, True)


def test_a_statement_is_open_while_rows_or_settings_wait() -> None:
    table = table_of(LONG)
    rows = insert(table, "0005000000")
    text = LogText()
    states = [text.inside_statement]
    for body in (
        replace(rows, flags=0), rows, statement_events.Rand(seed1=1, seed2=2), Query(text=b"INSERT", status=()), rows,
    ):  # fmt: skip
        printed(text, event(body))
        states.append(text.inside_statement)
    assert states == [False, True, False, True, False, False]


def test_a_load_statement_says_which_file() -> None:
    body = ExecuteLoadQuery(
        text=b"LOAD DATA INFILE 'x'", file_id=3, start=9, end=20, thread_id=6, execution_time=2, error_code=1, status=()
    )
    head, *lines = body_text(body).splitlines()
    assert head == "\tExecute_load_query\tthread_id=6\texec_time=2\terror_code=1"
    assert lines[:2] == ["SET TIMESTAMP=1700000000/*!*/;", "SET @@session.pseudo_thread_id=6/*!*/;"]
    assert lines[-3:] == ["LOAD DATA INFILE 'x'", "/*!*/;", "# file_id: 3 "]
    assert "/*!*/;" not in lines[2:-3]


@pytest.mark.parametrize(
    ("created", "flags", "lines"),
    [
        (0, 0, ["\n"]),
        (1700000000, 0, [" at startup\n", "ROLLBACK/*!*/;\n"]),
        (1700000000, Flag.ARTIFICIAL, [" at startup\n"]),
        (1700000000, Flag.RELAY_LOG, [" at startup\n", "# A relay log, begun by the replica itself.\n"]),
        (0, Flag.IN_USE, ["\n", "# Not closed: the server was writing it, or ended without closing it.\n"]),
        (0, Flag.RELAY_LOG, ["\n", "# A relay log, begun by the replica itself.\n"]),
    ],
)
def test_the_beginning_of_a_file(created: int, flags: int, lines: list[str]) -> None:
    body = FormatDescription(server_version="9.7.4-\udcff", created=created)
    first = "\tStart: binlog v 4, server v 9.7.4-\udcff created 231114 22:13:20"
    assert body_text(body, flags=flags) == first + "".join(lines)


def test_the_checksum_of_the_beginning_is_shown_if_what_follows_has_one() -> None:
    for algorithm, shown in ((Checksum.CRC32, "CRC32 0x000000ff "), (Checksum.NONE, "")):
        found = printed(LogText(), event(FormatDescription(algorithm=algorithm), checksum=255))
        assert found.startswith(f"# at 4\n{HEAD}{shown}\tStart: ")
    assert printed(LogText(), event(control_events.Stop(), checksum=255, position=None)) == (
        f"# at 0\n{HEAD}CRC32 0x000000ff \tStop\n"
    )


GTID_NAME = "00000000-0000-0000-0000-000000000001:7"
EPOCH = "1970-01-01 00:00:0{}.000000 UTC"


@pytest.mark.parametrize(
    ("body", "head", "times", "versions", "name"),
    [
        # Nothing but the GTID, as the first servers wrote it.
        (
            Gtid(
                uuid=UUID(int=1), gno=7, last_committed=None, sequence_number=None, immediate_commit_timestamp=None,
                transaction_length=None, immediate_server_version=None,
            ),
            "GTID\tlast_committed=0\tsequence_number=0", (0, 0, 0), (0, 0), GTID_NAME,
        ),
        # Times and no version: a server that cannot be told.
        (
            Gtid(
                uuid=UUID(int=1), gno=7, last_committed=2, sequence_number=3, immediate_commit_timestamp=1_000_000,
                transaction_length=88, immediate_server_version=None,
            ),
            "GTID\tlast_committed=2\tsequence_number=3", (1_000_000, 1_000_000, 88), (999999, 999999), GTID_NAME,
        ),
        (
            Gtid(
                type=EventType.ANONYMOUS_GTID, gno=0, immediate_commit_timestamp=2_000_000,
                original_commit_timestamp=1_000_000, transaction_length=88, immediate_server_version=90704,
                original_server_version=80036,
            ),
            "Anonymous_GTID\tlast_committed=0\tsequence_number=1", (1_000_000, 2_000_000, 88), (80036, 90704),
            "ANONYMOUS",
        ),
        (
            GtidTagged(uuid=UUID(int=1), gno=7, tag="a", immediate_commit_timestamp=1_000_000, transaction_length=88),
            "GTID\tlast_committed=0\tsequence_number=1", (1_000_000, 1_000_000, 88), (90704, 90704),
            GTID_NAME.replace(":", ":a:"),
        ),
    ],
)  # fmt: skip
def test_a_gtid_says_where_and_when_its_transaction_was_committed(
    body: Any, head: str, times: tuple[int, int, int], versions: tuple[int, int], name: str
) -> None:
    original, immediate, length = times
    for flags, word in ((0, "yes"), (1, "no")):
        stamps = f"original_committed_timestamp={original}\timmediate_commit_timestamp={immediate}"
        lines = [
            f"\t{head}\trbr_only={word}\t{stamps}\ttransaction_length={length}\n",
            "" if flags else "/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*//*!*/;\n",
            f"# original_commit_timestamp={original} ({EPOCH.format(original // 1_000_000)})\n",
            f"# immediate_commit_timestamp={immediate} ({EPOCH.format(immediate // 1_000_000)})\n",
            f"/*!80001 SET @@session.original_commit_timestamp={original}*//*!*/;\n",
            f"/*!80014 SET @@session.original_server_version={versions[0]}*//*!*/;\n",
            f"/*!80014 SET @@session.immediate_server_version={versions[1]}*//*!*/;\n",
            f"SET @@SESSION.GTID_NEXT= '{name}'/*!*/;\n",
        ]
        assert body_text(replace(body, gtid_flags=flags)) == "".join(lines)


def test_other_clocks_have_their_own_zones() -> None:
    def clock_of(zone: str) -> Callable[[float], struct_time]:
        return lambda seconds: struct_time((*gmtime(seconds)[:9], zone, 0))

    body = Gtid(gno=1, immediate_commit_timestamp=1_000_002, transaction_length=9)
    for zone, shown in (("GMT", "UTC"), ("UTC", "UTC"), ("CET", "CET")):
        text = printed(LogText(clock=clock_of(zone)), event(body))
        assert f"# immediate_commit_timestamp=1000002 (1970-01-01 00:00:01.000002 {shown})\n" in text


def test_without_options_there_are_no_statements_of_rows_and_no_columns() -> None:
    rows_query, table = event(statement_events.RowsQuery(text=b"a\bb")), event(table_of(LONG))
    assert printed(LogText(), rows_query) == "# at 4\n"
    assert printed(LogText(), table) == f"# at 4\n{HEAD}\tTable_map: `d`.`t` mapped to number 100\n"
    assert printed(LogText(types=True), rows_query) == f"# at 4\n{HEAD}\tRows_query\n# a\\bb\n"
    assert printed(LogText(metadata=True), table).endswith(" mapped to number 100\n# Columns(INT)\n")


@pytest.mark.parametrize(("flags", "told"), [(1, 0), (5, 1)])
def test_a_table_map_tells_of_a_generated_key(flags: int, told: int) -> None:
    gtid = Gtid(gno=1, immediate_commit_timestamp=1, transaction_length=9, immediate_server_version=90704)
    text = printed(LogText(), event(gtid), event(table_of(LONG, flags=flags)))
    assert text.endswith(f" mapped to number 100\n# has_generated_invisible_primary_key={told}\n")


def test_a_log_of_nothing_has_its_first_and_last_lines() -> None:
    assert end(LogText()) == END
    text = LogText()
    printed(text, event(Query(text=b"BEGIN")), event(control_events.Xid(xid=1)))
    assert end(text) == END


def test_what_a_statement_needs_waits_for_it_or_for_the_end() -> None:
    waiting = [
        event(statement_events.Intvar(kind=statement_events.IntvarKind.LAST_INSERT_ID, value=5)),
        event(statement_events.Intvar(kind=statement_events.IntvarKind.INSERT_ID, value=6)),
        event(statement_events.Rand(seed1=1, seed2=2)),
    ]
    lines = (
        f"{HEAD}\tIntvar\nSET LAST_INSERT_ID=5/*!*/;\n{HEAD}\tIntvar\nSET INSERT_ID=6/*!*/;\n"
        f"{HEAD}\tRand\nSET @@RAND_SEED1=1, @@RAND_SEED2=2/*!*/;\n"
    )
    text = LogText()
    assert printed(text, *waiting) == "# at 4\n" * 3
    assert printed(text, event(Query(text=b"x"))).startswith(f"# at 4\n{lines}{HEAD}\tQuery\t")
    assert end(text) == END
    assert printed(text, *waiting) == "# at 4\n" * 3
    assert end(text) == lines + END


def test_rows_that_were_read_are_printed_when_reading_failed() -> None:
    rows = insert(table_of(LONG), "00 01000000")
    rows.flags = 0
    text = LogText()
    assert printed(text, event(rows)) == f"# at 4\n{HEAD}\tWrite_rows: table id 100\n"
    assert b"".join(text.failed()) == b"### INSERT INTO `d`.`t`\n### SET\n###   @1=1\n"
    assert b"".join(text.failed()) == b""
    assert end(text) == END


def test_old_clients_know_one_flag_of_rows() -> None:
    server = replace(MYSQL.server, mysqlbinlog_flags="STMT_END_F")
    for flags, words in ((0x3F, " flags: STMT_END_F"), (0x3E, "")):
        rows = insert(table_of(LONG), "00 01000000")
        rows.flags = flags
        found = printed(LogText(server=server), event(rows))
        assert found.splitlines()[1] == f"{HEAD}\tWrite_rows: table id 100{words}"


def test_a_document_whose_bytes_a_client_prints_is_refused() -> None:
    server = replace(MYSQL.server, mysqlbinlog_json="bytes")
    text = LogText(server=server)
    error = refused(printed, text, event(insert(table_of(JSON), "00 02000000 0400")))
    assert where(error) == ("json-as-bytes", None, "")
    assert "###   @1=1\n" in printed(LogText(server=server), event(insert(table_of(LONG), "00 01000000")))
    rows = insert(table_of(JSON), "00 02000000 0400")
    rows.table = None
    assert where(refused(printed, LogText(server=server), event(rows)))[0] == "no-table-map"


def test_events_of_a_payload_have_the_checksums_with_which_they_would_be_written() -> None:
    bodies: list[Query | control_events.Xid] = [Query(text=b"BEGIN", status=()), control_events.Xid(xid=1)]
    inner = b"".join(
        encode_event(body, timestamp=1700000000, server_id=3, flags=0x0208, algorithm=Checksum.NONE) for body in bodies
    )
    whole = [encode_event(body, timestamp=1700000000, server_id=3, flags=0x0208) for body in bodies]
    payload = TransactionPayload(payload=inner, compression=UNCOMPRESSED)
    start = encode_event(FormatDescription(), log_pos=None, start=4)
    file = b"\xfebin" + start + encode_event(payload, log_pos=None, start=4 + len(start))
    file += encode_event(control_events.Stop(), log_pos=None, start=len(file))
    text = LogText()
    lines = printed(text, *read_events(BytesIO(file), expand=True)).splitlines()
    sums = [f"CRC32 0x{int.from_bytes(event[-4:], 'little'):08x} " for event in whole]
    heads = [line for line in lines if "server id 3" in line]
    last = len(file) - 23
    assert [line.partition("\t")[0] for line in heads] == [
        f"#231114 22:13:20 server id 3  end_log_pos {last} {checksum}" for checksum in sums
    ]
    assert lines.count(f"# at {last}") == 3  # the two events of the payload, and the one behind it
    assert lines.index("# End of compressed events.") == len(lines) - 3


@pytest.mark.parametrize(
    ("log_pos", "sums"),
    [
        (0, ["4bc3f4ab", "70e9f955", "daf930ec", "e80858a5"]),
        (777, ["a04223a0", "552499f1", "784b345e", "fb94cb2b"]),
    ],
)
def test_the_checksums_inside_a_payload_are_those_that_mysqlbinlog_showed(log_pos: int, sums: list[str]) -> None:
    """Checksums are of the events as they stand there, with their own positions: servers write 0, other writers may
    not."""
    table = TableMap(table_id=7, schema="d", table="t", columns=(LONG,), nullable=(True,))
    rows = rows_body(table, EventType.WRITE_ROWS, [Row(None, (5,))])
    bodies = (Query(text=b"BEGIN", schema=b"d"), table, rows, control_events.Xid(xid=3))
    inner = b"".join(
        encode_event(body, timestamp=1700000000, log_pos=log_pos, algorithm=Checksum.NONE) for body in bodies
    )
    writer = FileWriter()
    file = writer.start() + writer.add(TransactionPayload(payload=inner, compression=UNCOMPRESSED))
    lines = printed(LogText(), *read_events(BytesIO(file), expand=True)).splitlines()
    heads = [line for line in lines if line.startswith("#231114 22:13:20 server id 1 ")]
    assert [line.partition("CRC32 0x")[2][:8] for line in heads] == sums
