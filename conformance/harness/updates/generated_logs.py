"""Generated Cases: the log of a few random updates, as the model predicts it.

The reference reads its own model's log, so these Cases find what a subject does with documents and updates that nobody
thought of. They say nothing about the reference. Seed and number give the same Case anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DecoderCase
from conformance.harness.updates.blocks import Limits, make_script
from conformance.judge.decoding.exact_json import parse
from conformance.logs.row_change_lines import read_log
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP: Final = "generated"
_UPDATES: Final = 3  # rows of a Case
_TIME: Final = 1_500_000_000  # of each event
_LIMITS: Final = Limits(row_metadata="FULL", row_event_max_size=8192)
_ANONYMOUS: Final = Gtid(
    type=EventType.ANONYMOUS_GTID, immediate_commit_timestamp=_TIME * 10**6, immediate_server_version=90704
)
REQUIREMENTS: Final = tuple(f"DEC{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14))


def generated_case(seed: str, number: int) -> DecoderCase | None:
    """One Case, or ``None`` where no row changes."""
    script = make_script(f"decoders/{seed}", number, _LIMITS, updates=_UPDATES)
    writer = FileWriter(timestamp=_TIME)
    log = writer.start()
    for step, prediction in enumerate(script.predictions):
        if not prediction.events:
            continue
        schema = script.model.table_map.schema
        bodies = [begin(schema, update=True), script.model.table_map, *prediction.events, Xid(xid=step + 1)]
        log += writer.group(_ANONYMOUS, bodies)
    reading, resolved = (read_log(log, "log.binlog", resolve=resolve) for resolve in (False, True))
    if not reading.lines:
        return None
    if reading.error is not None:
        raise reading.error
    return DecoderCase(
        id=f"{GROUP}/{seed}-{number}",
        title=f"Generated updates, number {number} of seed {seed}",
        why="Documents and updates that nobody thought of occur in every application.",
        requirements=REQUIREMENTS,
        log=log,
        expected=tuple(map(parse, reading.lines)),
        resolved=tuple(map(parse, resolved.lines)),
    )


def generated_cases(seed: str, count: int) -> Iterator[DecoderCase]:
    """The first Cases of a seed: as many numbers as ``count``."""
    found = (generated_case(seed, number) for number in range(count))
    return (case for case in found if case is not None)


def named_case(name: str) -> DecoderCase | None:
    """The generated Case of that id; ``None`` for any other id."""
    group, _, rest = name.partition("/")
    seed, _, number = rest.rpartition("-")
    return generated_case(seed, int(number)) if group == GROUP and seed and number.isdecimal() else None
