"""A source that sends streams made by hand, whatever a client asks for: for receivers that are to meet hostile events.

It sends one stream for each dump, unchanged, behind the artificial ROTATE of a file that does not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import Rotate
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.writer import FileWriter
from conformance.servers.source.facts import SERVER_ID
from conformance.servers.source.log_files import LogFiles
from conformance.servers.source.login import Account
from conformance.servers.source.packets import EOF
from conformance.servers.source.server import HOST, CutOff, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.source.channel import Channel
    from conformance.servers.source.dump import DumpRequest

FILE: Final = "made.000001"
USER, PASSWORD = "x", "y"
_WAIT: Final = 0.2


class ScriptedSource(Source):
    """Sends ``streams``: the events for the first dump, the second and so on.

    Later dumps get the last stream again. All connections but the last end behind their stream.
    """

    def __init__(
        self,
        streams: Sequence[Sequence[bytes]],
        *,
        version: str,
        host: str = HOST,
        gtid_mode: str = "ON_PERMISSIVE",
        account: Account | None = None,
    ) -> None:
        self._streams = streams
        super().__init__(
            LogFiles.of_bytes([(FILE, FileWriter().start())]),
            host=host,
            version=version,
            gtid_mode=gtid_mode,
            account=account or Account(user=USER, password=PASSWORD),
            tls=False,
        )

    @property
    def places(self) -> list[tuple[str, int]]:
        """The position that each dump asked for; 4 for a dump by GTIDs."""
        return [(FILE, 4 if one.gtids is not None else one.position) for one in self.asked]

    def dump(self, channel: Channel, request: DumpRequest) -> None:
        """Send the next stream."""
        with self._lock:
            number = len(self.asked)
            self.asked.append(request)
        position = 4 if request.gtids is not None else request.position
        rotate = encode_event(
            Rotate(name=FILE.encode(), position=position), server_id=SERVER_ID, flags=Flag.ARTIFICIAL, log_pos=0
        )
        events = self._streams[min(number, len(self._streams) - 1)] if self._streams else ()
        channel.send(b"\0" + event for event in (rotate, *events))
        if number + 1 < len(self._streams):
            raise CutOff("behind its stream")
        if not request.blocking:
            channel.send([EOF])
            return
        while not self._closing.is_set() and not channel.spoke(_WAIT):
            pass
