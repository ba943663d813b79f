"""(Case, Prediction, Observation) -> what differs. Pure; bytes first, documents are decoded only after a mismatch.

After a mismatch the predictions that follow for the same row say nothing new: those updates are counted as ``marked``,
neither as compared nor as wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.cases.script import ReadBack, Script
from conformance.judge.borrowed import borrow, complete
from conformance.judge.expected import ExpectedEvent, ExpectedGroup, expected_groups
from conformance.judge.fields import FieldDifference, compare_fields
from conformance.reference.binlog.event import Event, decode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum, EventType, checksum_of, event_name
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.binlog.table_map import TableMap
from conformance.reference.cursor import packed_size
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.cases.observation import Observation

_STARTS = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED))
_TABLE_ID = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One difference. ``step`` is ``None`` for the start rows and for the frame of a transaction."""

    kind: str  # event, events, outcome, size, free, text
    step: int | None
    rows: tuple[int, ...] = ()
    field: str
    offset: int | None = None
    expected: str
    got: str
    message: str = ""
    evidence: tuple[FieldDifference, ...] = ()
    deviation: str | None = None  # the dialect switch that, flipped, explains the difference


@dataclass(slots=True)
class Judgement:
    """The comparison of one Case. ``updates`` leaves out the ``marked`` ones: those of a row that was wrong before."""

    updates: int = 0
    events: int = 0
    bytes: int = 0
    texts: int = 0
    sizes: int = 0
    marked: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)

    def add(self, mismatch: Mismatch) -> None:
        """Note a mismatch; :meth:`settle` decides which of them say something new."""
        self.mismatches.append(mismatch)

    def settle(self, script: Script) -> None:
        """Keep the mismatches of each row's first wrong statement, and count what lies behind it as marked."""
        first: dict[int, int] = {}
        for mismatch in self.mismatches:
            for row in mismatch.rows:
                if mismatch.step is not None:
                    first[row] = min(mismatch.step, first.get(row, mismatch.step))
        if not first:
            return
        self.mismatches = [
            mismatch
            for mismatch in self.mismatches
            if mismatch.step is None or any(mismatch.step <= first[row] for row in mismatch.rows)
        ]
        for number, prediction in enumerate(script.predictions):
            self.marked += sum(first.get(row, number) < number for row in prediction.step.rows)
        self.updates -= self.marked


def judge(script: Script, observation: Observation) -> Judgement:
    """Compare counts, event bytes, and what was read back."""
    judgement = Judgement(updates=script.updates)
    _judge_outcomes(script, observation, judgement)
    _judge_events(script, observation, judgement)
    _judge_read_backs(script, observation, judgement)
    judgement.settle(script)
    return judgement


def _judge_outcomes(script: Script, observation: Observation, judgement: Judgement) -> None:
    for number, (prediction, outcome) in enumerate(zip(script.predictions, observation.outcomes, strict=True)):
        expected_error = None if prediction.error is None else prediction.error.number
        if expected_error != outcome.error:
            judgement.add(
                Mismatch(
                    kind="outcome",
                    step=number,
                    rows=prediction.step.rows,
                    field="error",
                    expected=str(prediction.error or "no error"),
                    got=f"{outcome.error}: {outcome.message}" if outcome.error else "no error",
                )
            )
        elif prediction.changed != outcome.changed:
            judgement.add(
                Mismatch(
                    kind="outcome",
                    step=number,
                    rows=prediction.step.rows,
                    field="rows changed",
                    expected=str(prediction.changed),
                    got=str(outcome.changed),
                )
            )


def _judge_read_backs(script: Script, observation: Observation, judgement: Judgement) -> None:
    expected = [item for item in script.items if isinstance(item, ReadBack)]
    names = script.model.columns.json
    for read_back, rows in zip(expected, observation.read_backs, strict=True):
        if len(rows) != len(read_back.rows):
            judgement.add(
                Mismatch(
                    kind="text",
                    step=read_back.rows[0][1],
                    rows=tuple(index for index, _, _ in read_back.rows),
                    field="rows read back",
                    expected=str(len(read_back.rows)),
                    got=str(len(rows)),
                )
            )
            continue
        for (index, step, values), row in zip(read_back.rows, rows, strict=True):
            for place, name in enumerate(names):
                size, free, text = row[3 * place : 3 * place + 3]
                _judge_document(judgement, index, step, name, values[name], size, free, text)


