"""Logs that no server writes so, printed by us and by mysqlbinlog itself: events of all kinds but rows, tables."""

from __future__ import annotations

import os
import subprocess
from io import BytesIO
from itertools import product
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries.marked_files import OTHER_WORDS
from conformance.reference.binlog.control_events import Heartbeat, Ignorable, Incident, XaPrepare, Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import NIL_UUID, Gtid, GtidTagged
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.load import DeleteFile, ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.query import Query, Status, StatusInteger
from conformance.reference.binlog.statement_events import Intvar, Rand, UserVar, UserVarType
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import JSON, LONG, LONGLONG, YEAR, ColumnType
from conformance.reference.tables.metadata import Bits, Field, Names, Numbers
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap
from conformance.reference.text.mysqlbinlog import LogText
from fuzz.sound import events as sound
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reference.binlog.event import Body
    from conformance.reference.tables.metadata import MetadataField
    from generators.draw import Draw

pytestmark = pytest.mark.live
_LOGS: Final = 150
_WIDE: Final = (0, 1, 5, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
_LOAD: Final = b"LOAD DATA INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ','"
_FLAGS: Final = (None, None, 0, *map(int, Flag))
_TEXTS: Final = (
    b"BEGIN", b"COMMIT", b"ROLLBACK", b"SAVEPOINT `a`", b"rollback to x", b"XA START X'61',X'',1", b"CREATE DATABASE x",
    b"DROP DATABASE x", b"/* c */ INSERT", b"a;b\nDELIMITER x", b"\xff\xfe", b"",
)  # fmt: skip


def body(draw: Draw) -> Body:
    """A body: as a server writes it, or with values that none writes."""
    match draw.below(10):
        case 0:
            return Query(
                text=draw.choice(_TEXTS), schema=draw.choice((b"", b"d", b"e", b"a`b", b"\xff")),
                thread_id=draw.choice((0, (1 << 32) - 1)), error_code=draw.choice((0, 1062, 65535)),
            )  # fmt: skip
        case 1:
            return Intvar(kind=1 + draw.below(2), value=draw.choice(_WIDE))
        case 2:
            return Rand(seed1=draw.choice(_WIDE), seed2=draw.choice(_WIDE))
        case 3:
            return UserVar(
                name=b"v", kind=draw.choice((UserVarType.INT, UserVarType.STRING, UserVarType.REAL)),
                value=draw.choice((None, bytes(8), b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")),
                collation=draw.choice((0, 33, 63, 255, 9999)), flags=draw.below(2),
            )  # fmt: skip
        case 4:
            prepare = XaPrepare(format_id=(1 << 32) - 1, gtrid=b"\xff", bqual=b"")
            others: tuple[Body, ...] = (Incident(message=b"lost"), Ignorable(data=b"text"), prepare)
            return draw.choice(others)
        case 5:
            versions = (0, 50700, 80029, 80030, 999999)
            return Gtid(
                uuid=NIL_UUID, gno=1 + draw.below(9), gtid_flags=draw.below(256), last_committed=draw.choice(_WIDE),
                immediate_commit_timestamp=draw.choice((0, 1, 1_700_000_000_123_456)),
                original_commit_timestamp=draw.choice((None, 0, 1_600_000_000_000_001)),
                transaction_length=draw.bits(40), immediate_server_version=draw.choice(versions),
                original_server_version=draw.choice((None, *versions)),
            )  # fmt: skip
        case 6:
            return GtidTagged(gno=draw.choice((1, 0, -5, 1 << 62)), tag=draw.choice((None, "", "a")), gtid_flags=None)
        case _:
            return sound.event(draw)


def log(seed: int) -> bytes:
    """Some events; those that only prepare a statement have one."""
    draw, writer = Stream("text/made-logs", seed), FileWriter()
    data = writer.start()

    def add(event: Body, flags: int | None, log_pos: int | None) -> bytes:
        timestamp = draw.choice((0, 1, 1_700_000_000, (1 << 32) - 1))
        return encode_event(event, timestamp=timestamp, flags=flags, log_pos=log_pos, start=len(data), server_id=7)

    for event in bodies(draw):
        data += add(event, draw.choice(_FLAGS), draw.choice((None, None, 0, 5, (1 << 32) - 1)))
        if isinstance(event, (Intvar, Rand, UserVar)):
            data += add(Query(text=b"INSERT INTO t VALUES (1)", schema=b"d"), None, None)
    if draw.below(4) == 0:
        data += add(Heartbeat(name=b"binlog.000001"), int(Flag.IGNORABLE), None)
    return data


def bodies(draw: Draw) -> Iterator[Body]:
    for _ in range(1 + draw.below(12)):
        event = body(draw)
        # Starts of files, and what belongs to a file that a load brings along, have tests of their own.
        if not isinstance(event, (FormatDescription, LoadBlock, ExecuteLoadQuery)):
            yield event


def both(mysqlbinlog: list[str], data: bytes, place: Path, *, complete: bool = True) -> tuple[bytes, bytes] | None:
    """Our text and the client's; ``None`` for a log that the client refuses."""
    path = place / "made.binlog"
    path.write_bytes(data)
    command = [*mysqlbinlog, "--no-defaults", "-vv", "--base64-output=decode-rows", "--print-table-metadata"]
    command += [f"--local-load={place}", str(path)]
    done = subprocess.run(command, env={**os.environ, "TZ": "UTC"}, capture_output=True, check=False)
    if done.returncode:
        return None
    text = LogText(types=True, metadata=True, complete=complete)
    pieces = [piece for event in read_events(BytesIO(data), expand=True) for piece in text.event(event)]
    ours = b"".join([text.begin(), *pieces, *text.end()])
    return OTHER_WORDS.sub(b"", ours), OTHER_WORDS.sub(b"", done.stdout)


def test_logs_that_no_server_writes_are_printed_as_the_client_prints_them(
    mysqlbinlog: list[str], tmp_path: Path
) -> None:
    printed = 0
    for seed in range(_LOGS):
        texts = both(mysqlbinlog, log(seed), tmp_path)
        if texts is not None:  # some bodies are refused
            assert texts[0] == texts[1], seed
            printed += 1
    assert printed > _LOGS // 2


def test_starts_of_files_are_printed_as_the_client_prints_them(mysqlbinlog: list[str], tmp_path: Path) -> None:
    for version, created, flag in product(("9.7.4", "5.6.51", "5.1.73"), (0, 1, (1 << 32) - 1), (0, *Flag)):
        data = FileWriter().start()[:4]
        for timestamp in (0, 1_700_000_000):
            start = FormatDescription(server_version=version, created=created)
            data += encode_event(start, timestamp=timestamp, flags=int(flag), log_pos=None, start=len(data))
        texts = both(mysqlbinlog, data, tmp_path)
        assert texts is not None
        assert texts[0] == texts[1], (version, created, flag)


def loads(seed: int) -> bytes:
    """Blocks of files, statements that load them (some twice, some without a file), and files that are deleted."""
    draw, writer = Stream("text/made-loads", seed), FileWriter()
    data = writer.start()
    for _ in range(1 + draw.below(7)):
        file_id = draw.choice((1, 1, 2, (1 << 32) - 1))
        events: tuple[Body, ...] = (
            LoadBlock(type=EventType.BEGIN_LOAD_QUERY, file_id=file_id, data=draw.choice((b"", b"x,y\n", b"\xff" * 9))),
            LoadBlock(type=EventType.APPEND_BLOCK, file_id=file_id, data=b"z"),
            ExecuteLoadQuery(text=_LOAD, file_id=file_id, start=10, end=20, duplicates=draw.below(3)),
            ExecuteLoadQuery(text=_LOAD, file_id=file_id, start=10, end=20, schema=b"d", error_code=1062),
            DeleteFile(file_id=file_id),
            Query(text=b"COMMIT"),
        )
        data += encode_event(draw.choice(events), timestamp=1_700_000_000, log_pos=None, start=len(data))
    return data


def test_loads_are_printed_as_the_client_prints_them(mysqlbinlog: list[str], tmp_path: Path) -> None:
    for seed in range(_LOGS):
        texts = both(mysqlbinlog, loads(seed), tmp_path, complete=False)
        assert texts is not None
        assert texts[0] == texts[1], seed


@pytest.mark.parametrize(
    ("start", "end", "duplicates"),
    [(20, 20, 2), (20, 0, 0), (0, 20, 1), (21, 20, 0), (0, 21, 0), (0, 20, 3), ((1 << 32) - 1, 0, 0)],
)
def test_the_client_refuses_the_load_statements_that_we_refuse(
    mysqlbinlog: list[str], start: int, end: int, duplicates: int, tmp_path: Path
) -> None:
    writer = FileWriter()
    data = writer.start()
    data += encode_event(LoadBlock(type=EventType.BEGIN_LOAD_QUERY, file_id=1, data=b"x"), start=len(data))
    statement = ExecuteLoadQuery(text=b"x" * 20, file_id=1, start=start, end=end, duplicates=duplicates)
    data += encode_event(statement, start=len(data))
    if max(start, end) <= 20 and duplicates <= 2:
        assert both(mysqlbinlog, data, tmp_path) is not None
        return
    assert both(mysqlbinlog, data, tmp_path) is None
    with pytest.raises(DecodeError, match="out-of-range"):
        list(read_events(BytesIO(data)))


def test_modes_that_8_0_does_not_have_are_masked_as_the_client_masks_them(
    mysqlbinlog: list[str], tmp_path: Path
) -> None:
    writer = FileWriter()
    data = writer.start()
    for mode in (*(1 << bit for bit in range(40)), 0, (1 << 40) - 1, 1436549152):
        data += writer.add(Query(text=b"BEGIN", status=(StatusInteger(Status.SQL_MODE, mode),))) + writer.add(
            Xid(xid=1)
        )
    texts = both(mysqlbinlog, data, tmp_path)
    assert texts is not None
    assert texts[0] == texts[1]
    assert b"SET @@session.sql_mode=1436549152/*!80005 &~0x1003ff00*//*!*/;\n" in texts[0]
    assert texts[0].count(b"&~0x1003ff00") == 13


@pytest.mark.parametrize("number", [0, 2, 65535])
def test_the_client_refuses_the_incidents_that_we_refuse(mysqlbinlog: list[str], number: int, tmp_path: Path) -> None:
    data = FileWriter().start()
    data += encode_event(Incident(number=number), start=len(data))
    assert both(mysqlbinlog, data, tmp_path) is None
    with pytest.raises(DecodeError, match="no-incident"):
        list(read_events(BytesIO(data)))


@pytest.mark.parametrize("kind", [LONGLONG, LONG, YEAR, JSON])
def test_a_generated_key_is_described_as_the_client_describes_it(
    mysqlbinlog: list[str], kind: int, tmp_path: Path
) -> None:
    """With and without each field of the metadata; servers generate keys of one form alone."""
    column, writer = ColumnType(kind, 4 if kind == JSON else 0), FileWriter()
    numbers = 2 if column.is_numeric else 1
    data = writer.start()
    for nullable, unsigned, visible, key, names in product(
        (False, True), (None, False, True), (None, False, True), (None, 0, 1), (False, True)
    ):
        fields: list[MetadataField] = []
        if unsigned is not None:
            fields.append(Bits(Field.SIGNEDNESS, (unsigned,) * numbers))
        if names:
            fields.append(Names(("k", "v")))
        if key is not None:
            fields.append(Numbers(Field.SIMPLE_PRIMARY_KEY, (key,)))
        if visible is not None:
            fields.append(Bits(Field.COLUMN_VISIBILITY, (visible, True)))
        table = TableMap(
            table_id=7, schema="d", table="t", columns=(column, ColumnType(LONG)), nullable=(nullable, True),
            metadata=tuple(fields), flags=GENERATED_INVISIBLE_PK | 1,
        )  # fmt: skip
        gtid = Gtid(uuid=NIL_UUID, gno=1, immediate_commit_timestamp=1, transaction_length=1,
                    immediate_server_version=90704)  # fmt: skip
        data += writer.add(gtid) + writer.add(Query(text=b"BEGIN")) + writer.add(table) + writer.add(Xid(xid=1))
    texts = both(mysqlbinlog, data, tmp_path)
    assert texts is not None
    assert texts[0] == texts[1]
    assert texts[0].count(b"# Columns(") == 108
