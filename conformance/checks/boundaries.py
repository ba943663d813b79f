"""Judges of transaction boundaries: marked streams, the parser that shipped, what programs say of broken streams."""

from __future__ import annotations

import base64
import re
import subprocess
from io import BytesIO
from random import Random
from time import localtime
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.outcomes import Problem
from conformance.reference.binlog.files import EventDecoder, read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged, with_transaction_length
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC, EventType, checksum_of, event_name
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.boundaries import guess
from conformance.reference.boundaries.markers import BoundaryType, mark, marker_of
from conformance.reference.boundaries.reader import Kind, read_groups
from conformance.reference.boundaries.row_format import RowFormatParser
from conformance.reference.boundaries.seen import GTID_TYPES, Seen, seen
from conformance.reference.boundaries.shipped import ShippedParser, State
from conformance.reference.boundaries.source import mark_inside, mark_stream, split_inner
from conformance.reference.log_text import LogText
from conformance.servers.receiving import Warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.reference.boundaries.reader import Group
    from generators.streams import Placed

# The worklog's grammar; by its table a stream may also end inside a group.
_VALID: Final = re.compile(r"(?:1|2|3[14]*5)*(?:3[14]*)?")
_LOG_FRAME: Final = frozenset(
    (EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.ROTATE, EventType.STOP)
)
_IN_BINLOG: Final = frozenset(
    (
        EventType.TABLE_MAP,
        EventType.WRITE_ROWS,
        EventType.UPDATE_ROWS,
        EventType.DELETE_ROWS,
        EventType.PARTIAL_UPDATE_ROWS,
    )
)
_BINLOG: Final = re.compile(rb"^BINLOG '\n([^']*)'", re.MULTILINE)
_COMMENT: Final = re.compile(rb"^# boundary: (.*)\n", re.MULTILINE)
_AT: Final = re.compile(rb"^# at (\d+)$", re.MULTILINE)
_AROUND: Final = 8  # events that a problem shows
_ANOTHER: Final = (93).to_bytes(4, "little")
# Comments that have other words in our text than in the client's, and LOAD DATA, for which the client names a file
# that it has written.
OTHER_WORDS: Final = re.compile(
    rb"^(?:# (?:The proper term|to make the statement|Warning: |This Format_desc|Not closed: |A relay log, )"
    rb"|LOAD DATA ).*\n",
    re.MULTILINE,
)


def counted(counts: Mapping[str, int]) -> str:
    """Counts in words, the most first."""
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items(), key=lambda item: -item[1]))


def mark_events(events: Sequence[bytes]) -> list[bytes]:
    """The events as a source with the feature would have written them."""
    types = mark_stream(map(seen, events))
    return [mark(event, kind) for event, kind in zip(events, types, strict=True)]


def mark_file(events: Sequence[bytes]) -> list[bytes]:
    """A file's events with markers, those inside payloads too: a payload has another length then, so positions and the
    lengths of such groups are made anew."""
    writer = FileWriter(position=len(MAGIC))
    decoder = EventDecoder()
    out: list[bytes] = []
    for event in mark_events(events):
        decoded = decoder.decode(event)
        if isinstance(decoded.body, TransactionPayload):
            payload = TransactionPayload.compress(mark_inside(decoded.body.uncompressed()))
            event = decoded._replace(body=payload).encode()
            gtid = decoder.decode(out.pop())
            assert isinstance(gtid.body, (Gtid, GtidTagged))
            body = with_transaction_length(gtid.body, len(event), FOOTER_SIZE)
            again = gtid._replace(body=body).encode()
            writer.position = int.from_bytes(out[-1][13:17], "little")
            out.append(writer.copy(again))
        out.append(writer.copy(event))
    return out


def all_markers(marked: Iterable[bytes]) -> list[int]:
    """The markers of a file in the order of its text: the events inside a payload behind it."""
    out: list[int] = []
    for event in marked:
        out += markers_of([event])
        if event[4] == EventType.TRANSACTION_PAYLOAD:
            out += markers_of(_inner(event))
    return out


