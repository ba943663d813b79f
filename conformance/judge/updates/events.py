"""The events of a Case compared with the captured ones: transactions, their events, and each event's bytes.

Bytes are compared first; an event is decoded only after a mismatch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.judge.updates.attribution import LOG, is_update, of_event, of_types
from conformance.judge.updates.borrowed import borrow, complete
from conformance.judge.updates.expected import ExpectedEvent, ExpectedGroup, expected_groups
from conformance.judge.updates.fields import compare_fields
from conformance.judge.updates.mismatch import Judgement, Mismatch
from conformance.judge.updates.permitted_variation import variation_of
from conformance.reference.binlog.event import Event, decode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum, checksum_of, kind_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.cursor import packed_size
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script

_STARTS = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED))
_TABLE_ID = 6


def first_difference(a: bytes, b: bytes) -> int:
    """The offset at which two byte strings differ."""
    for position, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return position
    return min(len(a), len(b))


def split_groups(events: Sequence[bytes]) -> list[list[bytes]]:
    """Events cut into transactions at their GTID events."""
    groups: list[list[bytes]] = []
    for event in events:
        if kind_of(event) in _STARTS or not groups:
            groups.append([])
        groups[-1].append(event)
    return groups


def judge_events(script: Script, observation: Observation, judgement: Judgement) -> None:
    """Compare the source's own events with those of the script."""
    gtids = observation.log is None or observation.log.gtids
    expected = expected_groups(script, observation.schema, gtids=gtids)
    judge_groups(script, expected, split_groups(observation.events), judgement)


def judge_groups(
    script: Script, expected: Sequence[ExpectedGroup], observed: Sequence[list[bytes]], judgement: Judgement
) -> None:
    """Compare transactions with the expected ones. The TABLE_MAP of the script's model describes the events' tables."""
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
                broken=(LOG,),
            )
        )


def _judge_group(script: Script, wanted: ExpectedGroup, group: list[bytes], judgement: Judgement) -> None:
    plain = all(_algorithm(event) is Checksum.NONE for event in group)
    algorithm = Checksum.NONE if plain else Checksum.CRC32  # one wrong checksum is no other algorithm
    first = _with_length(wanted.events[0], group[0], sum(map(len, group[1:])), algorithm)
    if not wanted.compressed:
        _judge_sequence(script, (first, *wanted.events[1:]), group, judgement, algorithm)
        return
    if len(group) != 2 or kind_of(group[1]) != EventType.TRANSACTION_PAYLOAD:
        payload = ExpectedEvent(TransactionPayload(payload=b""), None)
        _judge_sequence(script, (first, payload), group, judgement, algorithm)
        return
    _judge_event(script, first, group[0], judgement, algorithm)
    inner = _judge_payload(script, group[1], judgement, algorithm)
    if inner is not None:
        _judge_sequence(script, wanted.events[1:], inner, judgement, Checksum.NONE)


def _judge_payload(script: Script, event: bytes, judgement: Judgement, algorithm: Checksum) -> list[bytes] | None:
    """The events inside a TRANSACTION_PAYLOAD; ``None`` if it is unreadable. The judge compares its own fields too."""
    footer = FOOTER_SIZE if algorithm is Checksum.CRC32 else 0
    try:
        payload = TransactionPayload.decode(event[HEADER_SIZE : len(event) - footer])
        data = payload.uncompressed()
    except CodecError as error:
        judgement.add(
            Mismatch(
                kind="event",
                step=None,
                field=event_name(kind_of(event)),
                expected="a payload that can be read",
                got=event.hex(),
                message=f"the event cannot be read: {error}",
                broken=of_event(None, None, None, ()),
            )
        )
        return None
    judgement.frames += len(payload.payload)
    frame = TransactionPayload(payload=b"", uncompressed_size=len(data))
    _judge_event(script, ExpectedEvent(frame, None), event, judgement, algorithm)
    return list(inner_events(data))


def _judge_sequence(
    script: Script,
    wanted: Sequence[ExpectedEvent],
    events: Sequence[bytes],
    judgement: Judgement,
    algorithm: Checksum,
) -> None:
    kinds = [event.body.type for event in wanted]  # type: ignore[attr-defined]
    got = [kind_of(event) for event in events]
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
                broken=of_types(kinds, got, lambda place: _is_update(script, events[place], algorithm)),
            )
        )
        return
    for expected, event in zip(wanted, events, strict=True):
        _judge_event(script, expected, event, judgement, algorithm)


