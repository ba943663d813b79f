"""The events of two binary logs side by side, read without the kit: frames, checksums, and the fields that may differ.

An expanded log and the log of a server without partial JSON and compression have the same bytes, except for what
belongs to the moment: times, the id that a table has while it is open, transaction numbers. ``BORROWED`` lists all.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from itertools import zip_longest
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct("<IBIIIH")
_QUERY, _XID, _TABLE_MAP, _FORMAT, _GTID, _PREVIOUS, _ROTATE, _UPDATE = 2, 16, 19, 15, 33, 35, 4, 31
_ROWS: Final = frozenset((30, 31, 32, 39))

# What belongs to the moment or to the place in the file. ``frames`` verifies what is computed.
BORROWED: Final = {
    "header.timestamp": "the second in which the statement began",
    "header.end_log_pos": "verified: the end of the event in its file",
    "checksum": "verified: of the event's own bytes",
    "QUERY.execution_time": "seconds that the statement took",
    "TABLE_MAP.table_id, ROWS.table_id": "the number of the table while it is open",
    "XID.xid": "the number of the transaction in the server",
    "GTID.gno": "the number of the transaction in the log",
    "GTID.immediate_commit_timestamp": "the moment of the commit",
    "GTID.transaction_length": "verified: the bytes of the transaction in its file",
}
_FIELDS: Final = {
    _QUERY: ((4, 8),),
    _TABLE_MAP: ((0, 6),),
    _XID: ((0, 8),),
    **dict.fromkeys(_ROWS, ((0, 6),)),
}
_ANONYMOUS, _TAGGED, _STOP = 34, 42, 3
_BETWEEN: Final = frozenset((_FORMAT, _GTID, _ANONYMOUS, _TAGGED, _PREVIOUS, _ROTATE, _STOP))


class Frame(NamedTuple):
    """One event: type, start, and its bytes without what is borrowed."""

    type: int
    start: int
    compared: bytes

    @property
    def kind(self) -> bytes:
        """The bytes of a row event in front of its rows: with flags (but the end of the statement), partition, and both
        bitmaps."""
        extra = int.from_bytes(self.compared[27:29], "little")
        columns = self.compared[27 + extra]
        assert columns < 251
        end = 28 + extra + (2 if self.type == _UPDATE else 1) * ((columns + 7) // 8)
        return self.compared[:25] + bytes((self.compared[25] & ~1,)) + self.compared[26:end]


_NONE: Final = Frame(0, 0, b"")


def frames(data: bytes) -> list[Frame]:
    """All events of a closed file with checksums.

    Raises :class:`AssertionError` where a position, a checksum or the length of a transaction is wrong.
    """
    assert data[:4] == b"\xfebin"
    found = []
    place, group, claimed = 4, 4, None
    while place < len(data):
        assert len(data) - place >= _HEADER.size, f"the event at {place} is cut off"
        _, kind, _, length, end, _ = _HEADER.unpack_from(data, place)
        event = data[place : place + length]
        assert len(event) == length, f"the event at {place} is cut off"
        assert end == place + length, f"the event at {place} ends at {end}, expected {place + length}"
        assert zlib.crc32(event[:-4]) == int.from_bytes(event[-4:], "little"), f"the checksum of the event at {place}"
        masked = bytearray(event[:-4])
        masked[0:4] = masked[9:13] = masked[13:17] = bytes(4)
        for first, last in _FIELDS.get(kind, ()):
            masked[19 + first : 19 + last] = bytes(last - first)
        if kind in _BETWEEN:
            assert claimed in (None, place - group), (
                f"the GTID at {group} says {claimed} bytes, expected {place - group}"
            )
            claimed = None
        if kind in (_GTID, _ANONYMOUS):
            group = place
            original = event[19 + 48] & 0x80  # a second time follows: the commit on another server
            claimed, behind = _packed(event, 19 + (56 if original else 49))
            masked = masked[: 19 + 17] + masked[19 + 25 : 19 + 42] + masked[behind:]
        found.append(Frame(kind, place, bytes(masked)))
        place += length
    assert claimed in (None, place - group), f"the GTID at {group} says {claimed} bytes, expected {place - group}"
    return found


def _packed(data: bytes, place: int) -> tuple[int, int]:
    """A packed integer, and where it ends."""
    size = {252: 2, 253: 3, 254: 8}.get(data[place], 0)
    if not size:
        return data[place], place + 1
    return int.from_bytes(data[place + 1 : place + 1 + size], "little"), place + 1 + size


def compare(expanded: bytes, written: bytes) -> tuple[Counter[str], list[str]]:
    """How many events and bytes are equal, and a line for each difference.

    FORMAT_DESCRIPTION, PREVIOUS_GTIDS and ROTATE belong to the file, not to its transactions; they are not compared.
    Row events whose rows differ are counted as ``other layout``: the caller holds their values against each other.
    """
    counts: Counter[str] = Counter()
    problems: list[str] = []
    mine, theirs = (_runs(data) for data in (expanded, written))
    if [run[0].type for run in mine] != [run[0].type for run in theirs]:
        problems.append(f"other events: {Counter(r[0].type for r in mine)} and {Counter(r[0].type for r in theirs)}")
    for one, other in zip(mine, theirs, strict=False):
        counts["events"] += len(other)
        counts["bytes"] += sum(len(frame.compared) for frame in other)
        if len(one) != len(other) and {frame.kind for frame in one} == {frame.kind for frame in other}:
            # A document of another size ends an event elsewhere.
            counts["events with other layout"] += len(other)
            counts["statements that are split elsewhere"] += 1
            continue
        for left, right in zip_longest(one, other, fillvalue=_NONE):
            if left.compared == right.compared:
                continue
            if left.type == right.type == _UPDATE and left.kind == right.kind:
                counts["events with other layout"] += 1
            else:
                problems.append(
                    f"type {left.type} at {left.start}, type {right.type} at {right.start}: {_first(left, right)}"
                )
    return counts, problems


def _runs(data: bytes) -> list[list[Frame]]:
    """The events of transactions: the UPDATEs of a statement together, each other event alone."""
    found: list[list[Frame]] = []
    for frame in frames(data):
        if frame.type in (_FORMAT, _PREVIOUS, _ROTATE):
            continue
        last = found[-1][-1] if found else _NONE
        if frame.type == last.type == _UPDATE and frame.kind == last.kind and not last.compared[25] & 1:
            found[-1].append(frame)
        else:
            found.append([frame])
    return found


def _first(one: Frame, other: Frame) -> str:
    """Where two events differ first."""
    pairs = zip(one.compared, other.compared, strict=False)
    place = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one.compared), len(other.compared)))
    lengths = f"lengths {len(one.compared)} and {len(other.compared)}"
    near = slice(max(0, place - 8), place + 24)
    return f"{lengths}, byte {place}: {one.compared[near].hex()} and {other.compared[near].hex()}"