def _inner(event: bytes) -> Iterable[bytes]:
    return split_inner(TransactionPayload.decode(event[HEADER_SIZE:-FOOTER_SIZE]).uncompressed())


def of_another(event: bytes) -> bytes:
    """The event as if another server had written it: a receiver passes over those with its own id."""
    data = bytearray(event[:-FOOTER_SIZE])
    data[5:9] = _ANOTHER
    return bytes(data) + checksum_of(bytes(data)).to_bytes(FOOTER_SIZE, "little")


def without_gtids(events: Iterable[bytes]) -> list[bytes]:
    """The stream as a server writes it that knows no GTID events."""
    return [event for event in events if event[4] not in GTID_TYPES]


def _flags(event: bytes) -> int:
    return int.from_bytes(event[17:19], "little")


def markers_of(events: Iterable[bytes]) -> list[int]:
    """The markers in the headers."""
    return [marker_of(_flags(event)) for event in events]


def expected_breaks(markers: Sequence[int]) -> list[int]:
    """Which events of a marked stream the worklog calls errors: by its grammar alone, begun anew after each error."""
    text = "".join(map(str, markers))
    start, out = 0, []
    for number in range(len(text)):
        if not _VALID.fullmatch(text, start, number + 1):
            out.append(number)
            start = number + 1
    return out


def breaks(events: Iterable[Seen]) -> list[int]:
    """Which events the kit's receiver calls errors."""
    receiver = guess.Receiver()
    return [number for number, event in enumerate(events) if receiver.feed(event).broken]


def _where(events: Sequence[bytes], number: int) -> str:
    event = events[number]
    words = seen(event).text[:40].decode("utf-8", "replace") if event[4] == EventType.QUERY else ""
    return f"event {number} {event_name(event[4])} {words}".rstrip()


def judge_marks(events: Sequence[bytes], marked: Sequence[bytes], groups: int, coin: str) -> list[Problem]:
    """A real stream and its marked form. ``groups``: transactions that were run; ``coin``: which markers are taken off
    for the mixed stream."""
    problems = []
    for number, (event, other) in enumerate(zip(events, marked, strict=True)):
        if len(event) != len(other) or mark(other, 0) != event:
            problems.append(
                Problem(
                    field=_where(events, number),
                    expected="the event with three bits changed",
                    got=f"{len(other)} bytes where it has {len(event)}",
                    message="a marker takes room or changes more than its bits",
                )
            )
    if problems:
        return problems
    markers = markers_of(marked)
    problems += [
        Problem(
            field=_where(events, number),
            expected="a marker",
            got="none",
            message="an event is not marked",
        )
        for number, marker in enumerate(markers)
        if marker == BoundaryType.NOT_DEFINED
    ]
    random = Random(coin)
    mixed = [other if random.randrange(2) else event for event, other in zip(events, marked, strict=True)]
    for name, stream in (("marked", marked), ("unmarked", events), ("mixed", mixed)):
        receiver = guess.Receiver()
        for number, event in enumerate(stream):
            judged = receiver.feed(seen(event))
            if judged.broken is not None:
                problems.append(
                    Problem(
                        field=_where(events, number),
                        expected="an accepted event",
                        got=judged.broken.message,
                        message=f"a real transaction is refused as a {name} stream",
                    )
                )
            elif judged.type != markers[number]:
                problems.append(
                    Problem(
                        field=_where(events, number),
                        expected=str(markers[number]),
                        got=str(judged.type),
                        message=f"the guess differs from the mark in a {name} stream",
                    )
                )
    ends = sum(
        marker in (BoundaryType.END_TRANSACTION, BoundaryType.SELF_CONTAINED) and event[4] not in _LOG_FRAME
        for event, marker in zip(events, markers, strict=True)
    )
    if ends != groups:
        problems.append(
            Problem(
                field="transactions",
                expected=str(groups),
                got=str(ends),
                message="another number of transactions is marked than were run",
            )
        )
    return problems


