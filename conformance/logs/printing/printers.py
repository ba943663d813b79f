"""The printers of events: the text of mysqlbinlog, or a line for each row change.

A printer can stop between two transactions and another one go on there: ``state`` has all that the rest depends on.
Each printer imports the modules for its form when it is made, because for a short log most of the time goes to imports.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import localtime
from typing import TYPE_CHECKING, Any, Final, Protocol

from conformance.console import Output, narrate, warn
from conformance.logs.refusals import refused
from conformance.logs.spools import FileSpool
from conformance.messages import counted
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.load import LoadBlock
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.errors import CodecError
from conformance.reference.event_types import event_name
from conformance.reference.text.event_filter import Choice
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.markers import MarkedLog
    from conformance.logs.printing.outcomes import WaitingLines
    from conformance.logs.printing.text_form import TextForm
    from conformance.logs.selection import SelectedLogs
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.files import Passed
    from conformance.reference.dialect import Dialect
    from conformance.reference.replay.engine import Replay
    from conformance.reference.text.event_filter import Name
    from conformance.reference.text.mariadb.log_text import MariadbLogText
    from conformance.reference.text.mysqlbinlog import LogText

_SHOWN: Final = 8  # how many event types the closing line names
_PRINTED: Final = Choice.PRINTED  # looking up a member of an enumeration costs as much as writing a line


@dataclass(slots=True)
class Tally:
    """The counts of the closing line.

    ``shown``: events or row changes. ``hidden``: events by name that are not shown. ``unread``: events of types that
    nobody reads. ``met``: schemas and tables that a filter met. ``outcomes``: row changes that are not shown, by what
    became of them.
    """

    shown: int = 0
    unresolved: int = 0
    left_out: int = 0
    hidden: Counter[str] = field(default_factory=Counter)
    unread: UnreadEvents = field(default_factory=UnreadEvents)
    outcomes: Counter[str] = field(default_factory=Counter)
    met: set[Name] = field(default_factory=set)

    def add(self, other: Tally) -> None:
        """Add what another part counted."""
        self.shown += other.shown
        self.unresolved += other.unresolved
        self.left_out += other.left_out
        self.hidden.update(other.hidden)
        self.unread.update(other.unread)
        self.met |= other.met

    def take(self, logs: SelectedLogs) -> None:
        """Take what the logs counted since the last time."""
        self.left_out, logs.left_out = logs.left_out, 0
        self.met = logs.met
        self.unread = logs.unread.take()


class Printer(Protocol):
    """Events in, bytes out."""

    output: Output
    state: Any

    def begin_file(self, path: str) -> None:
        """The next events are from this file."""
        ...

    def event(self, event: Event, choice: Choice) -> None:
        """Print the next event."""
        ...

    def end_file(self) -> None:
        """The file has no more events."""
        ...

    def end(self) -> None:
        """There are no more events, or a filter ended the output."""
        ...

    def failed(self) -> None:
        """Print what waits, where nothing follows."""
        ...

    def close(self) -> None:
        """Drop what waits."""
        ...

    def tally(self) -> Tally:
        """Return the counts since the last time, and begin anew."""
        ...

    def closing(self, tally: Tally) -> str:
        """The closing line."""
        ...


class TextPrinter:
    """Events as mysqlbinlog prints them."""

    def __init__(self, logs: SelectedLogs, form: TextForm, *, dialect: Dialect | None) -> None:
        from conformance.reference.text.mariadb.log_text import MariadbLogText
        from conformance.reference.text.mysqlbinlog import LogText

        self.output = Output()
        self._logs = logs
        self._form = form
        self._unseen = {Opaque, LoadBlock} if form.types else {Opaque, LoadBlock, RowsQuery}
        self._spool = FileSpool()
        self._statements = FileSpool() if form.base64 == "auto" else None
        options: dict[str, Any] = {
            "types": form.types, "metadata": form.metadata, "clock": localtime, "spool": self._spool,
            "complete": not logs.begins_inside, "rows": form.rows, "statements": self._statements,
            "dumps": form.hexdump,
        }  # fmt: skip
        self._of_mysql = LogText(server=None if dialect is None else dialect.server, **options)
        self._of_mariadb = MariadbLogText(**options)
        self._text: LogText | MariadbLogText = self._of_mysql
        self._begun = False
        self._shown = 0
        self._tally = Tally()
        self._path = ""
        self._marked: MarkedLog | None = None

    @property
    def state(self) -> tuple[Any, ...] | None:
        """All that printing the next events depends on; ``None`` inside a statement."""
        text = self._text.state
        marked = None if self._marked is None else self._marked.state
        return None if text is None else (self._begun, self._text is self._of_mariadb, text, marked)

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._begun, mariadb, text, marked = state
        self._text = self._of_mariadb if mariadb else self._of_mysql
        self._text.state = text
        if self._marked is not None:
            self._marked.state = marked

    def begin_file(self, path: str) -> None:
        from conformance.logs.markers import MarkedLog

        self._path = path
        self._marked = MarkedLog(path, narrate)

    def event(self, event: Event, choice: Choice) -> None:
        body = event.body
        if type(body) is FormatDescription:
            self._choose(body)
        if not self._begun:
            self._begun = True
            self.output.write(self._text.begin())
        self._shown += 1
        if self._text is self._of_mysql:  # MariaDB has another use for the bits of boundary markers
            assert self._marked is not None
            self._marked.feed(event)
        printed = choice is _PRINTED
        if printed and type(body) in self._unseen:
            self._tally.hidden[event.name] += 1
        if self._form.base64 == "never" and printed and isinstance(body, LazyRows):
            raise Usage(f"{self._path}: --base64-output=never, but only base64 can hold the rows at {event.position}")
        output = self.output
        try:
            for piece in self._text.event(event, self._logs.event_bytes) if printed else self._left_out(event, choice):
                output.write(piece)
        except CodecError as error:
            raise refused(self._path, event.located(error), event.position) from error

    def _choose(self, description: FormatDescription) -> None:
        """Take the words of the client whose server wrote the file."""
        text = self._of_mariadb if description.mariadb else self._of_mysql
        if self._begun and text is not self._text:
            raise Usage(
                f"{self._path}: one text of logs of MySQL and of MariaDB could not be replayed",
                hint="give each server's logs to a command of their own",
            )
        self._text = text

    def _left_out(self, event: Event, choice: Choice) -> Iterator[bytes]:
        if choice is Choice.ABSENT:
            return iter(())
        return self._text.left_out(event, partial=choice is Choice.OTHER_TABLE)

    def end_file(self) -> None:
        if self._marked is not None:
            self._marked.finish()
            self._marked = None

    def end(self) -> None:
        stopped = self._logs.stopped
        if (stopped or self._statements is not None) and self._text.inside_statement:
            warn("the end is inside a statement: the rows before it in this statement are not printed")
        if stopped and not self._begun:
            self.output.write(self._text.begin())
        for piece in self._text.end(stopped=stopped) if self._begun or stopped else ():
            self.output.write(piece)

    def failed(self) -> None:
        for piece in self._text.failed():
            self.output.write(piece)

    def close(self) -> None:
        self._spool.close()
        if self._statements is not None:
            self._statements.close()

    def tally(self) -> Tally:
        tally, self._tally = self._tally, Tally()
        tally.shown, self._shown = self._shown, 0
        tally.take(self._logs)
        return tally

    def closing(self, tally: Tally) -> str:
        shown = counted(tally.shown - tally.left_out, "event")
        return f"{shown}; contents not shown: {listed(tally.hidden)}{_left_out(tally)}"


class ChangePrinter:
    """Row changes, or all events, as lines of JSON or CSV. ``passed``: what the reader passes over."""

    def __init__(
        self,
        logs: SelectedLogs,
        form: str,
        passed: Passed,
        *,
        types: bool,
        rows_only: bool,
        resolve: bool,
        outcome: bool = False,
        committed: bool = False,
    ) -> None:
        from conformance.reference.text.row_changes import RowChanges, json_line

        self.output = Output()
        self._waiting: WaitingLines | None = None
        if outcome or committed:
            from conformance.logs.printing.outcomes import WaitingLines

            self._waiting = WaitingLines(form, shown=outcome, committed=committed)
        self._logs = logs
        self._passed = passed
        self._head, line = b"", json_line
        if form == "csv":
            from conformance.reference.text.csv_changes import HEADER, csv_line

            self._head, line = f"{HEADER}{',outcome' if outcome else ''}\n".encode(), csv_line
        self._changes = RowChanges(tagged=types, rows_only=rows_only, line=line)
        self._replay = _replay() if resolve else None
        self._resolve_row = None if self._replay is None else self._replay.row
        self._shown = ROWS_TYPES if rows_only else None
        self._begins_inside = logs.begins_inside
        self._begun = not self._head
        self._path = ""

    @property
    def state(self) -> tuple[Any, ...] | None:
        """All that printing the next events depends on; ``None`` where that is all rows."""
        self._catch_up()
        return None if self._replay is not None else (self._begun, self._changes.gtid)

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._begun, gtid = state
        self._passed.take_gtid()
        self._changes.start_file(self._path, gtid)

    def begin_file(self, path: str) -> None:
        self._path = path
        self._passed.take_gtid()
        self._changes.start_file(path)

    def _catch_up(self) -> None:
        gtid = self._passed.take_gtid()
        if gtid is not None:
            self._changes.begin_transaction(gtid)

    def event(self, event: Event, choice: Choice) -> None:
        if not self._begun:
            self._begun = True
            self.output.write(self._head)
        if self._waiting is not None:
            self._write(self._waiting.event(event))
        if choice is not _PRINTED:
            return
        passed = self._passed
        if passed.gtid is not None:
            self._catch_up()
        code = event.header.type
        if self._shown is not None and code not in self._shown:
            passed.count(code)
        if self._begins_inside and lacks_table(event):
            narrate(f"{self._path}: the TABLE_MAP of the rows at {event.position} is before --start-position")
            return
        output = self.output
        try:
            if self._replay is not None:
                self._replay.other(event)
            for line in self._changes.event(event, self._resolve_row):
                if self._waiting is not None:
                    self._waiting.add(line)
                    continue
                output.write(line.encode("utf-8", "backslashreplace") + b"\n")
        except CodecError as error:
            raise refused(self._path, event.located(error), event.position) from error

    def _write(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.output.write(line.encode("utf-8", "backslashreplace") + b"\n")

    def end_file(self) -> None:
        self._changes.start_file(self._path)

    def end(self) -> None:
        self.failed()

    def failed(self) -> None:
        if self._waiting is not None:
            self._write(self._waiting.finish())

    def close(self) -> None:
        """Nothing is open."""

    def tally(self) -> Tally:
        counts = self._changes.take_counts()
        names = Counter({event_name(code): number for code, number in self._passed.take_counts().items()})
        left_out, self._logs.left_out = self._logs.left_out, 0
        tally = Tally(counts.changes, counts.unresolved, left_out, names, self._logs.unread.take(), met=self._logs.met)
        if self._waiting is not None:
            tally.outcomes, self._waiting.left_out = self._waiting.left_out, Counter()
        return tally

    def closing(self, tally: Tally) -> str:
        shown = tally.shown - sum(tally.outcomes.values())
        words = f"{counted(shown, 'row change')}; events not shown: {listed(tally.hidden)}"
        if tally.outcomes:
            words += f"; row changes not shown: {listed(tally.outcomes)}"
        if self._replay is not None:
            words += f"; diffs without a known document: {tally.unresolved}"
        return words + _left_out(tally)


def _replay() -> Replay:
    from conformance.reference.replay.engine import Replay

    return Replay(lenient=True)


def lacks_table(event: Event) -> bool:
    """Whether these are rows without a TABLE_MAP."""
    return isinstance(event.body, LazyRows) and event.body.table is None


def _left_out(tally: Tally) -> str:
    return f"; left out: {counted(tally.left_out, 'event')}" if tally.left_out else ""


def listed(counts: Counter[str]) -> str:
    """The names with their numbers, the most frequent first."""
    if not counts:
        return "none"
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [f"{number} {name}" for name, number in most[:_SHOWN]]
    rest = sum(number for _, number in most[_SHOWN:])
    return ", ".join(shown) + (f", {rest} others" if rest else "")