def _judge_document(
    judgement: Judgement,
    row: int,
    step: int,
    name: str,
    stored: object,
    size: bytes | None,
    free: bytes | None,
    text: bytes | None,
) -> None:
    if stored is None:
        predicted: tuple[tuple[str, bytes | None, bytes | None], ...] = (
            ("size", None, size),
            ("free", None, free),
            ("text", None, text),
        )
    else:
        assert isinstance(stored, bytes)
        predicted = (
            ("size", b"%d" % len(stored), size),
            ("free", b"%d" % storage_free(stored), free),
            ("text", format_text(decode(stored)).encode("utf-8", "surrogateescape"), text),
        )
    judgement.sizes += 2
    judgement.texts += 1
    for kind, expected, got in predicted:
        if expected != got:
            judgement.add(
                Mismatch(
                    kind=kind,
                    step=step,
                    rows=(row,),
                    field=name,
                    offset=first_difference(expected or b"", got or b""),
                    expected="NULL" if expected is None else expected.decode("utf-8", "replace"),
                    got="NULL" if got is None else got.decode("utf-8", "replace"),
                )
            )


def first_difference(a: bytes, b: bytes) -> int:
    """Where two byte strings part."""
    for position, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return position
    return min(len(a), len(b))


# --- events ----------------------------------------------------------------------------------------------------------


def split_groups(events: Sequence[bytes]) -> list[list[bytes]]:
    """Events cut into transactions at their GTID events."""
    groups: list[list[bytes]] = []
    for event in events:
        if event[4] in _STARTS or not groups:
            groups.append([])
        groups[-1].append(event)
    return groups


def _judge_events(script: Script, observation: Observation, judgement: Judgement) -> None:
    expected = expected_groups(script, observation.schema)
    observed = split_groups(observation.events)
    for wanted, group in zip(expected, observed, strict=False):
        _judge_group(script, wanted, group, judgement)
    if len(expected) != len(observed):
        judgement.add(
            Mismatch(
                kind="events",
                step=None,
                field="transactions",
                expected=str(len(expected)),
                got=str(len(observed)),
                message="another number of transactions was logged",
            )
        )


def _judge_group(script: Script, wanted: ExpectedGroup, group: list[bytes], judgement: Judgement) -> None:
    plain = all(_algorithm(event) is Checksum.NONE for event in group)
    algorithm = Checksum.NONE if plain else Checksum.CRC32  # one wrong checksum is no other algorithm
    first = _with_length(wanted.events[0], group[0], sum(map(len, group[1:])), algorithm)
    if not wanted.compressed:
        _judge_sequence(script, (first, *wanted.events[1:]), group, judgement, algorithm)
        return
    if len(group) != 2 or group[1][4] != EventType.TRANSACTION_PAYLOAD:
        payload = ExpectedEvent(TransactionPayload(payload=b""), None)
        _judge_sequence(script, (first, payload), group, judgement, algorithm)
        return
    _judge_event(script, first, group[0], judgement, algorithm)
    inner = _judge_payload(script, group[1], judgement, algorithm)
    if inner is not None:
        _judge_sequence(script, wanted.events[1:], inner, judgement, Checksum.NONE)


def _judge_payload(script: Script, event: bytes, judgement: Judgement, algorithm: Checksum) -> list[bytes] | None:
    """The events inside a TRANSACTION_PAYLOAD; ``None`` if it cannot be read. Its own fields are compared too."""
    footer = FOOTER_SIZE if algorithm is Checksum.CRC32 else 0
    try:
        data = TransactionPayload.decode(event[HEADER_SIZE : len(event) - footer]).uncompressed()
    except CodecError as error:
        judgement.add(
            Mismatch(
                kind="event",
                step=None,
                field=event_name(event[4]),
                expected="a payload that can be read",
                got=event.hex(),
                message=f"the event cannot be read: {error}",
            )
        )
        return None
    frame = TransactionPayload(payload=b"", uncompressed_size=len(data))
    _judge_event(script, ExpectedEvent(frame, None), event, judgement, algorithm)
    return list(_inner_events(data))


def _judge_sequence(
    script: Script,
    wanted: Sequence[ExpectedEvent],
    events: Sequence[bytes],
    judgement: Judgement,
    algorithm: Checksum,
) -> None:
    kinds = [event.body.type for event in wanted]  # type: ignore[attr-defined]
    got = [event[4] for event in events]
    if kinds != got:
        place = first_difference(bytes(kinds), bytes(got))
        step = wanted[place].step if place < len(wanted) else wanted[-1].step
        judgement.add(
            Mismatch(
                kind="events",
                step=step,
                rows=() if step is None else script.predictions[step].step.rows,
                field="event types",
                expected=", ".join(map(event_name, kinds)),
                got=", ".join(map(event_name, got)),
                message="the transaction has other events",
            )
        )
        return
    for expected, event in zip(wanted, events, strict=True):
        _judge_event(script, expected, event, judgement, algorithm)


