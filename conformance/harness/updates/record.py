"""Record blocks of a real server for runs without one.

``python -m conformance.harness.updates.record FILE.jsonl.gz`` writes them.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.captures import dump_capture
from conformance.harness.updates.run import server_limits
from conformance.servers.auto import resolve
from conformance.servers.roles.update_cases import run_case

SEED = "captures"
BLOCKS = 40
LARGEST = 60_000  # bytes of a recorded block's events: bigger documents are for live runs


def _narrate(text: str) -> None:
    pass


def main(path: Path) -> None:
    """Record :data:`BLOCKS` blocks into ``path``."""
    server = resolve("auto", narrate=_narrate)
    assert server is not None
    lines: list[bytes] = []
    with server, server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        limits = server_limits(server)
        number = 0
        while len(lines) < BLOCKS:
            script = make_script(SEED, number, limits, updates=50)
            number += 1
            observation = run_case(connection, capture, script, schema)
            if sum(map(len, observation.events)) <= LARGEST:
                lines.append(json.dumps(dump_capture(script, observation), separators=(",", ":")).encode())
        capture.close()
    path.write_bytes(gzip.compress(b"\n".join(lines), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
