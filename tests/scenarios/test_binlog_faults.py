"""The planted faults of the data source are caught."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog import files as binlog_files
from conformance.reference.binlog.header import HEADER
from conformance.reference.errors import CodecError
from conformance.reference.text.row_changes import Gtids, changes_of
from scenarios.binlogs import parts, reading, rows
from scenarios.binlogs.reading import Problem
from tests.scenarios.binlog_checks import (
    FILES,
    NAMES,
    check_batches,
    check_damage_in_rows,
    check_damaged,
    check_events,
    check_lines,
    check_reported,
    check_split,
    check_truncated,
    relay_of_another,
    with_and_without_gtids,
)
from tests.scenarios.faults_of_binlogs import SOURCE_FAULTS, SourceFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from scenarios.binlogs.parts import Part

EVENTS, READ, CHANGES, FOUND = reading.part_events, reading.read_part, changes_of, rows._found


def check(by: str, folder: Path) -> None:
    """The check that must notice."""
    match by:
        case "split":
            for path in (*FILES, relay_of_another(folder / "relay"), with_and_without_gtids(folder / "mixed")):
                check_split(path, (1, 900))
        case "lines":
            for path in FILES:
                check_lines(path)
        case "events":
            for path in FILES:
                check_events(path)
        case "damage":
            check_truncated(NAMES["14-rotate-b"], folder / "cut", range(0, 1074, 37))
            (folder / "others").mkdir()
            check_reported(folder / "others")
            check_damaged(NAMES["14-rotate-b"], folder / "damaged", 97)
            check_damage_in_rows(folder / "rows")
        case _:
            assert by == "batches"
            check_batches(NAMES["02-partial-off-same-sql"])


def every_event(log: BinaryIO, _: int) -> Iterator[int]:
    """Where the events of a file begin, behind the first."""
    data, position = log.read(), 4
    while position + 19 < len(data):
        position += HEADER.unpack_from(data, position)[3]
        yield position


def of_part(events: Any) -> Any:
    """In the place of the reader of a part's events, for parts that do not begin a file."""

    def read(reader: Any, log: BinaryIO, part: Part, window: int) -> Iterator[Any]:
        return events(reader, log, part, window) if part.start is not None else EVENTS(reader, log, part, window)

    return read


def _plant_into_parts(fault: SourceFault, patch: pytest.MonkeyPatch) -> None:
    match fault.id:
        case "cut/inside-a-transaction":
            patch.setattr(parts, "_cuts", every_event)
        case "cut/at-groups-without-gtid":
            patch.setattr(parts, "GTID_TYPES", frozenset())
        case "cut/relay-log":
            patch.setattr(parts, "Flag", SimpleNamespace(RELAY_LOG=0))
            patch.setattr(parts, "EventType", SimpleNamespace(FORMAT_DESCRIPTION=None))
        case "part/one-byte-short":
            patch.setattr(
                reading,
                "part_events",
                lambda a, b, part, d: EVENTS(a, b, part._replace(stop=(part.stop or 1 << 40) - 1), d),
            )
        case "part/reads-on":
            patch.setattr(reading, "part_events", lambda a, b, part, d: EVENTS(a, b, part._replace(stop=None), d))
        case "part/no-format-description":

            def without(reader: Any, log: BinaryIO, part: Part, window: int) -> Iterator[Any]:
                reader.decoder.format = object()
                log.seek(part.start or 0)
                reader.skip_to(part.start)
                reader.feed(log.read(window if part.stop is None else part.stop - log.tell()))
                yield from reader.events()

            patch.setattr(reading, "part_events", of_part(without))
        case "part/format-description-again":

            def again(reader: Any, log: BinaryIO, part: Part, window: int) -> Iterator[Any]:
                other = binlog_files.FileReader()
                other.feed(log.read(200))
                yield next(iter(other.events()))
                log.seek(0)
                yield from EVENTS(reader, log, part, window)

            patch.setattr(reading, "part_events", of_part(again))
        case _:
            assert fault.id == "part/note-again"

            def noted(part: Part, **options: Any) -> Iterator[Any]:
                yield from READ(part, **options)
                if part.start is not None:
                    yield Problem("in-use", "the file was not closed", 4, note=True)

            patch.setattr(rows, "read_part", noted)


def _plant_into_rows(fault: SourceFault, patch: pytest.MonkeyPatch) -> None:
    match fault.id:
        case "rows/gtid-of-the-last":

            class Late(Gtids):
                last: str | None = None
                late: str | None = None

                @property
                def now(self) -> str | None:
                    return self.late

                def feed(self, body: Any) -> None:
                    true = Gtids()
                    true.feed(body)
                    if true.now is not None:
                        self.late, self.last = self.last, true.now

            patch.setattr(rows, "Gtids", Late)
        case "rows/absent-image-is-empty":
            patch.setattr(
                rows,
                "changes_of",
                lambda body, form: (c._replace(before=c.before or "{}") for c in CHANGES(body, form=form)),
            )
        case "rows/payload-not-expanded":
            patch.setattr(
                reading, "FileReader", lambda expand, rules_for, **_: binlog_files.FileReader(rules_for=rules_for)
            )
        case "events/checksum-in-the-body":
            patch.setattr(rows, "FOOTER_SIZE", 0)
        case "damage/truncated-is-the-end":
            patch.setattr(binlog_files.FileReader, "finish", lambda _: None)
        case "damage/not-told":
            patch.setattr(
                rows,
                "read_part",
                lambda part, **options: (item for item in READ(part, **options) if not isinstance(item, Problem)),
            )
        case "damage/rows-before-it-lost":

            def lost(part: Part, options: Any, work: Any) -> Iterator[Any]:
                found = list(FOUND(part, options, work))
                return iter([item for item in found if isinstance(item, Problem)] or found)

            patch.setattr(rows, "_found", lost)
        case "damage/ends-the-part":
            patch.setattr(reading, "_behind", lambda *_: None)
        case "damage/in-rows-ends-the-part":

            def ended(part: Part, **options: Any) -> Iterator[Any]:
                read = READ(part, **options)
                for item in read:
                    try:
                        yield item
                    except CodecError as error:
                        yield read.throw(error)
                        return

            patch.setattr(rows, "read_part", ended)
        case _:
            from scenarios.spark import batches

            assert fault.id == "batch/of-the-part"
            true = batches.read_batches
            patch.setattr(
                batches, "read_batches", lambda part, options: true(part, replace(options, batch_bytes=1 << 40))
            )


@pytest.mark.planted  # the source is no requirement of a worklog
@pytest.mark.parametrize("fault", SOURCE_FAULTS, ids=lambda fault: fault.id)
def test_a_fault_of_the_data_source_is_caught(
    fault: SourceFault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (_plant_into_parts if fault.by == "split" else _plant_into_rows)(fault, monkeypatch)
    with pytest.raises(AssertionError):
        check(fault.by, tmp_path)


@pytest.mark.parametrize("by", sorted({fault.by for fault in SOURCE_FAULTS}))
def test_without_a_fault_each_check_holds(by: str, tmp_path: Path) -> None:
    check(by, tmp_path)
