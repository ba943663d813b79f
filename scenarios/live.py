"""Scenarios of a matrix on a real server, compared with the model and with the matrix's own rows.

A sample over all cells runs twice, with the option on and off, in tables of one kind at a time. The comparison covers
every byte of the events, and every stored size and text, as in the main job. It also compares the length of each row
event with ``event_on`` and ``event_off`` of the scenario's row: a matrix's figures consist of these lengths.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.script import build_script
from conformance.cases.update_case import Step, UpdateCase
from conformance.judge.updates.compare import judge
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, decode_header
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.event_types import EventType
from conformance.requirements.versions import dialect_of
from conformance.servers.roles.update_cases import run_case
from scenarios.budgets import replay_id
from scenarios.engines import update
from scenarios.figures import size_word
from scenarios.matrix import MatrixError
from scenarios.worker import run_block, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from scenarios.engines.update import Scenario
    from scenarios.matrix import Matrix

ROWS: Final = 100
BYTES: Final = 2 << 20  # bytes of documents in one table: one statement inserts them
KEPT: Final = 50  # the most differences that a report lists
_UPDATES: Final = frozenset((EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS))


@dataclass(frozen=True, slots=True)
class Sampled:
    """A scenario of the sample, and the contents of its row in the matrix."""

    replay: str
    scenario: Scenario
    event_on: int
    event_off: int
    size: int  # that the matrix asks for, else the power of two that the document reaches


@dataclass(slots=True)
class Live:
    """The results of the comparison.

    ``updates``: statements compared, padding included. ``sizes``: events whose length was compared with a row.
    """

    server: str
    scenarios: int = 0
    cells: int = 0
    updates: int = 0
    bytes: int = 0
    texts: int = 0
    sizes: int = 0
    mismatches: int = 0
    differences: list[str] = field(default_factory=list)
    by_size: dict[int, int] = field(default_factory=dict)
    by_columns: dict[int, int] = field(default_factory=dict)  # JSON columns of the table

    def compared(self, bundle: Sequence[Sampled]) -> None:
        """Count scenarios that ran."""
        self.scenarios += len(bundle)
        for item in bundle:
            columns = len(item.scenario.frame.json)
            self.by_size[item.size] = self.by_size.get(item.size, 0) + 1
            self.by_columns[columns] = self.by_columns.get(columns, 0) + 1

    def differs(self, where: str, text: str) -> None:
        """Count and list a difference."""
        self.mismatches += 1
        if len(self.differences) < KEPT:
            self.differences.append(f"{where}: {text}")

    @property
    def words(self) -> str:
        """The results as a text for people."""
        return (
            f"{self.scenarios:,} scenarios of {self.cells} cells on {self.server}, option on and off:"
            f" {self.bytes:,} bytes of events and {self.sizes:,} event sizes compared, {self.mismatches:,} mismatches"
        )

    @property
    def spread(self) -> str:
        """The sizes and kinds of the scenarios, for people."""
        sizes = ", ".join(f"{count:,} of {size_word(size)}" for size, count in sorted(self.by_size.items()))
        columns = ", ".join(f"{count:,} with {number}" for number, count in sorted(self.by_columns.items()))
        return f"documents: {sizes}; JSON columns in the table: {columns}"


def sample(matrix: Matrix, number: int) -> Iterator[Sampled]:
    """The first scenarios of every cell, in the matrix's proportions, ``number`` in all."""
    if matrix.engine != "update":
        raise MatrixError(f"matrix {matrix.name}: its scenarios are no updates, so --live has nothing to run")
    on, off = matrix.columns.index("event_on"), matrix.columns.index("event_off")
    for cell, count in enumerate(matrix.share(number)):
        for row in run_block(matrix, cell, 0, count):
            settings, draw = settings_of(matrix, cell, row[1])
            made = update.scenario(draw, settings)
            size = int(settings.get("size", 1 << len(made.plain).bit_length() - 1))
            yield Sampled(replay_id(matrix, cell, row[1]), made, row[on], row[off], size)


