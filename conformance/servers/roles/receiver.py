"""A real replica's receiver that reads from a hand-made source, and its complaints in the error log.

Observed on 9.7.4: the receiver's boundary parser complains about an unexpected event with two lines of the log, and the
receiver goes on. One line describes the event (MY-010442 to 010446; some events lack it). The other names the source's
file and position (MY-010590).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.boundaries.shipped import QUEUING, UNSUPPORTED, XA_ROLLBACK_AMISS
from conformance.servers import clock
from conformance.servers.closing import Closing
from conformance.servers.install.cache import silent
from conformance.servers.roles.relay_log import terms_of
from conformance.servers.source.scripted import FILE, PASSWORD, USER, ScriptedSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Maker, OwnServer
    from conformance.servers.wire.connection import Connection

SERVER_ID: Final = 94
GTID_MODES: Final = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")
_RELAY_LOG: Final = "lab-relay"
_OPTIONS: Final[dict[str, str | None]] = {
    "gtid-mode": "ON_PERMISSIVE",
    "enforce-gtid-consistency": "ON",
    "innodb-file-per-table": "OFF",
    "innodb-stats-persistent": "OFF",
    "relay-log": _RELAY_LOG,
    "max-relay-log-size": "16384",  # so small that the receiver starts further files
}
_LINE: Final = re.compile(r"\[MY-(\d{6})\] \[Repl\] (.*)")
_PLACE: Final = re.compile(r"'([^']*)' binary log file, at position (\d+)\.")
_EXITING: Final = "[MY-010570]"  # of the line that a receiver writes at its end
_PATIENCE: Final = 30.0
_POLL: Final = 0.005


class ParserWarning(NamedTuple):
    """One complaint of a receiver. ``code`` is 0 if the parser has no message of its own for it."""

    code: int
    words: str
    position: int
    file: str


class ReceivedStream(NamedTuple):
    """The outcome of a stream at the receiver.

    ``place``: file and position of the source where the receiver stands. ``error``: the number with which it stopped, 0
    if it did not. ``asked``: the positions of its dump requests. ``relay_logs``: the files that it wrote, in order.
    """

    warnings: list[ParserWarning]
    place: tuple[str, int]
    error: int
    asked: list[tuple[str, int]]
    relay_logs: list[bytes]


def launch_receiver(
    maker: Maker,
    *,
    options: Mapping[str, str | None] | None = None,
    keep: bool = False,
    narrate: Narrate = silent,
) -> OwnServer:
    """A server whose receiver reads hand-made streams; transactions with and without GTIDs pass.

    Raises :class:`ServerUnavailable` where it could not reach the lab.
    """
    server = maker.launch(server_id=SERVER_ID, options={**(options or {}), **_OPTIONS}, keep=keep, narrate=narrate)
    try:
        server.serve(lambda host: ScriptedSource([], version=server.version, host=host)).close()
    except BaseException:
        server.close()
        raise
    return server


def warnings_in(log: Iterable[str]) -> list[ParserWarning]:
    """The complaints in lines of an error log, in order."""
    out: list[ParserWarning] = []
    code, words = 0, ""
    for line in log:
        found = _LINE.search(line)
        if found is None:
            continue
        number = int(found[1])
        if UNSUPPORTED <= number <= XA_ROLLBACK_AMISS:
            code, words = number, found[2]
        elif number == QUEUING and (place := _PLACE.search(found[2])):
            out.append(ParserWarning(code, words, int(place[2]), place[1]))
            code, words = 0, ""
    return out


class ReceiverTarget(Closing):
    """A server from :func:`launch_receiver` and a session on it."""

    def __init__(self, server: OwnServer) -> None:
        self.server = server
        self._connection: Connection | None = None

    def session(self) -> Connection:
        """The session for questions and settings."""
        if self._connection is None or self._connection.closed:
            self._connection = self.server.connect()
        return self._connection

    def set_gtid_mode(self, mode: str) -> None:
        """Change gtid_mode in single steps, as the server requires."""
        session = self.session()
        wanted = GTID_MODES.index(mode)
        now = GTID_MODES.index(session.variable("gtid_mode") or "OFF")
        while now != wanted:
            now += 1 if wanted > now else -1
            session.execute(f"SET GLOBAL gtid_mode = {GTID_MODES[now]}")

    def hear(
        self, streams: Sequence[Sequence[bytes]], end: tuple[str, int], *, by_gtid: bool = False
    ) -> ReceivedStream:
        """Send ``streams``, one for each connection, and return what the receiver reports.

        It ends when the receiver stands at ``end`` (file and position of the source) or has stopped. The first stream
        begins at position 4 of the first file. ``by_gtid``: auto-position links the receiver.
        """
        session = self.session()
        known = terms_of(self.server)
        source_word = known.change_source
        mode = "ON" if by_gtid else "ON_PERMISSIVE"
        self.set_gtid_mode(mode)
        start = len(self.server.error_log())
        host = self.server.meeting_host()
        version = self.server.version
        with self.server.serve(
            lambda here: ScriptedSource(streams, version=version, host=here, gtid_mode=mode)
        ) as source:
            port = self.server.observed("port of the source", lambda _: source.port)
            session.execute(
                f"{known.change} {source_word}_HOST='{host}', {source_word}_PORT={port}, "
                f"{source_word}_USER='{USER}', {source_word}_PASSWORD='{PASSWORD}', {source_word}_CONNECT_RETRY=1, "
                f"{source_word}_SSL=0, "
                + (
                    f"{source_word}_AUTO_POSITION=1"
                    if by_gtid
                    else f"{source_word}_LOG_FILE='{FILE}', {source_word}_LOG_POS=4"
                )
            )
            session.execute(f"START {known.replica} IO_THREAD")
            try:
                place, error = self._wait(end)
                session.execute(f"STOP {known.replica} IO_THREAD")
                logs = self._relay_logs()
            finally:
                session.execute(f"STOP {known.replica} IO_THREAD")
                session.execute(f"RESET {known.replica} ALL")
        asked = self.server.observed("dump requests", lambda _: [list(map(str, place)) for place in source.places])
        places = [(file, int(position)) for file, position in asked]
        return ReceivedStream(warnings_in(self._said(start).splitlines()), place, error, places, logs)

    def _said(self, start: int) -> str:
        """The error log from a place on, up to the receiver's last line: that of a container comes a moment later."""
        return clock.until(lambda: self.server.error_log()[start:], _PATIENCE, _POLL, lambda text: _EXITING in text)

    def _relay_logs(self) -> list[bytes]:
        """The relay logs, read from the data directory."""
        return list(self.server.files.matching(f"{_RELAY_LOG}.[0-9]*").values())

    def _wait(self, end: tuple[str, int]) -> tuple[tuple[str, int], int]:
        """Wait until the receiver is at ``end``, is down, or has not advanced for too long."""
        session = self.session()
        known = terms_of(self.server)

        def look() -> tuple[tuple[str, int], int]:
            shown = session.execute(known.replica_status).named()[0]
            row = {known.today(name): value for name, value in shown.items()}
            place = (row["Source_Log_File"] or "", int(row["Read_Source_Log_Pos"] or 0))
            error = int(row["Last_IO_Errno"] or 0)
            down = bool(error) and row["Replica_IO_Running"] == "No"
            return place, error if down else 0

        return clock.until(look, _PATIENCE, _POLL, lambda seen: seen[0] == end or seen[1])

    def close(self) -> None:
        """Close the session and the server."""
        if self._connection is not None:
            self._connection.close()
        self.server.close()
