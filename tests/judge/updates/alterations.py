"""Seeded alterations of what a server left of a Case: its events, what was read back, its answers.

Every alteration is made from the observation alone, so that recorded observations and those of the perfect server can
both be altered. Most keep the frame sound (lengths and checksums are made right again), so that the damage reaches the
innermost reader; some do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.observation import Observation, StatementOutcome
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.header import FOOTER_SIZE, Checksum, checksum_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import LARGE_ARRAY
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from conformance.cases.observation import ReadBackRow

HEADER: Final = 19


def _sealed(event: bytes) -> bytes:
    """With its length and checksum made right again."""
    event = event[:9] + (len(event) & 0xFFFFFFFF).to_bytes(4, "little") + event[13:]
    return event[:-FOOTER_SIZE] + checksum_of(event[:-FOOTER_SIZE]).to_bytes(FOOTER_SIZE, "little")


def _event(observation: Observation, random: Random, change: Callable[[bytes], bytes]) -> Observation:
    events = list(observation.events)
    place = random.randrange(len(events))
    events[place] = change(events[place])
    return replace(observation, events=tuple(events))


# --- bytes of an event ----------------------------------------------------------------------------------------------


def _byte(observation: Observation, random: Random) -> Observation:
    def change(event: bytes) -> bytes:
        at = random.randrange(len(event))
        changed = event[:at] + bytes(
            (random.choice((0, 1, 0x7F, 0x80, 0xFB, 0xFC, 0xFE, 0xFF, random.randrange(256))),)
        )
        return changed + event[at + 1 :]

    return _event(observation, random, change)


def _sealed_bytes(observation: Observation, random: Random) -> Observation:
    def change(event: bytes) -> bytes:
        data = bytearray(event)
        for _ in range(random.choice((1, 1, 2, 8))):
            data[random.randrange(HEADER, len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFB, 0xFC, 0xFE, 0xFF))
        return _sealed(bytes(data))

    return _event(observation, random, change)


def _integer(observation: Observation, random: Random) -> Observation:
    """A packed integer, or a length, that is absurd."""

    def change(event: bytes) -> bytes:
        at = random.randrange(HEADER, len(event))
        huge = random.choice((b"\xfe" + b"\xff" * 8, b"\xfd\xff\xff\xff", b"\xfc\xff\xff", b"\xff" * 4, b"\x00" * 4))
        return _sealed(event[:at] + huge + event[at + random.choice((1, len(huge))) :])

    return _event(observation, random, change)


def _cut(observation: Observation, random: Random) -> Observation:
    return _event(observation, random, lambda event: _sealed(event[: random.randrange(HEADER, len(event))] + bytes(4)))


def _torn(observation: Observation, random: Random) -> Observation:
    """Cut anywhere, in the header too; nothing made right."""
    return _event(observation, random, lambda event: event[: random.randrange(len(event))])


def _longer(observation: Observation, random: Random) -> Observation:
    tail = random.randbytes(random.choice((1, 4, 300)))
    return _event(observation, random, lambda event: _sealed(event[:-4] + tail + bytes(4)))


def _header(observation: Observation, random: Random) -> Observation:
    def change(event: bytes) -> bytes:
        at = random.choice((0, 4, 4, 5, 9, 10, 12, 13, 17, 18))
        event = event[:at] + bytes((random.randrange(256),)) + event[at + 1 :]
        return event[:-FOOTER_SIZE] + checksum_of(event[:-FOOTER_SIZE]).to_bytes(FOOTER_SIZE, "little")

    return _event(observation, random, change)


def _no_events(observation: Observation, _: Random) -> Observation:
    return replace(observation, events=())


def _missing(observation: Observation, random: Random) -> Observation:
    events = list(observation.events)
    del events[random.randrange(len(events))]
    return replace(observation, events=tuple(events))


def _extra(observation: Observation, random: Random) -> Observation:
    events = list(observation.events)
    new = random.choice((random.choice(events), random.randbytes(random.randrange(60)), b""))
    events.insert(random.randrange(len(events) + 1), new)
    return replace(observation, events=tuple(events))


def _shuffled(observation: Observation, random: Random) -> Observation:
    events = list(observation.events)
    a, b = random.randrange(len(events)), random.randrange(len(events))
    events[a], events[b] = events[b], events[a]
    return replace(observation, events=tuple(events))


# --- typed: one JSON value of a row, or the bytes inside a compressed transaction -----------------------------------


def _permuted(document: bytes, random: Random) -> bytes:
    """Its bytes behind the type in another order: entries, keys and values."""
    kind, rest = document[:1], document[1:]
    cut = sorted(random.randrange(len(rest) + 1) for _ in range(2)) if rest else [0, 0]
    return kind + random.choice(
        (rest[::-1], rest[cut[1] :] + rest[cut[0] : cut[1]] + rest[: cut[0]], bytes(random.sample(rest, len(rest))))
    )


def reordered(document: bytes, random: Random) -> bytes:
    """The first container's key entries, value entries, or both, in another order: the same pieces, misplaced."""
    if not document or document[0] > LARGE_ARRAY or len(document) < 12:
        return _permuted(document, random)
    wide = document[0] & 1
    head, key, value = (9, 6, 5) if wide else (5, 4, 3)
    count = int.from_bytes(document[1 : 1 + head // 2], "little")
    keys = key * count if document[0] < 2 else 0
    out = bytearray(document)
    for start, size, total in ((head, key, keys), (head + keys, value, value * count)):
        total = min(total, len(document) - start)
        pieces = [bytes(document[at : at + size]) for at in range(start, start + total, size)]
        if pieces and random.random() < 0.8:
            random.shuffle(pieces)
            out[start : start + total] = b"".join(pieces)
    return bytes(out)


def _flipped(document: bytes, random: Random) -> bytes:
    if not document:
        return b"\x00"
    at = random.randrange(len(document))
    return document[:at] + bytes((random.randrange(256),)) + document[at + 1 :]


def _bad_text(document: bytes, random: Random) -> bytes:
    places = [place for place, byte in enumerate(document) if 0x61 <= byte <= 0x7A]
    if not places:
        return _flipped(document, random)
    at = random.choice(places)
    return document[:at] + b"\xff" + document[at + 1 :]


def _other(document: bytes, _: Random) -> bytes:
    try:
        return encode([decode(document)])
    except CodecError:
        return b"\x0f"


VALUES: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    reordered, _permuted, _flipped, _bad_text, _other,
    lambda document, random: document[: random.randrange(len(document) + 1)],
    lambda document, random: document + random.randbytes(random.randrange(1, 40)),
    lambda _, random: random.randbytes(random.randrange(30)),
    lambda _document, _random: encode("x" * 70_000),
    lambda _document, _random: b"\x02\x01\x00\x07\x00\x02\x00\x00" * 120,
    lambda _document, random: b"\x03" + b"\xff" * random.randrange(1, 20),
)  # fmt: skip


def value_altered(change: Callable[[bytes, Random], bytes]) -> Callable[[Observation, Random], Observation]:
    """One JSON value of an after-image, a document or diffs, as ``change`` makes it; the event is sound otherwise."""

    def alter(observation: Observation, random: Random) -> Observation:
        events = list(observation.events)
        places = _row_events(events)
        if not places:
            return observation
        place, body, header, algorithm = random.choice(places)
        rows = list(body.rows)
        number = random.randrange(len(rows))
        after = list(rows[number].after or ())
        json = [index for index, value in enumerate(after) if isinstance(value, (bytes, PartialJson))]
        if not json:
            return observation
        index = random.choice(json)
        value = after[index]
        after[index] = change(value, random) if isinstance(value, bytes) else PartialJson(change(value.diffs, random))  # type: ignore[union-attr]
        if random.random() < 0.1:
            after[index] = None
        options = {"value_options": None, "partial_columns": None} if rows[number].value_options is not None else {}
        rows[number] = rows[number]._replace(after=tuple(after), **options)
        try:
            events[place] = encode_event(
                replace(body, rows=tuple(rows)),
                timestamp=header.timestamp, server_id=header.server_id, log_pos=header.log_pos, flags=header.flags,
                algorithm=algorithm,
            )  # fmt: skip
        except CodecError:
            return observation
        return replace(observation, events=tuple(events))

    return alter


def _row_events(events: list[bytes]) -> list[tuple[int, RowsBody, Any, Checksum]]:
    tables: dict[int, Any] = {}
    found = []
    for place, raw in enumerate(events):
        event = decode_event(raw, algorithm=Checksum.CRC32, tables=tables, verify=False).typed()
        if isinstance(event.body, TableMap):
            tables[event.body.table_id] = event.body
        if isinstance(event.body, RowsBody):
            found.append((place, event.body, event.header, Checksum.CRC32))
    return found


def _payload(observation: Observation, random: Random) -> Observation:
    """A byte inside a compressed transaction, compressed again."""
    events = list(observation.events)
    places = [place for place, event in enumerate(events) if event[4] == EventType.TRANSACTION_PAYLOAD]
    if not places:
        return _sealed_bytes(observation, random)
    place = random.choice(places)
    data = bytearray(TransactionPayload.decode(events[place][HEADER:-4]).uncompressed())
    for _ in range(random.choice((1, 4))):
        data[random.randrange(len(data))] = random.choice((0, 1, 0x80, 0xFE, 0xFF, random.randrange(256)))
    inner = bytes(data) if random.random() < 0.7 else bytes(data[: random.randrange(len(data))])
    body = TransactionPayload.compress(inner)
    events[place] = _sealed(events[place][:HEADER] + body.encode() + bytes(4))
    return replace(observation, events=tuple(events))


# --- what the client got --------------------------------------------------------------------------------------------


def _rows(observation: Observation, random: Random) -> Observation:
    read_backs = [list(rows) for rows in observation.read_backs]
    rows = random.choice(read_backs) if read_backs else []
    match random.randrange(6):
        case 0:
            rows.clear()
        case 1:
            del rows[-1:]
        case 2:
            rows += rows[:1]
        case 3:
            rows.reverse()
        case 4:
            rows[:] = [row[:-1] for row in rows]
        case _:
            for each in read_backs:
                each.clear()
    return replace(observation, read_backs=tuple(map(tuple, read_backs)))


def _read_back_error(observation: Observation, random: Random) -> Observation:
    """One more number than there was, or another, or none; the rows stay."""
    errors = list(observation.read_back_errors or (0,) * len(observation.read_backs))
    place = random.randrange(len(errors))
    errors[place] = random.choice([number for number in (0, 3157, 3142, 1815, 2013) if number != errors[place]])
    return replace(observation, read_back_errors=tuple(errors))


CELLS: Final = (
    None,
    b"",
    b"0",
    b"-1",
    b"12x",
    b"\xff\xfe",
    b"9" * 40,
    b"null",
    b"{}",
    b"x" * 70_000,
    "\u0663".encode(),
)


def _cell(observation: Observation, random: Random) -> Observation:
    read_backs = [list(rows) for rows in observation.read_backs]
    empty: list[ReadBackRow] = [()]
    rows = random.choice([rows for rows in read_backs if rows] or [empty])
    number = random.randrange(len(rows))
    cells = list(rows[number])
    if cells:
        cells[random.randrange(len(cells))] = random.choice(CELLS)
    rows[number] = tuple(cells)
    return replace(observation, read_backs=tuple(map(tuple, read_backs)))


def _outcome(observation: Observation, random: Random) -> Observation:
    outcomes = list(observation.outcomes)
    place = random.randrange(len(outcomes))
    outcomes[place] = random.choice(
        (
            StatementOutcome(0, random.choice((1032, 1064, 1105, 3140, 3158, 65535)), "refused"),
            StatementOutcome(outcomes[place].changed + random.choice((1, -1, 10**6))),
            StatementOutcome(0),
        )
    )
    return replace(observation, outcomes=tuple(outcomes))


def _several(observation: Observation, random: Random) -> Observation:
    for _ in range(random.randrange(2, 5)):
        name = random.choice([name for name in ALTERATIONS if name != "several"])
        try:
            observation = ALTERATIONS[name](observation, random)
        except (CodecError, IndexError, ValueError):
            continue  # what an earlier one has left cannot be altered this way any more
    return observation


ALTERATIONS: Final[dict[str, Callable[[Observation, Random], Observation]]] = {
    "byte": _byte, "sealed bytes": _sealed_bytes, "absurd integer": _integer, "cut": _cut, "torn": _torn,
    "longer": _longer, "header": _header, "no events": _no_events, "missing event": _missing, "extra event": _extra,
    "shuffled": _shuffled, "inside of a payload": _payload, "rows read back": _rows,
    "error of a read-back": _read_back_error, "cell": _cell, "outcome": _outcome, "several": _several,
    **{f"value {number}": value_altered(change) for number, change in enumerate(VALUES)},
}  # fmt: skip