def transactions_of(events: Iterable[bytes]) -> list[Group]:
    """What the reader finds in a stream, its frame left out."""
    groups = read_groups(BytesIO(b"".join(events)), 0, footer=FOOTER_SIZE)
    return [group for group in groups if group.kind is not Kind.FRAME]


def judge_shipped(events: Sequence[bytes], groups: int, gtids: frozenset[str] | None) -> list[Problem]:
    """The shipped parser's model accepts a real stream, and the reader finds its transactions. ``gtids``: what the
    server says was executed meanwhile."""
    parser = ShippedParser()
    problems = []
    for number, event in enumerate(events):
        complaint = parser.feed(seen(event))
        if complaint is not None:
            problems.append(
                Problem(
                    field=_where(events, number),
                    expected="an accepted event",
                    got=f"{complaint.kind.name} in state {complaint.state.name}",
                    message="the model of the shipped parser refuses a real transaction",
                )
            )
    if parser.state is not State.NONE:
        problems.append(
            Problem(
                field="end of the stream",
                expected="outside a transaction",
                got=parser.state.value,
                message="a real transaction has no end",
            )
        )
    found = transactions_of(events)
    strange = [str(group.kind) for group in found if group.kind in (Kind.OPEN, Kind.FRAGMENT)]
    names = [group.gtid for group in found if group.gtid is not None]
    for what, expected, got in (
        ("transactions", groups, len(found)),
        ("whole transactions", [], strange),
        ("GTIDs", sorted(names if gtids is None else gtids), sorted(names)),
    ):
        if expected != got:
            problems.append(
                Problem(
                    field=what,
                    expected=str(expected)[:200],
                    got=str(got)[:200],
                    message="the reader finds other transactions",
                )
            )
    return problems


def judge_relay_logs(files: Sequence[bytes], gtids: Sequence[str | None]) -> list[Problem]:
    """The relay logs of a receiver that heard whole transactions: each file is accepted by itself, and together they
    have the transactions. ``gtids``: those of the source, in order."""
    problems = []
    names: list[str | None] = []
    for number, data in enumerate(files):
        found = [group for group in read_groups(BytesIO(data), relay=True) if group.kind is not Kind.FRAME]
        names += [group.gtid for group in found]
        strange = [str(group.kind) for group in found if group.kind in (Kind.OPEN, Kind.FRAGMENT)]
        receiver, parser = guess.Receiver(relay=True), ShippedParser()
        events = list(split_log(data))
        broken = [event for event in map(seen, events) if receiver.feed(event).broken or parser.feed(event)]
        if strange or broken:
            problems.append(
                Problem(
                    field=f"relay log {number + 1}",
                    expected="whole transactions",
                    got=f"{strange}, {[event_name(event.type) for event in broken]}"[:200],
                    message="a relay log of real transactions is not accepted",
                )
            )
    if names != list(gtids):
        problems.append(
            Problem(
                field="relay logs",
                expected=f"{len(gtids)} transactions",
                got=f"{len(names)} transactions, or others",
                message="the relay logs hold other transactions than the source's log",
            )
        )
    return problems