def run_live(matrix: Matrix, server: Server, number: int, narrate: Callable[[str], None]) -> Live:
    """Run a sample of ``number`` scenarios, at least one of each cell."""
    result = Live(f"MySQL {server.version}", cells=matrix.cells)
    with server.connect() as connection, server.schema(connection) as schema:
        metadata = (connection.variable("global.binlog_row_metadata") or "MINIMAL").upper()
        capture = server.capture()
        try:
            for bundle in bundles(sample(matrix, number)):
                for partial_json in (True, False):
                    _compare(server, connection, capture, schema, bundle, metadata, partial_json, result)
                before = result.scenarios
                result.compared(bundle)
                if before * 20 // number != result.scenarios * 20 // number:
                    narrate(f"  {result.scenarios:,} of {number:,} on the server, {result.mismatches:,} mismatches")
        finally:
            capture.close()
    return result


def bundles(sampled: Iterable[Sampled]) -> Iterator[list[Sampled]]:
    """Groups of scenarios of one kind of table and session, few enough for one table."""
    open_: dict[tuple[object, ...], list[Sampled]] = {}
    sizes: dict[tuple[object, ...], int] = {}
    for item in sampled:
        made = item.scenario
        kind = (len(made.frame.json), made.frame.table.primary_key, made.frame.table.unique_keys,
                made.frame.on.session.row_image, made.compression)  # fmt: skip
        bundle = open_.setdefault(kind, [])
        bundle.append(item)
        sizes[kind] = sizes.get(kind, 0) + len(made.plain)
        if len(bundle) >= ROWS or sizes[kind] >= BYTES:
            yield open_.pop(kind)
            del sizes[kind]
    yield from open_.values()


def _compare(
    server: Server,
    connection: Connection,
    capture: Capture,
    schema: str,
    bundle: list[Sampled],
    metadata: str,
    partial_json: bool,
    result: Live,
) -> None:
    case, first = _case(bundle, partial_json)
    script = build_script(case, row_metadata=metadata, dialect=dialect_of(server.number))
    observation = run_case(connection, capture, script, schema)
    judgement = judge(script, observation)
    result.updates += judgement.updates
    result.bytes += judgement.bytes
    result.texts += judgement.texts
    for mismatch in judgement.mismatches:
        place = mismatch.step if mismatch.step is not None else -1
        where = bundle[place - first].replay if place >= first else bundle[0].replay
        result.differs(where, f"{mismatch.kind}, option {'on' if partial_json else 'off'}")
    lengths = list(_row_event_lengths(observation.events))
    wanted = [(item.replay, item.event_on if partial_json else item.event_off) for item in bundle]
    wanted = [(replay, size) for replay, size in wanted if size]  # a quiet scenario writes no event
    padding = len(lengths) - len(wanted)
    if padding != sum(prediction.changed for prediction in script.predictions[:first]):
        result.differs(
            bundle[0].replay, f"expected {len(wanted)} row events behind the padding's, got {len(lengths)} in all"
        )
        return
    for (replay, size), length in zip(wanted, lengths[padding:], strict=True):
        result.sizes += 1
        if size != length:
            result.differs(replay, f"the matrix says {size} bytes, the server wrote {length}")


def _case(bundle: list[Sampled], partial_json: bool) -> tuple[UpdateCase, int]:
    """One Case of all scenarios: rows that differ by their id, the statements that make holes, then one for each
    scenario.

    The second result is the index of the first statement of a scenario.
    """
    made = bundle[0].scenario
    table = made.frame.table
    rows = []
    for number, item in enumerate(bundle, 1):
        values = {**item.scenario.row, item.scenario.column: item.scenario.plain, "id": number}
        rows.append(tuple(values[column.name] for column in table.columns))
    padding = [Step(item.scenario.padding, (number,)) for number, item in enumerate(bundle) if item.scenario.padding]
    steps = [Step(item.scenario.assignments, (number,)) for number, item in enumerate(bundle)]
    case = made.case("live")
    session = replace(case.session, partial_json=partial_json)
    return replace(case, session=session, rows=tuple(rows), steps=(*padding, *steps)), len(padding)


def _row_event_lengths(events: Iterable[bytes]) -> Iterator[int]:
    """Lengths of the update row events, those inside payloads included.

    A length has header and checksum, as in a log without compression.
    """
    for event in events:
        code = event[4]
        if code in _UPDATES:
            yield len(event)
        elif code == EventType.TRANSACTION_PAYLOAD:
            inner = TransactionPayload.decode(event[HEADER_SIZE : len(event) - FOOTER_SIZE]).uncompressed()
            at = 0
            while at < len(inner):
                header = decode_header(inner, at)
                if header.type in _UPDATES:
                    yield header.length + FOOTER_SIZE
                at += header.length
