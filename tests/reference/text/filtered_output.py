"""Output of mysqlbinlog with options that leave events out, and of ``decode`` with the same ones.

``python -m tests.reference.text.filtered_output`` asks the real mysqlbinlog of the bundle, and writes the digest of
each answer to ``tests/data/mysqlbinlog/filters.json``: BINLOG statements and pseudo-SQL. The log ``times.binlog``
beside it is made by hand: the times of its events go up and down, also inside payloads.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from conformance.checks.boundaries.marked_files import OTHER_WORDS
from conformance.cli import main as frame
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import LONG, ColumnType
from tests.reference.text.made_logs import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.binlog.event import Body

DATA: Final = Path(__file__).parents[2] / "data"
LOGS: Final = DATA / "binlogs"
TIMES: Final = DATA / "mysqlbinlog" / "times.binlog"
RECORDED: Final = DATA / "mysqlbinlog" / "filters.json"
SOURCE: Final = "6d31aba5-e4a6-11f1-9d7e-02fc00000001"  # of the captured logs
ALWAYS: Final = (  # a payload in hex, and starts inside the frame of a file or inside the event behind it
    ["--hexdump", "12-compressed-payload.binlog"],
    ["--start-position=200", "12-compressed-payload.binlog"],
    ["--start-position=128", "20-relay-log.binlog"],
    ["--start-position=400", "20-relay-log.binlog"],
    ["--stop-position=4", "20-relay-log.binlog"],
)
_ABSENT: Final = 2  # exit code for a schema that no log has, which is none to the client
_GEOMETRY: Final = ("07-", "08-")  # mysqlbinlog does not print all rows of these, with or without filters


class Answer(NamedTuple):
    """The text that a program printed, without the comments that are sentences, and whether it failed."""

    text: bytes
    failed: bool


def real(program: Sequence[str], words: Sequence[str]) -> Answer:
    """Run mysqlbinlog in the folder of the captured logs."""
    with TemporaryDirectory(prefix="binlog-lab-") as folder:
        command = [*program, "--no-defaults", "-v", f"--local-load={folder}", *words]
        done = subprocess.run(command, cwd=LOGS, env={**os.environ, "TZ": "UTC"}, capture_output=True, check=False)
    return Answer(OTHER_WORDS.sub(b"", done.stdout), done.returncode != 0)


def ours(words: Sequence[str]) -> Answer:
    """Run ``decode`` in this process, in the same folder and time zone."""
    raw = io.BytesIO()
    kept, folder, zone = sys.stdout, Path.cwd(), os.environ.get("TZ")
    try:
        os.chdir(LOGS)
        os.environ["TZ"] = "UTC"
        time.tzset()
        sys.stdout = io.TextIOWrapper(raw, encoding="utf-8")
        code = frame.run(["decode", "-v", "--base64-output=auto", *words])
        sys.stdout.flush()
        return Answer(OTHER_WORDS.sub(b"", raw.getvalue()), code not in (0, _ABSENT))
    finally:
        sys.stdout = kept
        os.chdir(folder)
        os.environ.pop("TZ") if zone is None else os.environ.update(TZ=zone)
        time.tzset()


def digest(answer: Answer) -> str:
    """A short name of all that was printed."""
    return sha256(answer.text).hexdigest()[:24]


def captured() -> list[str]:
    """The captured logs, by name."""
    return [path.name for path in sorted(LOGS.glob("*.binlog")) if not path.name.startswith(_GEOMETRY)]


def filters(logs: Sequence[str], source: str, seed: int = 0) -> Iterator[list[str]]:
    """Command lines with each filter on each log, and on pairs of logs. ``source``: a UUID of their GTIDs."""
    rng = random.Random(seed)
    for log in logs:
        places = _places(LOGS / log)
        start, stop = sorted(rng.sample(places, 2))
        second = rng.choice(logs)
        number = rng.randrange(1, 9)
        gtids = f"{source}:{number}-{number + rng.randrange(4)}{rng.choice(['', ':alpha:1'])}"
        yield [f"--start-position={start}", f"--stop-position={stop}", log]
        yield [f"--database={rng.choice(['d', 'nope'])}", f"--stop-position={rng.choice(places)}", log]
        yield [f"--{rng.choice(['in', 'ex'])}clude-gtids={gtids}", log]
        last = f"--stop-position={rng.choice(_places(LOGS / second))}"
        some = [f"--exclude-gtids={gtids}", "--database=nope"][: rng.randrange(3)]
        yield [*some, f"--start-position={rng.choice(places)}", last, log, second]
    yield ["--hexdump", rng.choice(logs)]


def times(log: str, first: int, last: int, seed: int = 0) -> Iterator[list[str]]:
    """Command lines with the filters of time on one log: from a second to another."""
    rng = random.Random(seed)
    for seconds in [rng.randrange(first, last) for _ in range(8)]:
        yield [f"--start-datetime={_moment(seconds - 25)}", f"--stop-datetime={_moment(seconds)}", log]
        yield [f"--{rng.choice(['start', 'stop'])}-datetime={_moment(seconds)}", log, log]


def _places(path: Path) -> list[int]:
    """Where the events of a file begin, and its end."""
    with path.open("rb") as file:
        return [event.position or 0 for event in read_events(file)] + [path.stat().st_size]


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


def timed_log() -> bytes:
    """Four transactions, two of them compressed, whose events are not in the order of their times."""
    writer = FileWriter(timestamp=1000)
    out = writer.start()
    table = table_of(ColumnType(LONG))
    plan = ((1030, 1030, (1000, 1010, 1020)), (1070, 1070, (1040, 1050, 1060)), (1080, 1110, (1080, 1090, 1100)),
            (1120, 1110, (1080, 1050, 1100)))  # fmt: skip
    for number, (of_gtid, of_end, of_rows) in enumerate(plan, 1):
        writer.timestamp = of_gtid
        out += writer.add(Gtid(uuid=UUID(SOURCE), gno=number, last_committed=number - 1, sequence_number=number,
                               immediate_commit_timestamp=1, transaction_length=300,
                               immediate_server_version=90704))  # fmt: skip
        bodies: list[tuple[int, Body]] = [(of_rows[0], begin("d"))]
        for place, when in enumerate(of_rows):
            rows = rows_body(table, EventType.WRITE_ROWS, [Row(None, (place,))])
            bodies += [(when, table), (when + place % 2, rows)]
        bodies.append((of_end, Xid(xid=number)))
        if number in (2, 3):
            inner = [encode_event(body, timestamp=when, server_id=1, algorithm=Checksum.NONE) for when, body in bodies]
            out += writer.add(TransactionPayload.compress(b"".join(inner), 3))
            continue
        for when, body in bodies:
            writer.timestamp = when
            out += writer.add(body)
    return out


def main() -> None:
    """Record the answers of the real mysqlbinlog."""
    from conformance.servers.auto import find_installation
    from conformance.servers.specs import parse_spec

    program = find_installation(parse_spec("process"), narrate=lambda _: None)
    if not TIMES.exists():
        TIMES.write_bytes(timed_log())
    lines = []
    for words in (*ALWAYS, *filters(captured(), SOURCE), *times(f"../mysqlbinlog/{TIMES.name}", 995, 1125)):
        answer = real(program.program("mysqlbinlog"), words)
        lines.append(json.dumps({"words": words, "failed": answer.failed, "digest": digest(answer)}))
    RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