def judge_relayed(sent: Sequence[bytes], files: Sequence[bytes]) -> list[Problem]:
    """The relay logs hold the source's events byte for byte; every file has a frame of its own around them."""
    wanted = [event for event in sent if event[4] not in _LOG_FRAME]
    got = [event for data in files for event in split_log(data) if event[4] not in _LOG_FRAME]
    if wanted == got:
        return []
    place = next(
        (number for number, pair in enumerate(zip(wanted, got, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(got)),
    )
    return [
        Problem(
            field=f"event {place} of the relay logs",
            expected=b"".join(wanted[place : place + 1]).hex()[:80] or f"{len(wanted)} events",
            got=b"".join(got[place : place + 1]).hex()[:80] or f"{len(got)} events",
            message="a relay log does not keep a marked event",
        )
    ]


def split_log(data: bytes) -> Iterable[bytes]:
    """The events of a file in memory, as they stand there."""
    position = len(MAGIC)
    while position < len(data):
        end = position + int.from_bytes(data[position + 9 : position + 13], "little")
        yield data[position:end]
        position = end


# --- printed ---------------------------------------------------------------------------------------------------------


def judge_text(marked: Sequence[bytes], ours: bytes, real: bytes) -> list[Problem]:
    """Text of the marked file: a comment for every event, and all the rest as the real client prints it."""
    comments = _COMMENT.findall(ours)
    wanted = [BoundaryType(marker).title.encode() for marker in all_markers(marked)]
    if comments != wanted:
        place = next(
            (number for number, pair in enumerate(zip(wanted, comments, strict=False)) if pair[0] != pair[1]),
            min(len(wanted), len(comments)),
        )
        return [
            Problem(
                field=f"comment {place}",
                expected=b"".join(wanted[place : place + 1]).decode() or f"{len(wanted)} comments",
                got=b"".join(comments[place : place + 1]).decode("utf-8", "replace") or f"{len(comments)} comments",
                message="the text does not show the marker",
            )
        ]
    rest, real = OTHER_WORDS.sub(b"", _COMMENT.sub(b"", ours)), OTHER_WORDS.sub(b"", real)
    if rest == real:
        return []
    lines, others = rest.split(b"\n"), real.split(b"\n")
    place = next(
        (number for number, pair in enumerate(zip(lines, others, strict=False)) if pair[0] != pair[1]),
        min(len(lines), len(others)),
    )
    return [
        Problem(
            field=f"line {place + 1}",
            expected=b"\n".join(others[place : place + 1]).decode("utf-8", "replace"),
            got=b"\n".join(lines[place : place + 1]).decode("utf-8", "replace"),
            message="the text of a marked file is another than the client's",
        )
    ]


def text_of(data: bytes) -> bytes:
    """A file as ``decode -vv`` prints it."""
    text = LogText(types=True, clock=localtime)
    pieces = [piece for event in read_events(BytesIO(data), expand=True) for piece in text.event(event)]
    return b"".join([text.begin(), *pieces, *text.end()])


def printed(program: Sequence[str], path: Path, *options: str) -> tuple[int, bytes, str]:
    """Exit status, text and words of the real client."""
    done = subprocess.run([*program, "--no-defaults", *options, str(path)], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()


def binlog_events(text: bytes) -> list[bytes]:
    """The row events and table maps in the BINLOG statements of a text, in order."""
    out = []
    for statement in _BINLOG.findall(text):
        for chunk in _base64_texts(statement):
            data = base64.b64decode(chunk)
            if data[4] != EventType.FORMAT_DESCRIPTION:
                out.append(data)
    return out


def _base64_texts(statement: bytes) -> Iterable[bytes]:
    """One text for each event: its length is in its header."""
    lines = statement.split()
    place = 0
    while place < len(lines):
        length = int.from_bytes(base64.b64decode(lines[place][:20])[9:13], "little")
        size = -(-length // 3) * 4
        taken = b""
        while len(taken) < size and place < len(lines):
            taken += lines[place]
            place += 1
        yield taken


def judge_binlog(marked: Sequence[bytes], text: bytes) -> list[Problem]:
    """Events in BINLOG statements are those of the file, markers and all; those of payloads have a checksum there."""
    wanted: list[bytes] = []
    for event in marked:
        if event[4] == EventType.TRANSACTION_PAYLOAD:
            wanted += [_with_checksum(inner) for inner in _inner(event) if inner[4] in _IN_BINLOG]
        elif event[4] in _IN_BINLOG:
            wanted.append(event)
    got = binlog_events(text)
    if wanted == got:
        return []
    place = next(
        (number for number, pair in enumerate(zip(wanted, got, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(got)),
    )
    return [
        Problem(
            field=f"row event {place} of the BINLOG statements",
            expected=b"".join(wanted[place : place + 1]).hex()[:80] or f"{len(wanted)} events",
            got=b"".join(got[place : place + 1]).hex()[:80] or f"{len(got)} events",
            message="an event in a BINLOG statement is not that of the marked file",
        )
    ]


def _with_checksum(event: bytes) -> bytes:
    data = event[:9] + (len(event) + FOOTER_SIZE).to_bytes(4, "little") + event[13:]
    return data + checksum_of(data).to_bytes(FOOTER_SIZE, "little")


def file_of(events: Iterable[bytes]) -> bytes:
    """A file of events that begin with its FORMAT_DESCRIPTION."""
    return MAGIC + b"".join(events)


# --- broken streams --------------------------------------------------------------------------------------------------


def expected_warnings(stream: Sequence[Placed]) -> list[Warned]:
    """What a receiver says of a stream."""
    parser = ShippedParser()
    out = []
    for event in stream:
        complaint = parser.feed(seen(event.data))
        if complaint is not None:
            message = complaint.message
            code, words = (0, "") if message is None else message
            out.append(Warned(code, words, event.position, event.file))
    return out


def _before(stream: Sequence[Placed], warned: Warned) -> str:
    """The events up to the one that a warning is about."""
    names = [
        event_name(event.data[4]) for event in stream if event.file == warned.file and event.position <= warned.position
    ]
    return " ".join(names[-_AROUND:])


def judge_warnings(
    expected: Sequence[Warned], got: Sequence[Warned], what: str, stream: Sequence[Placed] = ()
) -> list[Problem]:
    """The first difference, with the events of ``stream`` in front of it."""
    for number in range(max(len(expected), len(got))):
        wanted = expected[number] if number < len(expected) else None
        heard = got[number] if number < len(got) else None
        if wanted is None or heard is None or wanted._replace(words="") != heard._replace(words=""):
            message = "the receiver says something else than the model"
        elif wanted.words not in heard.words:
            message = "the receiver gives another reason than the model"
        else:
            continue
        around = _before(stream, heard or wanted or Warned(0, "", 0, ""))
        return [
            Problem(
                field=f"{what}, warning {number}, behind {around}",
                expected=str(wanted),
                got=str(heard),
                message=message,
            )
        ]
    return []


def first_refused(stream: Sequence[Placed]) -> int | None:
    """Where ``mysqlbinlog --require-row-format`` ends, by the model."""
    parser = RowFormatParser()
    return next((event.position for event in stream if not parser.feed(seen(event.data))), None)


class RowFormatRun(NamedTuple):
    """What the real client made of a file: the place of the event it refused (``None``: it read all of it)."""

    refused: int | None
    words: str


def run_row_format(program: Sequence[str], path: Path, stream: Sequence[Placed]) -> RowFormatRun:
    """``mysqlbinlog --require-row-format``: the refused event is the one behind the last that it printed."""
    status, text, words = printed(program, path, "--require-row-format", "-v")
    if not status:
        return RowFormatRun(None, words)
    places = _AT.findall(text)
    starts = [event.position for event in stream]
    if not places:
        return RowFormatRun(starts[0], words)
    last = int(places[-1])
    for event in stream:  # events inside a payload are shown at the place behind it
        here = event.data[4] == EventType.TRANSACTION_PAYLOAD and event.position + len(event.data) == last
        if here and places.count(places[-1]) <= len(list(_inner(event.data))):
            return RowFormatRun(last, words)
    behind = [start for start in starts if start > last]
    return RowFormatRun(behind[0] if behind else None, words)
