"""A client for restarts: the lab's own wire code. ``right`` goes on behind the last whole transaction that it gave.

It gives rows at commit, so that it never repeats one. ``loses`` goes on behind the last event that arrived, and so
loses the rows in front of it. ``repeats`` begins anew.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import Any

from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.event_types import EventType
from conformance.servers.errors import ConnectionLost
from conformance.servers.wire.connection import Address, connect

MODE = sys.argv[1]


class Lost(Exception):
    """The dump ended in front of the marker."""


def read(
    server: dict[str, Any], place: tuple[str, int], changes: list[dict[str, Any]], stop: int | None
) -> tuple[str, int]:
    """Read on; returns where to go on after a stop, and raises with the same after a loss."""
    address = Address(
        host=server["host"], port=server["port"], user=server["user"], password=server["password"],
        tls=(("ssl-mode", "DISABLED"),),
    )  # fmt: skip
    decoder, pending, names = EventDecoder(), [], {}
    file, position = place
    with connect(address) as session:
        session.execute("SET @source_binlog_checksum = 'CRC32'")
        request = b"\x12" + struct.pack("<IHI", position, 1, 0) + file.encode()
        try:
            with session.dump(request) as events:
                for packet in events:
                    if packet[4] == EventType.ROTATE:
                        file, position = packet[27:-4].decode(), struct.unpack_from("<Q", packet, 19)[0]
                        place = file, position
                        continue
                    event = decoder.decode(packet)
                    for one in (event, *decoder.inner_events(event)):
                        if isinstance(one.body, LazyRows):
                            pending += [change(one.body, row) for row in one.body.rows()]
                            names[one.body.map().table] = True
                    whole = packet[4] in (EventType.XID, EventType.TRANSACTION_PAYLOAD)
                    if MODE == "loses":
                        place = file, event.header.log_pos or place[1]
                    if not whole:
                        continue
                    if "markers" in names:
                        raise StopIteration
                    changes += pending
                    pending.clear()
                    if MODE == "right":
                        place = file, event.header.log_pos
                    if stop is not None and len(changes) >= stop:
                        return place
        except ConnectionLost:
            raise Lost(*place) from None
    raise Lost(*place)


def change(body: LazyRows, row: Any) -> dict[str, Any]:
    """A row change; tables have two columns."""
    before, after = (
        None if image is None else dict(zip(("id", "v"), image, strict=False)) for image in (row.before, row.after)
    )
    operation = "insert" if before is None else "delete" if after is None else "update"
    table = body.map()
    if table.table == "markers":
        before, after = None, {"id": 0}
    return {"schema": table.schema, "table": table.table, "operation": operation, "before": before, "after": after}


def decode(server: dict[str, Any]) -> list[dict[str, Any]]:
    """Read up to the marker, again and again."""
    changes: list[dict[str, Any]] = []
    place, stop = (server["file"], server["position"]), server.get("stop_after")
    for _ in range(4):
        try:
            place = read(server, place, changes, stop)
            stop = None
        except Lost as lost:
            place = lost.args
        except RuntimeError:
            break
        except StopIteration:
            break
    return changes


for line in sys.stdin:
    asked = json.loads(line)
    result: dict[str, Any] = {}
    if asked["method"] == "hello":
        result = {"name": "restarted", "version": "1", "capabilities": ["server", "position", "stop"]}
    elif asked["method"] == "decode":
        result = {"changes": decode(asked["server"])}
    sys.stdout.write(json.dumps({"id": asked["id"], "result": result}) + "\n")
    sys.stdout.flush()
    if asked["method"] == "bye":
        break
