"""The printer of logs as SQL that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.console import Output
from conformance.logs.printing.printers import Tally
from conformance.logs.refusals import refused
from conformance.messages import counted
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.replay.definitions import Definitions
from conformance.reference.text.event_filter import Choice
from conformance.reference.text.sql.log_sql import ForwardSql

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.logs.definitions import GivenDefinitions
    from conformance.logs.selection import SelectedLogs
    from conformance.reference.binlog.event import Event


class SqlPrinter:
    """Events as SQL; ``gtids``: with those of the log. It is no printer of parts of a file."""

    state = None

    def __init__(self, logs: SelectedLogs, *, gtids: bool, given: GivenDefinitions | None = None) -> None:
        self.output = Output()
        self._logs = logs
        self._definitions = Definitions(None if given is None else given.state_of)
        self._sql = ForwardSql(self._definitions.facts, whole=logs.takes_all, gtids=gtids)
        self._path = ""
        self._begun = self._ended = False
        self._tally = Tally()

    def begin_file(self, path: str) -> None:
        self._path = path

    def event(self, event: Event, choice: Choice) -> None:
        if not self._begun:
            self._begun = True
            self._write(self._sql.begin())
        if not isinstance(event.body, LazyRows):
            self._definitions.event(event)
        if choice is not Choice.PRINTED:
            return
        self._tally.shown += isinstance(event.body, LazyRows)
        try:
            self._write(self._sql.event(event))
        except CodecError as error:
            raise refused(self._path, event.located(error), event.position) from error

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.output.write(line.encode("utf-8", "surrogateescape") + b"\n")

    def end_file(self) -> None:
        """Nothing waits for the end of a file."""

    def end(self) -> None:
        self._ended = True
        self._write(self._sql.end() if self._begun else ())

    def failed(self) -> None:
        if not self._ended:
            self.end()

    def close(self) -> None:
        """Nothing is kept."""

    def tally(self) -> Tally:
        tally, self._tally = self._tally, Tally()
        tally.take(self._logs)
        return tally

    def closing(self, tally: Tally) -> str:
        left_out = f"; left out: {counted(tally.left_out, 'event')}" if tally.left_out else ""
        return f"{counted(tally.shown, 'row event')} as SQL{left_out}"
