"""A pair speaks to its replica in the words of the replica's version, and says so when the two cannot log in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.pair import Pair, first_cause
from conformance.servers.roles.relay_log import change_statement, terms_of
from conformance.servers.run.guests import require_known
from conformance.servers.run.options import default_options
from conformance.servers.wire.capture import Capture, Position
from conformance.servers.wire.connection import Address

if TYPE_CHECKING:
    from conformance.servers.base import Server

OLD = ("SLAVE", "MASTER", "slave_")
VERSIONS = {
    (5, 7, 44): OLD,
    (8, 0, 21): OLD,
    (8, 0, 22): ("REPLICA", "MASTER", "slave_"),
    (8, 0, 23): ("REPLICA", "SOURCE", "slave_"),
    (8, 0, 26): ("REPLICA", "SOURCE", "replica_"),
    (8, 4, 0): ("REPLICA", "SOURCE", "replica_"),
    (9, 7, 4): ("REPLICA", "SOURCE", "replica_"),
}
Version = tuple[int, int, int]


class Session:
    """Answers a status whose columns have the names of the version."""

    def __init__(self, old: bool) -> None:
        self.said: list[str] = []
        self._old = old

    def execute(self, sql: str) -> Any:
        self.said.append(sql)
        row = {
            "Replica_IO_Running": "Yes", "Replica_SQL_Running": "No", "Last_IO_Errno": "0", "Last_IO_Error": "",
            "Last_SQL_Errno": "1610", "Last_SQL_Error": "x", "Relay_Source_Log_File": "b.1", "Exec_Source_Log_Pos": "4",
        }  # fmt: skip
        if self._old:
            row = {name.replace("Source", "Master").replace("Replica", "Slave"): value for name, value in row.items()}
        return SimpleNamespace(rows=[row], named=lambda: [row], only=lambda: ("b.1", "4"))


def server(version: Version, session: Session | None = None) -> Server:
    return cast(
        "Server",
        SimpleNamespace(
            number=version, version=".".join(map(str, version)), id="x", started_by_us=True, connect=lambda: session,
            address_for=lambda _: Address(host="127.0.0.1", port=1, user="u", password="p"),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: ".".join(map(str, version)))
def test_a_pair_speaks_in_the_words_of_its_replica(version: Version) -> None:
    replica, source, names = VERSIONS[version]
    session = Session(old=replica == "SLAVE")
    pair = Pair(server((5, 7, 44)), server(version, session))
    pair.link(Position(file="b.1", offset=4))
    pair.configure({"replica_parallel_workers": "2"})
    status = pair.status()
    pair.unlink()
    assert (status.sql_running, status.sql_errno, status.source_file, status.executed_offset) == ("No", 1610, "b.1", 4)
    what = "REPLICATION SOURCE" if source == "SOURCE" else "MASTER"
    assert session.said[0].startswith(f"CHANGE {what} TO {source}_HOST = '127.0.0.1', {source}_PORT = 1, ")
    assert session.said[0].endswith(f"{source}_LOG_FILE = 'b.1', {source}_LOG_POS = 4")
    assert (f"GET_{source}_PUBLIC_KEY = 1" in session.said[0]) is (version >= (8, 0, 4))
    assert session.said[1:] == [
        f"START {replica}", f"STOP {replica} SQL_THREAD", f"SET GLOBAL {names}parallel_workers = 2",
        f"START {replica} SQL_THREAD", f"SHOW {replica} STATUS", f"STOP {replica}", f"RESET {replica} ALL",
    ]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: ".".join(map(str, version)))
def test_relay_logs_and_positions_are_asked_for_in_the_words_of_the_version(version: Version) -> None:
    session = Session(old=True)
    known = terms_of(cast("Any", server(version)))
    what = "REPLICATION SOURCE" if VERSIONS[version][1] == "SOURCE" else "MASTER"
    assert change_statement(known).startswith(f"CHANGE {what} TO {VERSIONS[version][1]}_HOST='x'")
    assert Capture(server(version, session)).mark(cast("Any", session)) == Position(file="b.1", offset=4)
    assert session.said == ["SHOW BINARY LOG STATUS" if version >= (8, 4, 0) else "SHOW MASTER STATUS"]


@pytest.mark.parametrize(("source", "replica"), [((8, 0, 4), (5, 7, 44)), ((9, 7, 4), (5, 6, 24))])
def test_a_replica_that_cannot_log_in_is_not_linked(source: Version, replica: Version) -> None:
    session = Session(old=True)
    with pytest.raises(ServerUnavailable, match="cannot log in"):
        Pair(server(source), server(replica, session)).link()
    assert session.said == []


@pytest.mark.parametrize("version", ["10.11.6-MariaDB-log", "5.5.62", "unknown"])
def test_a_server_of_which_the_table_says_nothing_is_refused(version: str) -> None:
    with pytest.raises(ServerUnavailable, match=r"mysql://x: .*"):
        require_known(version, "mysql://x")
    require_known("8.0.36-28", "mysql://x")
    require_known("26.7.0", "mysql://x")


def test_a_server_older_than_the_table_is_not_started() -> None:
    with pytest.raises(ServerUnavailable, match=r"5\.5\.62 is older than 5\.6\.0"):
        default_options((5, 5, 62), performance_schema=False)


def _failed(log: str, place: int) -> tuple[int, str]:
    return 3648, f"Worker 1 failed executing transaction '...' at source log {log}, end_log_pos {place}; ..."


@pytest.mark.parametrize(
    "errors",
    [
        [_failed("binlog.000001", 1301)],
        [_failed("binlog.000001", 1674), _failed("binlog.000001", 1301)],
        [_failed("", 1674), _failed("binlog.000001", 1301)],  # observed on 9.7.4: the name is missing
        [_failed("binlog.000002", 900), _failed("binlog.000001", 1301)],
        [(3030, "... at source log binlog.000001, end_log_pos 900; ..."), _failed("binlog.000001", 1301)],
    ],
)
def test_the_cause_of_a_stop_is_the_error_of_the_first_event(errors: list[tuple[int, str]]) -> None:
    assert first_cause(errors) == _failed("binlog.000001", 1301)
    assert first_cause(errors[::-1]) == _failed("binlog.000001", 1301)
