"""Marked files: making them, and judging what programs print of them (WL#4162, F2 and F3)."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from time import localtime
from typing import TYPE_CHECKING, Final

from conformance.checks.boundaries.judge import first_unequal, mark_events, markers_of
from conformance.judge.problem import Problem
from conformance.reference.binlog.files import EventDecoder, read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged, with_transaction_length
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC, checksum_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.boundaries.markers import BoundaryType
from conformance.reference.boundaries.source import mark_inside, split_inner
from conformance.reference.event_types import EventType
from conformance.reference.text.mysqlbinlog import LogText

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.dialect import ServerFacts
    from conformance.servers.programs import Program

_FILE: Final = "marked.binlog"
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
# Comments that have other words in our text than in the client's, and LOAD DATA, for which the client names a file
# that it has written.
OTHER_WORDS: Final = re.compile(
    rb"^(?:# (?:The proper term|to make the statement|Warning: |This Format_desc|Not closed: |A relay log, )"
    rb"|LOAD DATA ).*\n",
    re.MULTILINE,
)


def mark_file(events: Sequence[bytes]) -> list[bytes]:
    """A file's events with markers, also inside payloads.

    A marked payload has another length, so this function rewrites positions and the lengths of such groups.
    """
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
            new_gtid = gtid._replace(body=body).encode()
            writer.position = int.from_bytes(out[-1][13:17], "little")
            out.append(writer.copy(new_gtid))
        out.append(writer.copy(event))
    return out


def all_markers(marked: Iterable[bytes]) -> list[int]:
    """The markers of a file in the order of its text: the markers inside a payload follow that of the payload."""
    out: list[int] = []
    for event in marked:
        out += markers_of([event])
        if event[4] == EventType.TRANSACTION_PAYLOAD:
            out += markers_of(inner_events(event))
    return out


def inner_events(event: bytes) -> Iterable[bytes]:
    """The events inside a TRANSACTION_PAYLOAD event."""
    return split_inner(TransactionPayload.decode(event[HEADER_SIZE:-FOOTER_SIZE]).uncompressed())


def judge_text(marked: Sequence[bytes], ours: bytes, real: bytes) -> list[Problem]:
    """Judge the text of the marked file: a comment for every event, and everything else as the real client prints
    it."""
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


def text_of(data: bytes, server: ServerFacts | None = None) -> bytes:
    """A file as ``decode -vv`` prints it. ``server``: the version whose client is imitated."""
    text = LogText(types=True, clock=localtime, server=server)
    pieces = [piece for event in read_events(BytesIO(data), expand=True) for piece in text.event(event)]
    return b"".join([text.begin(), *pieces, *text.end()])


def client_output(program: Program, log: bytes, *options: str) -> tuple[int | None, bytes, str]:
    """Exit status, standard output and standard error of the real client for a file."""
    done = program.run(["--no-defaults", *options, _FILE], files={_FILE: log})
    return done.returncode, done.stdout, done.words


def binlog_events(text: bytes) -> list[bytes]:
    """The row events and table maps in the BINLOG statements of a text, in order."""
    out = []
    for statement in _BINLOG.findall(text):
        for chunk in base64_texts(statement):
            data = base64.b64decode(chunk)
            if data[4] != EventType.FORMAT_DESCRIPTION:
                out.append(data)
    return out


def base64_texts(statement: bytes) -> Iterable[bytes]:
    """One base64 text for each event: the length of an event is in its header."""
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
    """The events in BINLOG statements are those of the file, markers included; an event of a payload has a checksum
    there."""
    wanted: list[bytes] = []
    for event in marked:
        if event[4] == EventType.TRANSACTION_PAYLOAD:
            wanted += [_with_checksum(inner) for inner in inner_events(event) if inner[4] in _IN_BINLOG]
        elif event[4] in _IN_BINLOG:
            wanted.append(event)
    return first_unequal(
        wanted,
        binlog_events(text),
        "row event {} of the BINLOG statements",
        "an event in a BINLOG statement is not that of the marked file",
    )


def _with_checksum(event: bytes) -> bytes:
    data = event[:9] + (len(event) + FOOTER_SIZE).to_bytes(4, "little") + event[13:]
    return data + checksum_of(data).to_bytes(FOOTER_SIZE, "little")
