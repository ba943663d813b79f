"""The relay of a double: the older version's greeting, words and log stand in front of the server."""

from __future__ import annotations

import re
from dataclasses import replace
from struct import Struct
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.event_types import EventType
from tests.doubles.log import DoubleLog, Writer
from tests.doubles.words import Words
from tests.faults.servers.log import sealed, with_checksum
from tests.faults.servers.packets import OK, Answer, Wire, readable_greeting
from tests.faults.servers.relay import Relay, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.reference.dialect import Dialect
    from conformance.servers.wire.connection import Address
    from tests.doubles.lacking import Lacking
    from tests.faults.servers.fault import Altered, ChangedLog

_DUMP: Final = 0x12
_PLACE: Final = Struct("<I").unpack_from
_HEARTBEATS: Final = frozenset((EventType.HEARTBEAT, EventType.HEARTBEAT_V2))
_RESETS: Final = re.compile(r"\s*RESET\s+(?:BINARY\s+LOGS|MASTER)", re.IGNORECASE)
_SHOWN_EVENTS: Final = re.compile(r"(\s*SHOW\s+BINLOG\s+EVENTS\s+IN\s+'([^']+)')", re.IGNORECASE)
_EVENTS: Final = ("Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info")
_FILES: Final = ("Log_name", "File_size")


def over(lacks: Lacking, dialect: Dialect, real: str, planted: Altered) -> Altered:
    """The alterations by the relay: the words and the log of the version, and those of a fault over them."""
    words = Words(lacks, real)
    writer = Writer(lacks.version, lacks.number, dialect)

    def asked(sql: str) -> str:
        return planted["statement"](sql) if "statement" in planted else sql

    def answer(sql: str, given: Answer) -> Answer:
        answered = words.answered(asked(sql), given)
        return planted["answer"](sql, answered) if "answer" in planted else answered

    def log(events: Sequence[bytes]) -> list[bytes]:
        made = writer.transaction(list(events))
        return planted["log"](made) if "log" in planted else made

    return {**planted, "statement": lambda sql: words.sent(asked(sql)), "answer": answer, "log": log}


class DoubleRelay(Relay):
    """Armed from its start: without a fault it is the double, with one the double with a fault."""

    log: DoubleLog | None

    def __init__(self, real: Callable[[], Address], data: Path, lacks: Lacking, dialect: Dialect, version: str) -> None:
        super().__init__(real, data)
        self._lacks, self._dialect, self._version = lacks, dialect, version
        self._writer = Writer(lacks.version, lacks.number, dialect)
        self.arm({})

    def arm(self, altered: Altered, name: str = "") -> None:
        """From now on alter what passes, the words and the log of the version first."""
        super().arm(over(self._lacks, self._dialect, self._version, altered), name)

    def new_log(self, data: Path, copies: Path, change: ChangedLog) -> DoubleLog:
        return DoubleLog(data, copies, change)

    def session(self, client: Wire, server: Wire) -> Session:
        return _DoubleSession(self, client, server)

    def written(self, event: bytes) -> bytes:
        """An event that stands in no file, as the version writes it."""
        return self._writer.event(event)

    def greeting(self, packet: bytes) -> bytes:
        """The greeting names the version, and ends it with a zero."""
        head, _, rest = readable_greeting(packet).partition(b"\0")
        return head[:1] + self._lacks.version.encode() + b"\0" + rest

    def shown(self, answer: Answer) -> Answer:
        """Also lists of files and of events name places of the copy."""
        log = self.log
        if log is not None and answer.rows and answer.columns[:2] == _FILES:
            sized = tuple(
                (name, b"%d" % log.position((name or b"").decode(), int(size or 0)), *rest)
                for name, size, *rest in answer.rows
            )
            return replace(answer, rows=sized)
        if log is not None and answer.rows and answer.columns == _EVENTS:
            return replace(answer, rows=tuple(map(self._placed, answer.rows)))
        return super().shown(answer)

    def _placed(self, row: tuple[bytes | None, ...]) -> tuple[bytes | None, ...]:
        """A line of SHOW BINLOG EVENTS; the first one names the version."""
        assert self.log is not None
        name, begin, kind, server, end, info = row
        file = (name or b"").decode()
        begin, end = (b"%d" % self.log.place(file, int(place or 0)) for place in (begin, end))
        return (
            name,
            begin,
            kind,
            server,
            end,
            (info or b"").replace(self._version.encode(), self._lacks.version.encode()),
        )

    def forget(self) -> None:
        """The server begins its log again."""
        if self.log is not None:
            self.log.forget()


class _DoubleSession(Session):
    """One connection through a double's relay."""

    _relay: DoubleRelay

    def _judged(self, altered: Altered, statement: str) -> Answer:
        answer = super()._judged(altered, statement)
        if _RESETS.match(statement) and answer.error is None:
            self._relay.forget()
        return answer

    def dump(self, command: bytes) -> None:
        """Events of the copy in the place of those of the server."""
        log = self._relay.log
        assert log is not None
        if command[0] == _DUMP:
            (place,) = _PLACE(command, 1)
            name = command[11:].decode()
            command = command[:1] + log.real_place(name, place).to_bytes(4, "little") + command[5:]
        self._server.command(command)
        name = ""
        for packet in self._sent():
            if packet[0] != OK:
                self._client.write(packet)
                continue
            event = packet[1:]
            end = int.from_bytes(event[13:17], "little")
            if event[4] == EventType.ROTATE and not end:
                event, name = self._rotate(log, event)
                made = event
            elif event[4] in _HEARTBEATS:
                made = sealed(event, log.place(name, end), checksum=with_checksum(event))
            elif not end:
                made = sealed(self._relay.written(event), 0, checksum=True)
            else:
                made = _checked_like(event, log.event(name, end, end - len(event), event))
            if made:
                self._client.write(b"\0" + made)

    def _rotate(self, log: DoubleLog, event: bytes) -> tuple[bytes, str]:
        """The event that the server makes at the start of a dump, or of a file; and the name in it."""
        checksum = with_checksum(event)
        name = event[HEADER_SIZE + 8 : -4 if checksum else None].decode()
        place = log.place(name, int.from_bytes(event[HEADER_SIZE : HEADER_SIZE + 8], "little"))
        made = event[:HEADER_SIZE] + place.to_bytes(8, "little") + event[HEADER_SIZE + 8 :]
        return sealed(made, 0, checksum=checksum), name


def _checked_like(event: bytes, made: bytes) -> bytes:
    """Without the checksum where the reader did not ask for one."""
    if not made or with_checksum(event) or event[4] == EventType.FORMAT_DESCRIPTION or not with_checksum(made):
        return made
    return sealed(made[:-4], int.from_bytes(made[13:17], "little"), checksum=False)