def _judge_event(
    script: Script, expected: ExpectedEvent, event: bytes, judgement: Judgement, algorithm: Checksum
) -> None:
    judgement.events += 1
    judgement.bytes += len(event)
    body = expected.body
    if isinstance(body, TableMap | RowsBody):
        bytes_expected = _with_table_id(body, event, algorithm)
        if bytes_expected == event:
            return
    try:
        tables = {int.from_bytes(event[HEADER_SIZE : HEADER_SIZE + _TABLE_ID], "little"): script.model.table_map}
        observed = decode_event(event, algorithm=algorithm, tables=tables, verify=False)
        body = borrow(body, observed.body)
        wanted = complete(body, observed.header, algorithm=algorithm)
    except CodecError as error:
        observed, wanted = None, b""
        message = f"the event cannot be read: {error}"
    else:
        if wanted == event:
            return
        message = "the event's bytes differ"
    step = expected.step
    rows = () if step is None else script.predictions[step].step.rows
    evidence = compare_fields(body, None if observed is None else observed.body, script.model.table_map)
    offset = first_difference(wanted, event)
    judgement.add(
        Mismatch(
            kind="event",
            step=step,
            rows=rows,
            field=f"{event_name(event[4])}{'.' + evidence[0].field if evidence else ''}",
            offset=offset,
            expected=wanted.hex(),
            got=event.hex(),
            message=message,
            evidence=evidence,
        )
    )


def _with_table_id(body: TableMap | RowsBody, event: bytes, algorithm: Checksum) -> bytes:
    """The predicted event with the observed header fields and table id, without decoding anything."""
    data = body.encode()
    footer = FOOTER_SIZE if algorithm is Checksum.CRC32 else 0
    length = HEADER_SIZE + len(data) + footer
    # Header: timestamp 4, type 1, server id 4, length 4, log_pos 4, flags 2; then the table id.
    out = (
        event[:4]
        + body.type.to_bytes(1, "little")
        + event[5:9]
        + length.to_bytes(4, "little")
        + event[13:17]
        + body.default_flags.to_bytes(2, "little")
        + event[HEADER_SIZE : HEADER_SIZE + _TABLE_ID]
        + data[_TABLE_ID:]
    )
    return out + checksum_of(out).to_bytes(FOOTER_SIZE, "little") if footer else out


def _with_length(first: ExpectedEvent, event: bytes, others: int, algorithm: Checksum) -> ExpectedEvent:
    """The GTID event with its transaction_length, whose own packed size is part of it (sheet 6)."""
    body = first.body
    if not isinstance(body, Gtid):
        return first
    try:
        decoded = decode_event(event, algorithm=algorithm, verify=False).body
    except CodecError:
        return first  # reported when the event itself is compared
    if not isinstance(decoded, Gtid) or decoded.transaction_length is None:
        return first
    fixed = len(event) - packed_size(decoded.transaction_length)
    size = 1
    while packed_size(fixed + size + others) != size:
        size = packed_size(fixed + size + others)
    return replace(first, body=replace(body, transaction_length=fixed + size + others))


def _algorithm(event: bytes) -> Checksum:
    """Whether an event ends with its own CRC32; checksums are borrowed in their kind, not in their value."""
    stored = int.from_bytes(event[-FOOTER_SIZE:], "little")
    return Checksum.CRC32 if checksum_of(event[:-FOOTER_SIZE]) == stored else Checksum.NONE


def _inner_events(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        length = int.from_bytes(data[position + 9 : position + 13], "little")
        if length < HEADER_SIZE:
            break
        yield data[position : position + length]
        position += length


def iter_events(events: Iterable[bytes]) -> Iterator[tuple[bytes, Event | None, CodecError | None]]:
    """(bytes, decoded event, error) of every event, those inside compressed transactions too. Rows are typed."""
    tables: dict[int, TableMap] = {}
    for raw in events:
        algorithm = _algorithm(raw)
        try:
            event = decode_event(raw, algorithm=algorithm, tables=tables)
            yield raw, event.typed(), None
            if isinstance(event.body, TableMap):
                tables[event.body.table_id] = event.body
            if not isinstance(event.body, TransactionPayload):
                continue
            for inner in _inner_events(event.body.uncompressed()):
                decoded = decode_event(inner, algorithm=Checksum.NONE, tables=tables)
                if isinstance(decoded.body, TableMap):
                    tables[decoded.body.table_id] = decoded.body
                yield inner, decoded.typed(), None
        except CodecError as error:
            yield raw, None, error
