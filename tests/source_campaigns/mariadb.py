"""MariaDB's replica behind the lab's source: a subject of its own, as it knows only a part of MySQL's log."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.query import DEFAULT_STATUS, Query, Status, StatusIntegers
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import Column, Table, create_table, table_map
from conformance.servers.source.log_files import LogFiles
from conformance.servers.source.login import NATIVE, Account
from conformance.servers.source.server import Source
from generators.draw import Stream
from tests.mariadb.server import server
from tests.servers.source.made import UUID_ONE

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body
    from conformance.servers.wire.connection import Connection

FILE: Final = "binlog.000001"
NOT_COMPARABLE: Final = {
    "partial": "PARTIAL_UPDATE_ROWS events (39)",
    "compressed": "TRANSACTION_PAYLOAD events (40)",
    "tagged": "GTID_TAGGED events (42)",
    "collation": "collations of MySQL 8.0, such as utf8mb4_0900_ai_ci, in QUERY events",
}
_GENERAL: Final = 45  # utf8mb4_general_ci, which both servers have
_TIME: Final = 1_700_000_000
_TABLE: Final = Table(
    schema="lab",
    name="t",
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="v", type="BIGINT", unsigned=True),
        Column(name="w", type="VARCHAR", length=40),
    ),
    primary_key=((0, 0),),
)


@dataclass(slots=True)
class Result:
    """The result of a replica that follows the logs. ``refused``: the error with which it stops at what it does not
    know."""

    version: str = ""
    changes: int = 0
    rows: int = 0
    problems: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def run(changes: int, seed: str = "1") -> Result:
    """Let MariaDB follow row changes, and then each thing that it does not know."""
    result = Result()
    with server() as session:
        result.version = str(session.execute("SELECT VERSION()").scalar())
        log, rows = _log(Stream("mariadb", seed), changes)
        error = follow(session, log)
        found = [tuple(row) for row in session.execute("SELECT * FROM lab.t ORDER BY id").texts()] if not error else []
        result.changes, result.rows = changes, len(rows)
        if error:
            result.problems.append(error)
        elif found != (wanted := [tuple(None if v is None else str(v) for v in row) for row in rows]):
            pair = next((p for p in zip(found, wanted, strict=False) if p[0] != p[1]), (len(found), len(wanted)))
            result.problems.append(f"{pair[0]} and {pair[1]}")
        for what in NOT_COMPARABLE:
            result.refused[what] = follow(session, _unknown(what)) or "no error"
    return result


def follow(session: Connection, log: bytes) -> str:
    """Replicate a log; the error with which the replica stopped."""
    account = Account(password="p", method=NATIVE)
    with Source(LogFiles.of_bytes([(FILE, log)]), account=account, tls=False) as source:
        session.execute(
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='lab', "
            f"MASTER_PASSWORD='p', MASTER_LOG_FILE='{FILE}', MASTER_LOG_POS=4, MASTER_USE_GTID=no"
        )
        session.execute("START SLAVE")
        deadline, error = time.monotonic() + 900, "late"
        while time.monotonic() < deadline:
            row = session.execute("SHOW SLAVE STATUS").named()[0]
            error = str(row["Last_SQL_Error"] or row["Last_IO_Error"] or "")
            if error or int(row["Exec_Master_Log_Pos"] or 0) >= len(log):
                break
            error = "late"
            time.sleep(0.05)
        session.execute("STOP SLAVE")
        session.execute("RESET SLAVE ALL")
        return error


class _Writer:
    """A log in words that both servers know, unless a body says otherwise."""

    def __init__(self) -> None:
        self._file = FileWriter(timestamp=_TIME, server_id=93)
        self._number = 0
        self.log = self._file.start()

    def group(self, *bodies: Body, tag: str = "") -> None:
        self._number += 1
        clock = {"immediate_commit_timestamp": _TIME * 10**6, "immediate_server_version": 90704}
        gtid = (
            GtidTagged(uuid=UUID_ONE, gno=self._number, tag=tag, last_committed=0, sequence_number=1, **clock)
            if tag
            else Gtid(uuid=UUID_ONE, gno=self._number, **clock)
        )
        self.log += self._file.group(gtid, bodies)

    def compressed(self, *bodies: Body) -> None:
        self.group(self._file.compressed(bodies))


def _query(text: str, *, known: bool = True) -> Query:
    status = tuple(
        StatusIntegers(Status.CHARSET, (_GENERAL,) * 3)
        if isinstance(item, StatusIntegers) and item.code == Status.CHARSET and known
        else item
        for item in DEFAULT_STATUS
        if not known or item.code != Status.DEFAULT_COLLATION_FOR_UTF8MB4
    )
    return Query(text=text.encode(), schema=b"lab", status=status)


def _log(draw: Stream, changes: int) -> tuple[bytes, list[tuple[object, ...]]]:
    """A log of single-row changes, and the rows at its end, kept in a dictionary."""
    writer, shape = _Writer(), table_map(_TABLE, table_id=90)
    writer.group(_query("CREATE DATABASE IF NOT EXISTS lab"))
    writer.group(_query(create_table(_TABLE, qualified=True)))
    rows: dict[int, tuple[object, ...]] = {}
    for number in range(changes):
        part = draw.fork(number)
        new = (number, part.below(1 << 63), None if part.below(8) == 7 else "w" * part.below(40))
        old = rows.pop(part.choice(sorted(rows)), None) if rows and part.below(2) else None
        remove = old is not None and part.below(3) == 2
        if not remove:
            rows[number] = new
        code = EventType.DELETE_ROWS if remove else EventType.UPDATE_ROWS if old else EventType.WRITE_ROWS
        images = [None if image is None else _image(image) for image in (old, None if remove else new)]
        body = rows_body(shape, code, [Row(images[0], images[1])])  # type: ignore[arg-type]
        writer.group(_query("BEGIN"), shape, body, Xid(xid=number))
    return writer.log, [rows[key] for key in sorted(rows)]


def _image(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(value.encode() if isinstance(value, str) else value for value in row)


def _unknown(what: str) -> bytes:
    """A log with one transaction that MariaDB does not know."""
    writer, shape = _Writer(), table_map(_TABLE, table_id=90)
    image = (10**6, 1, b"x")
    code = EventType.PARTIAL_UPDATE_ROWS if what == "partial" else EventType.WRITE_ROWS
    row = Row(image, image, 0, None) if what == "partial" else Row(None, image)
    bodies: list[Body] = [_query("BEGIN", known=what != "collation"), shape, rows_body(shape, code, [row]), Xid(xid=1)]
    if what == "compressed":
        writer.compressed(*bodies)
    elif what == "collation":
        writer.group(_query("CREATE DATABASE IF NOT EXISTS lab", known=False))
    else:
        writer.group(*bodies, tag="lab" if what == "tagged" else "")
    return writer.log
