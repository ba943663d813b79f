"""Hand-made relay logs: their files, and how an applier comes to read one (requirements 0.3).

Observed on 9.7.4, and easily mistaken:

* The applier silently skips an event with the server's own id: events of a log for an applier carry another id.
* CHANGE REPLICATION SOURCE repairs the file, that is, cuts off from the first event that it cannot read. The lab writes
  the file again afterwards.
* With workers the applier's position (Exec_Source_Log_Pos, Relay_Log_Pos) lags behind the commits. At a stop it can
  name a place in front of committed transactions. Only START knows better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC, checksum_of
from conformance.reference.dialect import MYSQL, ServerTerms
from conformance.requirements.versions import dialect_of
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

RELAY_LOG: Final = "lab-relay"  # the option relay-log of a server that reads hand-made logs
FILE: Final = f"{RELAY_LOG}.000001"
# States of an applier's threads, in which each waits for the next thing of another one.
_OF_WORKERS: Final = ("Waiting for an event from Coordinator", "Waiting for preceding transaction to commit")
_FOR_OTHERS: Final = (
    *_OF_WORKERS,
    "Waiting for replica workers to process their queues",
    "Replica has read all relay log",
)
_NO_SUCH_THREAD: Final = 1094
_LENGTH, _POSITION = slice(9, 13), slice(13, 17)


def log_file(events: Iterable[bytes]) -> tuple[bytes, tuple[int, ...]]:
    """A log file of these events with correct positions and checksums, and the end position of each event."""
    parts, ends = [MAGIC], []
    end = len(MAGIC)
    for event in events:
        whole = bytearray(event)
        assert len(whole) > HEADER_SIZE
        end += len(whole)
        whole[_LENGTH] = len(whole).to_bytes(4, "little")
        whole[_POSITION] = end.to_bytes(4, "little")
        body = bytes(whole[:-FOOTER_SIZE])
        parts.append(body + checksum_of(body).to_bytes(FOOTER_SIZE, "little"))
        ends.append(end)
    return b"".join(parts), tuple(ends)


def terms_of(server: OwnServer) -> ServerTerms:
    """The terms that this version uses in statements."""
    return dialect_of(server.number).terms


def change_statement(terms: ServerTerms = MYSQL.terms) -> str:
    """The statement that makes an applier read :data:`FILE` from its beginning."""
    source = terms.change_source
    return f"{terms.change} {source}_HOST='x', {source}_USER='x', RELAY_LOG_FILE='{FILE}', RELAY_LOG_POS=4"


def put_relay_log(server: OwnServer, connection: Connection, data: bytes) -> None:
    """Stop the applier and write a file that the applier reads at its next start."""
    known = terms_of(server)
    replica = known.replica
    connection.execute(f"STOP {replica} SQL_THREAD")
    connection.execute(f"RESET {replica} ALL")
    server.put_data(FILE, data)
    server.put_data(f"{RELAY_LOG}.index", f"./{FILE}\n".encode("ascii"))
    connection.execute(change_statement(known))
    server.put_data(FILE, data)


def put_relay_log_script(data: bytes) -> tuple[str, ...]:
    """Statements that write a file in place, on a server with an empty secure_file_priv."""
    return (
        "RESET REPLICA ALL",
        f"SELECT x'{data.hex()}' INTO DUMPFILE '{FILE}'",
        f"SELECT './{FILE}\\n' INTO DUMPFILE '{RELAY_LOG}.index'",
        change_statement(),
    )


def start_applier(server: OwnServer, connection: Connection) -> None:
    """Start the applier."""
    connection.execute(f"START {terms_of(server).replica} SQL_THREAD")


@dataclass(frozen=True, slots=True)
class ApplierStatus:
    """The applier's part of SHOW REPLICA STATUS.

    ``state``: the state of its thread in current terms. ``position`` lags behind the commits.
    """

    running: bool
    state: str
    error: int
    message: str
    relay_file: str
    relay_position: int
    position: int


def applier_status(server: OwnServer, connection: Connection) -> ApplierStatus:
    """The present status of the applier."""
    row = connection.execute(terms_of(server).replica_status).named()[0]
    found = {ServerTerms.today(name): value or "" for name, value in row.items()}
    return ApplierStatus(
        running=found["Replica_SQL_Running"] != "No",
        state=found["Replica_SQL_Running_State"],
        error=int(found["Last_SQL_Errno"]),
        message=found["Last_SQL_Error"],
        relay_file=found["Relay_Log_File"],
        relay_position=int(found["Relay_Log_Pos"]),
        position=int(found["Exec_Source_Log_Pos"]),
    )


def workers_wait(connection: Connection) -> bool:
    """Whether every thread of the applier waits for another one, or for what is not in the log: none will go on."""
    states = [state for _, state in _threads(connection)]
    return bool(states) and all(state.startswith(_FOR_OTHERS) for state in states)


def kill_applier(connection: Connection) -> None:
    """Kill the applier's coordinator, which takes its idle workers along.

    Observed on 9.7.4: a kill of a worker may end the server, so the lab kills none.
    """
    for number, state in _threads(connection):
        if not state.startswith(_OF_WORKERS):
            try:
                connection.execute(f"KILL {number}")
            except SqlError as error:
                if error.number != _NO_SUCH_THREAD:  # it has ended by itself
                    raise


def last_commit(connection: Connection) -> int:
    """Where the last transaction ends that a worker has committed since the reset; 0 if there is none.

    The applier's own position lags behind; a worker writes this one together with its transaction.
    """
    found = connection.execute("SELECT MAX(Relay_log_pos) FROM mysql.slave_worker_info").scalar()
    return int(found or 0)


def _threads(connection: Connection) -> list[tuple[int, str]]:
    """Number and state of each thread of the applier. There are no others: these servers have no receiver."""
    rows = connection.execute("SHOW PROCESSLIST").named()
    return [(int(row["Id"] or 0), row["State"] or "") for row in rows if row["User"] == "system user"]
