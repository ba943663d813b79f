"""Faults for the data source of binary logs, written down before the checks that must notice them.

``at`` is the check that must notice:

- ``split``: parts give the rows of the whole
- ``lines``: rows are those of the command
- ``events``: events are those of the file, byte for byte
- ``damage``: nothing is lost silently
- ``batches``: a batch is bounded
- ``modes``: the mode says what becomes of damage, and no query hides it
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from conformance.logs import part_events as reading
from conformance.logs import parts
from conformance.logs.part_events import Problem
from conformance.logs.rows import tuples as rows
from conformance.reference.binlog import files as binlog_files
from conformance.reference.binlog.header import HEADER
from conformance.reference.errors import CodecError
from conformance.reference.text.row_changes import Gtids, changes_of
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    import pytest

    from conformance.logs.parts import Part

EVENTS, READ, CHANGES, FOUND = reading.part_events, reading.read_part, changes_of, rows._found


def _set(owner: Any, **values: Any) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        for name, value in values.items():
            patch.setattr(owner, name, value)

    return plant


def _every_event(log: BinaryIO, _: int) -> Iterator[int]:
    """Places where the events of a file begin, behind the first."""
    data, position = log.read(), 4
    while position + 19 < len(data):
        position += HEADER.unpack_from(data, position)[3]
        yield position


def _of_part(events: Any) -> Any:
    """In the place of the reader of a part's events, for parts that do not begin a file."""

    def read(reader: Any, log: BinaryIO, part: Part, window: int) -> Iterator[Any]:
        return events(reader, log, part, window) if part.start is not None else EVENTS(reader, log, part, window)

    return read


def _of_range(change: Callable[[Part], Part]) -> Plant:
    """Parts that end elsewhere."""
    return _set(reading, part_events=lambda reader, log, part, window: EVENTS(reader, log, change(part), window))


def _without_description(reader: Any, log: BinaryIO, part: Part, window: int) -> Iterator[Any]:
    reader.decoder.format = object()
    log.seek(part.start or 0)
    reader.skip_to(part.start)
    reader.feed(log.read(window if part.stop is None else part.stop - log.tell()))
    yield from reader.events()


def _description_again(reader: Any, log: BinaryIO, part: Part, window: int) -> Iterator[Any]:
    other = binlog_files.FileReader()
    other.feed(log.read(200))
    yield next(iter(other.events()))
    log.seek(0)
    yield from EVENTS(reader, log, part, window)


def _noted(part: Part, **options: Any) -> Iterator[Any]:
    yield from READ(part, **options)
    if part.start is not None:
        yield Problem("in-use", "the file was not closed", 4, note=True)


class _Late(Gtids):
    last: str | None = None
    late: str | None = None

    @property
    def now(self) -> str | None:
        return self.late

    def feed(self, body: Any, server_id: int = 0) -> None:
        true = Gtids()
        true.feed(body, server_id)
        if true.now is not None:
            self.late, self.last = self.last, true.now


def _empty_image(body: Any, form: Any) -> Iterator[Any]:
    return (change._replace(before=change.before or "{}") for change in CHANGES(body, form=form))


def _not_expanded(expand: bool, rules_for: Any, **_: Any) -> binlog_files.FileReader:
    return binlog_files.FileReader(rules_for=rules_for)


def _not_told(part: Part, **options: Any) -> Iterator[Any]:
    return (item for item in READ(part, **options) if not isinstance(item, Problem))


def _lost(part: Part, options: Any, work: Any) -> Iterator[Any]:
    found = list(FOUND(part, options, work))
    return iter([item for item in found if isinstance(item, Problem)] or found)


def _ended(part: Part, **options: Any) -> Iterator[Any]:
    read = READ(part, **options)
    for item in read:
        try:
            yield item
        except CodecError as error:
            yield read.throw(error)
            return


def _of_the_part(patch: pytest.MonkeyPatch) -> None:
    from scenarios.spark import batches

    true = batches.read_batches
    patch.setattr(batches, "read_batches", lambda part, options: true(part, replace(options, batch_bytes=1 << 40)))


