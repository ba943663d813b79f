"""Row changes as records: ``decode --format parquet``, and ``--columns`` with a column for each column of a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from conformance.console import Output, narrate
from conformance.logs.printing.printers import Tally, lacks_table, listed
from conformance.logs.records import ABSENT, CsvRecords, Kind, ParquetRecords
from conformance.logs.refusals import refused
from conformance.messages import counted
from conformance.reference.binlog.rows import LazyRows, table_map_of
from conformance.reference.errors import CodecError
from conformance.reference.event_types import event_name
from conformance.reference.text.event_filter import Choice
from conformance.reference.text.row_changes import Form, Gtids, changes_of, operation_of
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.logs.records import Records, Value
    from conformance.logs.selection import SelectedLogs
    from conformance.reference.binlog.event import Event
    from conformance.reference.tables.table_map import TableMap

# The keys of a JSON line, in its order, but for the images.
_HEAD: Final = (
    ("file", Kind.TEXT), ("position", Kind.INTEGER), ("event", Kind.TEXT), ("timestamp", Kind.INTEGER),
    ("server_id", Kind.INTEGER), ("gtid", Kind.TEXT), ("schema", Kind.TEXT), ("table", Kind.TEXT),
    ("operation", Kind.TEXT), ("row", Kind.INTEGER),
)  # fmt: skip
_INNER: Final = ("inner", Kind.INTEGER)
_IMAGES: Final = ("before", "after")
_RAW: Final = json.JSONDecoder()


class RecordPrinter:
    """Row changes as records. ``target``: the Parquet file; without one it is CSV, to standard output.

    ``columns``: the images are a column for each column of the table, and all rows are of one table.
    """

    state = None

    def __init__(self, logs: SelectedLogs, target: Path | None, *, columns: bool, tagged: bool, resolve: bool) -> None:
        self.output = Output()
        self._logs = logs
        self._target = target
        self._records: Records | None = None
        self._table: tuple[str, str] | None = None
        self._names: tuple[str, ...] = ()
        self._by_column = columns
        self._form = Form.TAGGED if tagged else Form.PLAIN
        self._gtids = Gtids()
        self._path = ""
        self._tally = Tally()
        self._replay = None
        if resolve:
            from conformance.reference.replay.engine import Replay

            self._replay = Replay(lenient=True)
        if not columns:
            self._records = self._begun(())

    def begin_file(self, path: str) -> None:
        self._path = path
        self._gtids = Gtids()

    def event(self, event: Event, choice: Choice) -> None:
        self._gtids.feed(event.body, event.header.server_id)
        if choice is not Choice.PRINTED:
            return
        body = event.body
        if not isinstance(body, LazyRows):
            self._tally.hidden[event_name(event.header.type)] += 1
            if self._replay is not None:
                self._replay.other(event)
            return
        if self._logs.begins_inside and lacks_table(event):
            narrate(f"{self._path}: the TABLE_MAP of the rows at {event.position} is before --start-position")
            return
        try:
            self._rows(event, body)
        except CodecError as error:
            raise refused(self._path, event.located(error), event.position) from error

    def _rows(self, event: Event, body: LazyRows) -> None:
        table = table_map_of(body)
        records = self._of(table)
        header = event.header
        head = (
            self._path, event.position if event.position is not None else ABSENT, event_name(header.type),
            header.timestamp, header.server_id, self._gtids.now or ABSENT, table.schema, table.table,
            operation_of(body.type),
        )  # fmt: skip
        inner = ABSENT if event.inner is None else event.inner
        resolve = None if self._replay is None else self._replay.row
        for number, _, old, new in changes_of(body, form=self._form, resolve=resolve):
            self._tally.shown += 1
            records.add([*head, number, *self._image(old), *self._image(new), inner])

    def _of(self, table: TableMap) -> Records:
        """The records of a table; of another one, or of new columns, they are refused."""
        if not self._by_column:
            assert self._records is not None
            return self._records
        name, columns = (table.schema, table.table), tuple(table.column_names)
        if self._records is None:
            self._table, self._names = name, columns
            self._records = self._begun([f"{image}.{column}" for image in _IMAGES for column in columns])
        if name != self._table:
            tables = " and ".join(".".join(each) for each in (self._table or (), name) if each)
            raise Usage(f"--columns is for one table, got {tables}", hint="--table SCHEMA.TABLE chooses one")
        if columns != self._names:
            raise Usage(
                f"--columns: {'.'.join(name)} gets other columns in the log: expected {', '.join(self._names)},"
                f" got {', '.join(columns)}",
                hint="--stop-position and --start-position choose a part of the log",
            )
        return self._records

    def _begun(self, columns: Sequence[str]) -> Records:
        images = [(name, Kind.TEXT) for name in columns or _IMAGES]
        every = (*_HEAD, *images, _INNER)
        if self._target is None:
            return CsvRecords(self.output, [name for name, _ in every])
        return ParquetRecords(self._target, every)

    def _image(self, image: str | None) -> list[Value]:
        if not self._by_column:
            return [ABSENT if image is None else image]
        found = dict(() if image is None else members(image))
        return [found.get(name, ABSENT) for name in self._names]

    def end_file(self) -> None:
        """Nothing waits for the end of a file."""

    def end(self) -> None:
        """Nothing follows the records."""

    def failed(self) -> None:
        """The records before the damage are there."""

    def close(self) -> None:
        if self._records is not None:
            self._records.close()

    def tally(self) -> Tally:
        tally, self._tally = self._tally, Tally()
        tally.take(self._logs)
        return tally

    def closing(self, tally: Tally) -> str:
        left_out = f"; left out: {counted(tally.left_out, 'event')}" if tally.left_out else ""
        return f"{counted(tally.shown, 'row change')}; events not shown: {listed(tally.hidden)}{left_out}"


def members(image: str) -> Iterator[tuple[str, Value]]:
    """Yield the columns of an image, which is a JSON object as a JSON line has it, with plain values.

    A text is itself, a document its text, and a number keeps MySQL's. What is more, diffs say, stays JSON.
    """
    at = 1
    while image[at] == '"':
        name, end = _RAW.raw_decode(image, at)
        at = end + len(": ")
        _, end = _RAW.raw_decode(image, at)
        yield name, _plain(image[at:end])
        at = end + (len(", ") if image[end] == "," else 0)


def _plain(text: str) -> Value:
    if text == "null":
        return None
    if text[0] == '"':
        return str(json.loads(text))
    return text.removeprefix('{"json": ').removesuffix("}") if text.startswith('{"json": ') else text
