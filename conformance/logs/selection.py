"""The events of several logs with what a filter makes of each (mysqlbinlog-output 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.logs.events import log_reader, read_log
from conformance.logs.inputs import with_following
from conformance.logs.refusals import tell_unread
from conformance.logs.remote import followed
from conformance.messages import did_you_mean
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.text.event_filter import Choice, EventFilter, Selection
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from conformance.logs.parts import Part
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.files import FileReader, Passed
    from conformance.reference.dialect import Dialect
    from conformance.reference.encryption.keyring import Keyring
    from conformance.reference.tables.table_map import TableMap
    from conformance.reference.text.event_filter import Name

FIRST: Final = 4  # where the first event of a file is
NOTHING_LEFT_OUT: Final = Selection(start_position=FIRST)


class SelectedLogs:
    """The events of files with what becomes of each. ``stopped``: a filter ended the output.

    ``unread``: the events that nobody reads. With ``passes_unread`` the caller tells them at the end; without it, the
    first that may not be passed over ends the reading. ``pass_over``: as in :class:`EventDecoder`, where no filter
    wants to see the events. ``describe``: as there.
    """

    def __init__(
        self,
        files: Sequence[str],
        selection: Selection,
        *,
        dialect: Dialect | None = None,
        limit: int | None,
        keyring: Keyring | None = None,
        keep_bytes: bool = False,
        passes_unread: bool = False,
        pass_over: Passed | None = None,
        describe: Callable[[TableMap], None] | None = None,
    ) -> None:
        self.files = files
        self.stopped = False
        self.left_out = 0
        self.event_bytes: bytes | None = None
        self.unread = UnreadEvents(stops=not passes_unread)
        self.selection = selection
        self._filter = EventFilter(selection)
        self._dialect = dialect
        self._limit = limit
        self._keyring = keyring
        self._keep_bytes = keep_bytes
        self._describe = describe
        self._pass_over = pass_over if self._filter.takes_all and not self.begins_inside else None

    @property
    def begins_inside(self) -> bool:
        """Whether the first file is not read from its beginning."""
        return self.selection.start_position > FIRST

    @property
    def waits(self) -> bool:
        """Whether the reader waits for what a server writes next: then each event is printed at once."""
        return followed(self.files)

    @property
    def state(self) -> tuple[Any, ...]:
        """All that the choice of later events depends on."""
        return self._filter.state

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._filter.state = state

    @property
    def reader(self) -> FileReader:
        """A new reader of one file."""
        reader = log_reader(dialect=self._dialect, limit=self._limit, unread=self.unread)
        reader.decoder.keep_bytes = self._keep_bytes
        reader.decoder.pass_over = self._pass_over
        reader.decoder.describe = self._describe
        return reader

    @property
    def takes_all(self) -> bool:
        """Whether the filter leaves nothing out."""
        return self._filter.takes_all and not self.begins_inside

    @property
    def met(self) -> set[Name]:
        """The schemas and tables of the events, where the selection has such names."""
        return self._filter.met

    def check_names(self) -> None:
        """Raise as :func:`check_names`."""
        check_names(self.selection, self.met)

    def part(self, number: int, part: Part | None, reader: FileReader) -> Iterator[tuple[Event, Choice]]:
        """The events of a part of a file, or of all of it. A reader of the part before goes on."""
        self._filter.start_file(last=number >= len(self.files) - 1)
        return self._events(self.files[number], 0 if number else self.selection.start_position, reader, part)

    def each(self) -> Iterator[tuple[str, Iterator[tuple[Event, Choice]]]]:
        """Each file with its events, up to the end that the filter sets. Read the events before the next file."""
        for number, path in enumerate(with_following(self.files)):
            self._filter.start_file(last=number >= len(self.files) - 1)
            yield path, self._events(path, 0 if number else self.selection.start_position, self.reader, None)
            if self.stopped:
                break
        if self.unread.stops:
            tell_unread(self.unread)

    def _events(self, path: str, start: int, reader: FileReader, part: Part | None) -> Iterator[tuple[Event, Choice]]:
        events = read_log(path, reader=reader, start=start, keyring=self._keyring, part=part)
        if self._filter.takes_all and not self._keep_bytes:
            printed = Choice.PRINTED
            for event in events:
                yield event, printed
            return
        for event in events:
            choice = self._filter.choose(event)
            if choice is Choice.STOP:
                self.stopped = True
                return
            self.left_out += choice is not Choice.PRINTED
            if self._keep_bytes:
                self.event_bytes = reader.decoder.event_bytes
            yield event, choice


def check_names(selection: Selection, met: Collection[Name]) -> None:
    """Raise :class:`Usage` for a schema or table of the selection that is none of those met in the logs."""
    schemas = {schema for schema, _ in met}
    if selection.database is not None and selection.database not in schemas:
        raise Usage(
            f"no event of the schema {selection.database!r} was read{did_you_mean(selection.database, schemas)}"
        )
    tables = [(schema, table) for schema, table in met if table is not None]
    wanted = selection.table
    if wanted is not None and not any(selection.takes(*name) for name in tables):
        near = {f"{schema}.{table}" if "." in wanted else table for schema, table in tables}
        raise Usage(f"no rows of the table {wanted!r} were read{did_you_mean(wanted, sorted(near))}")