def _always_proven(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rows._Changes, "proven", property(lambda _: True, lambda *_: None), raising=False)


class _Forgetful(rows.Work):
    """Work that notes no problem."""

    def __init__(self) -> None:
        super().__init__(problems=_Nothing())


class _Nothing(list[Any]):
    def append(self, _: Any) -> None:
        pass


def _relay_log(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(parts, "Flag", SimpleNamespace(RELAY_LOG=0))
    patch.setattr(parts, "EventType", SimpleNamespace(FORMAT_DESCRIPTION=None))


# The source is no requirement of a worklog.
SOURCE_FAULTS: Final = (
    Fault("cut/inside-a-transaction", "", "A file is split only at transaction boundaries.",
          _set(parts, _cuts=_every_event), at="split"),
    Fault("cut/at-groups-without-gtid", "", "In a log with GTIDs a part begins with one.",
          _set(parts, GTID_TYPES=frozenset()), at="split"),
    Fault("cut/relay-log", "", "A part is read by the FORMAT_DESCRIPTION that holds for it.", _relay_log, at="split"),
    Fault("part/one-byte-short", "", "Every event is in exactly one part.",
          _of_range(lambda part: part._replace(stop=(part.stop or 1 << 40) - 1)), at="split"),
    Fault("part/reads-on", "", "A part ends where the next begins.", _of_range(lambda part: part._replace(stop=None)),
          at="split"),
    Fault("part/no-format-description", "", "Every part reads the FORMAT_DESCRIPTION itself.",
          _set(reading, part_events=_of_part(_without_description)), at="split"),
    Fault("part/format-description-again", "", "An event is given out once.",
          _set(reading, part_events=_of_part(_description_again)), at="split"),
    Fault("part/note-again", "", "What is to be known of a file is said once.", _set(rows, read_part=_noted),
          at="split"),
    Fault("rows/gtid-of-the-last", "", "A row has the GTID of its transaction.", _set(rows, Gtids=_Late), at="lines"),
    Fault("rows/absent-image-is-empty", "", "An insert has no before image, a delete no after image.",
          _set(rows, changes_of=_empty_image), at="lines"),
    Fault("rows/payload-not-expanded", "", "Events inside of compressed transactions are read.",
          _set(reading, FileReader=_not_expanded), at="lines"),
    Fault("events/checksum-in-the-body", "", "A body ends before the checksum.", _set(rows, FOOTER_SIZE=0),
          at="events"),
    Fault("damage/truncated-is-the-end", "", "A cut-off event is reported.",
          _set(binlog_files.FileReader, finish=lambda _: None), at="damage"),
    Fault("damage/not-told", "", "Damage is a row.", _set(rows, read_part=_not_told), at="damage"),
    Fault("damage/rows-before-it-lost", "", "What stands before damage is given out.", _set(rows, _found=_lost),
          at="damage"),
    Fault("damage/ends-the-part", "", "Damage costs the same rows, however a file is cut.",
          _set(reading, _behind=lambda *_: None), at="damage"),
    Fault("damage/in-rows-ends-the-part", "", "So does damage inside rows.", _set(rows, read_part=_ended), at="damage"),
    Fault("mode/failfast-reads-on", "", "In the mode FAILFAST damage ends the query.",
          _set(rows, fails=lambda *_: False), at="modes"),
    Fault("mode/rows-before-it-fails", "", "No row of a damaged part comes out in the mode FAILFAST.",
          _set(rows, look_through=lambda *_: []), at="modes"),
    Fault("mode/hidden-by-a-filter", "", "Rows without a checksum are decoded, also where a filter leaves them out.",
          _always_proven, at="modes"),
    Fault("mode/dropped-in-silence", "", "What is dropped is listed.",
          _set(rows, Work=_Forgetful), at="modes"),
    Fault("batch/of-the-part", "", "Arrow batches are bounded by bytes.", _of_the_part, at="batches"),
)  # fmt: skip