def _is_update(script: Script, event: bytes, algorithm: Checksum) -> bool:
    try:
        return is_update(_decoded(script, event, algorithm))
    except CodecError:
        return False


def _decoded(script: Script, event: bytes, algorithm: Checksum) -> Event:
    """An event of rows, of whatever table id, is one of the script's table."""
    tables = {int.from_bytes(event[HEADER_SIZE : HEADER_SIZE + _TABLE_ID], "little"): script.model.table_map}
    return decode_event(event, algorithm=algorithm, tables=tables, verify=False)


def _judge_event(
    script: Script, expected: ExpectedEvent, event: bytes, judgement: Judgement, algorithm: Checksum
) -> None:
    judgement.events += 1
    judgement.bytes += len(event)
    judgement.kinds[kind_of(event)] += 1
    body = expected.body
    if isinstance(body, TableMap | RowsBody):
        bytes_expected = _with_table_id(body, event, algorithm)
        if bytes_expected == event:
            return
    try:
        observed = _decoded(script, event, algorithm)
        body = borrow(body, observed.body)
        wanted = complete(body, observed.header, algorithm=algorithm, flags=expected.flags)
    except CodecError as error:
        observed, wanted = None, b""
        message = f"the event cannot be read: {error}"
    else:
        if wanted == event:
            return
        message = "the event's bytes differ"
    step = expected.step
    rows = () if step is None else script.predictions[step].step.rows
    names = [column.name for column in script.case.table.columns]
    evidence = compare_fields(body, None if observed is None else observed.body, names)
    offset = first_difference(wanted, event)
    judgement.add(
        Mismatch(
            kind="event",
            step=step,
            rows=rows,
            field=f"{event_name(kind_of(event))}{'.' + evidence[0].field if evidence else ''}",
            offset=offset,
            expected=wanted.hex(),
            got=event.hex(),
            message=message,
            evidence=evidence,
            broken=of_event(None if step is None else script.predictions[step], body, observed, names),
            variation=_variation(script, step, body, observed, event, len(event) - len(wanted)),
        )
    )


def _variation(
    script: Script, step: int | None, body: object, observed: Event | None, event: bytes, growth: int
) -> str | None:
    """Whether the worklog permits the difference of a row event."""
    if step is None or observed is None or not isinstance(body, RowsBody):
        return None
    try:
        got = observed.typed().body
        algorithm = Checksum.NONE if observed.checksum is None else Checksum.CRC32
        if not isinstance(got, RowsBody) or complete(got, observed.header, algorithm=algorithm) != event:
            return None  # more than the content differs: header, checksum, or unread bytes
    except CodecError:
        return None
    names = [column.name for column in script.case.table.columns]
    return variation_of(script.predictions[step], body, got, growth, names)


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
    """The GTID event with its transaction_length, whose own packed size is part of it (binlog-events 6)."""
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
    """Whether an event ends with its own CRC32; the kind of checksum is borrowed, its value is not."""
    stored = int.from_bytes(event[-FOOTER_SIZE:], "little")
    return Checksum.CRC32 if checksum_of(event[:-FOOTER_SIZE]) == stored else Checksum.NONE


def inner_events(data: bytes) -> Iterator[bytes]:
    """The events of an uncompressed payload. The last item may be bytes that are no event, so that nothing is lost."""
    position = 0
    while position < len(data):
        length = int.from_bytes(data[position + 9 : position + 13], "little")
        end = position + length if length >= HEADER_SIZE else len(data)
        yield data[position:end]
        position = end


def readable_events(events: Iterable[bytes]) -> Iterator[tuple[bytes, Event]]:
    """Bytes and decoded event of every event, for readers that need all of them.

    Raises :class:`CodecError` for an event that cannot be read, and where some events have a checksum and some do not:
    one of them was altered.
    """
    events = list(events)
    if len({_algorithm(raw) for raw in events}) > 1:
        number = next(place for place, raw in enumerate(events) if _algorithm(raw) is Checksum.NONE)
        raise DecodeError("checksum", "the checksum is wrong, others of the log are right", path=(f"events[{number}]",))
    for raw, event, error in iter_events(events):
        if event is None:
            raise error or AssertionError
        yield raw, event


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
            for inner in inner_events(event.body.uncompressed()):
                decoded = decode_event(inner, algorithm=Checksum.NONE, tables=tables)
                if isinstance(decoded.body, TableMap):
                    tables[decoded.body.table_id] = decoded.body
                yield inner, decoded.typed(), None
        except CodecError as error:
            yield raw, None, error
