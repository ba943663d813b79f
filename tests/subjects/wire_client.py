"""A client that connects: the lab's own wire code and reference, and ways of going wrong that ``argv`` names.

``right`` reads on from the present end, and ``anywhere`` says that it starts at a position. ``dies``, ``hangs`` and
``silent`` happen at a request whose number follows, as in ``dies@2``.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from typing import Any

from conformance.reference.binlog.files import FileReader
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of
from conformance.servers.wire.connection import Address, connect


def changes(server: dict[str, Any]) -> list[dict[str, Any]]:
    """The changes from the Case's position up to its last marker, markers included."""
    address = Address(host=server["host"], port=server["port"], user=server["user"], password=server["password"])
    lines, reader = RowChanges(tagged=True), FileReader(expand=True, verify=False, rules_for=rules_of)
    lines.start_file("stream")
    reader.feed(b"\xfebin")
    found: list[dict[str, Any]] = []
    with connect(address) as session:
        session.execute("SET @source_binlog_checksum = 'CRC32'")
        request = b"\x12" + struct.pack("<IHI", server["position"], 0, 1066) + server["file"].encode()
        with session.dump(request) as events:
            for packet in events:
                if packet[4] in (4, 27, 41):  # ROTATE and heartbeats stand in no file
                    continue
                reader.feed(packet)
                for event in reader.events():
                    found += [json.loads(line) for line in lines.event(event, None)]
                if found and server["marker"]["end"] in (found[-1]["after"] or {}).values():
                    break
    return found


def main() -> None:
    """Answer requests."""
    mode, _, number = sys.argv[1].partition("@")
    for count, line in enumerate(sys.stdin):
        request = json.loads(line)
        answer: dict[str, Any] = {"id": request["id"], "result": {}}
        wrong = count == int(number or 1)
        if request["method"] == "hello":
            assert request["server"]["port"]
            words = ["server", "types", *(["position"] if mode == "anywhere" else [])]
            answer["result"] = {"name": "wire client", "version": "1", "capabilities": words}
        elif request["method"] == "decode":
            if wrong and mode == "dies":
                os._exit(3)
            if wrong and mode == "hangs":
                time.sleep(60)
            if wrong and mode == "silent":
                answer = {"id": request["id"], "error": {"code": "timed-out", "message": "nothing arrives"}}
                answer["changes"] = changes(request["server"])[:1]
            else:
                answer["result"] = {"changes": changes(request["server"])}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        if request["method"] == "bye":
            return


main()
