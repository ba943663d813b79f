"""P9: ``mysqlbinlog -v`` says of a damaged event that it is damaged, and lives (mysqlbinlog-output 4.2).

The damage is in the frame of the diffs. Damaged values have a check of their own (``test_printed_values``), as some of
them end the client of 9.7.4.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.by_hand.injection import TABLE_MAP, partial_image, row_of
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.rows import encode_head, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.servers.errors import ServerUnavailable
from conformance.stream import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.harness.lab import Lab

_FILES: Final = {"quick": 60, "full": 1_000, "soak": 5_000}
_WORDS: Final = (b"while printing JSON diff", b"Corrupted replication event was detected")
_PATHS: Final = ("$.a", "$.b[1]", "$.c.d", "$[0]")


def damaged(draw: Stream) -> tuple[str, bytes]:
    """What is wrong, and a list of diffs with that damage in its last one."""
    good = b"".join(_diff(draw) for _ in range(draw.below(3)))
    last = _diff(draw)
    path_length = last[1]
    match draw.below(4):
        case 0:
            code = draw.choice((3, 4, 127, 255))
            return f"operation {code}", good + bytes((code,)) + last[1:]
        case 1:
            length = draw.integer(len(last), 250)
            return f"path length {length}", good + last[:1] + bytes((length,)) + last[2:]
        case 2:
            end = 2 + draw.below(path_length)
            return f"cut off in the path, after {end} bytes", good + last[:end]
        case _:
            place = 2 + path_length
            data = last[place + 1 :]
            length = draw.integer(len(data) + 1, 250)
            return f"data length {length}", good + last[:place] + bytes((length,)) + data


def _diff(draw: Stream) -> bytes:
    value = draw.choice((1, "text", True, None, 2.5))
    operation = draw.choice((Operation.REPLACE, Operation.INSERT))
    return encode_diff(operation, parse_path(draw.choice(_PATHS)), encode(value))


def damaged_file(diffs: bytes) -> bytes:
    """A log with one damaged event, and a good one behind it."""
    head = rows_body(TABLE_MAP, EventType.PARTIAL_UPDATE_ROWS, (), before=(0,), after=(1,))
    writer = FileWriter(timestamp=1_500_000_000)
    out = writer.start()
    good = encode_diff(Operation.REMOVE, parse_path("$.after"), None)
    for each in (diffs, good):
        body = Opaque(type=EventType.PARTIAL_UPDATE_ROWS, data=encode_head(head) + row_of(1, partial_image(each)))
        out += writer.add(TABLE_MAP) + writer.add(body)
    return out


def run(program: Sequence[str], path: Path) -> tuple[int, bytes]:
    """Exit status, and what the client printed."""
    command = [*program, "--no-defaults", "-v", "--base64-output=decode-rows", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, done.stdout


def judge(what: str, status: int, text: bytes) -> Problem | None:
    """The text must name the damage, and go on with the good event."""
    if status < 0:
        return Problem(field=what, expected="a text to its end", got=f"signal {-status}", message="mysqlbinlog died")
    if not any(words in text for words in _WORDS):
        return Problem(
            field=what,
            expected="words about the damage",
            got="\n".join(line for line in text.decode("utf-8", "replace").split("\n") if line.startswith("###")),
            message="mysqlbinlog does not say that the event is damaged",
        )
    if not text.rstrip().endswith(b"PSEUDO_SLAVE_MODE=0*/;") or b"'$.after'" not in text:
        return Problem(
            field=what, expected="the event behind it", got=f"exit status {status}", message="mysqlbinlog broke off"
        )
    return None


@pytest.mark.requirement("P9")
def test_damaged_diffs_are_named(lab: Lab) -> None:
    """Generated damage in the frame of diffs: the real client names it, lives, and prints the event behind it."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server's mysqlbinlog: damaged events are printed by the real client")
    try:
        program = server.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(f"needs the server's own mysqlbinlog: {error}")
    begun = time.perf_counter()
    draw = Stream("printed-damage", lab.settings.seed)
    problems: list[Problem] = []
    count = _FILES[lab.settings.profile]
    with TemporaryDirectory(prefix="binlog-lab-") as directory:
        path = Path(directory) / "damaged.binlog"
        for number in range(count):
            what, diffs = damaged(draw.fork(number))
            path.write_bytes(damaged_file(diffs))
            problem = judge(what, *run(program, path))
            if problem is not None:
                problems.append(problem)
    failed = record(
        lab,
        Outcome(
            check="printing/damage",
            requirement="P9",
            block=0,
            cases=count,
            problems=problems,
            verdict=Verdict.DIFFERS,
            seconds=time.perf_counter() - begun,
        ),
    )
    if failed:
        pytest.fail(f"{failed} damaged events are not named by mysqlbinlog; see the report", pytrace=False)
