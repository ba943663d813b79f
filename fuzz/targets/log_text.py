"""A file as text: pseudo-SQL, row changes as JSON lines, and the explanation of each event."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.dialect import MYSQL
from conformance.reference.tables.columns import PartialJson
from conformance.reference.text.binlog_statements import MemorySpool
from conformance.reference.text.event_filter import Choice, EventFilter, Selection
from conformance.reference.text.mariadb.log_text import MariadbLogText
from conformance.reference.text.mysqlbinlog import LogText
from conformance.reference.text.row_changes import RowChanges
from conformance.reference.text.sql.log_sql import ForwardSql
from conformance.reference.text.sql.rows import diffs_expression, facts_of
from fuzz.events import file_seeds
from fuzz.mariadb_events import mariadb_file
from fuzz.mutators.framing import mutate_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.reference.binlog.event import Event

INVARIANT: Final = (
    "Every event that is read is printed or refused with a declared error; row changes are one JSON object a line; what"
    " is printed does not depend on the other printers."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.text.added_lines",
    "conformance.reference.text.columns",
    "conformance.reference.text.event_filter",
    "conformance.reference.text.hexdump",
    "conformance.reference.text.session",
    "conformance.reference.text.small_events",
    "conformance.reference.text.mariadb",
    "conformance.reference.text.mysqlbinlog",
    "conformance.reference.text.pseudo_json",
    "conformance.reference.text.pseudo_sql",
    "conformance.reference.text.pseudo_values",
    "conformance.reference.text.row_changes",
)
MAX_LEN: Final = 1280
DICTIONARY: Final = (
    b"\x05\x03SYSTEM", b"\x04\x21\x00\x21\x00\x21\x00", b"BEGIN", b"COMMIT", b"XA START", b"$[0]", b"-MariaDB",
    b"\x81\x64\x78\x9c",
)  # fmt: skip
mutate = mutate_file
_T = TypeVar("_T")
_OLD: Final = replace(MYSQL.server, mysqlbinlog_json="bytes")


def check(data: bytes) -> None:
    """Check a file; the target reads checksums and does not compare them."""
    reader = FileReader(verify=False, expand=True, limit=1 << 20)
    reader.decoder.keep_bytes = True
    events: list[Event] = []
    dumped: list[bytes] = []

    def run() -> None:
        reader.feed(data)
        for event in reader.events():
            events.append(event)
            dumped.append(reader.decoder.event_bytes)

    attempt(run)
    for types in (False, True):
        given = dumped if types else None
        _printed(events, LogText(types=types, metadata=types, statements=MemorySpool() if types else None), given)
        _printed(
            events, MariadbLogText(types=types, metadata=types, statements=MemorySpool() if types else None), given
        )
    _printed(events, LogText(server=_OLD))
    _filtered(events)
    _as_sql(events)
    for tagged in (False, True):
        changes = RowChanges(tagged=tagged, rows_only=tagged)
        changes.start_file("f")
        for event in events:
            lines, refused = attempt(_all, changes.event, event)
            for line in lines or ():
                require("\n" not in line, "an object is one line", line)
                _is_json(line)
            require(lines is not None or refused, "an event is shown or refused")


def _as_sql(events: list[Event]) -> None:
    """SQL says an event or refuses it."""
    sql = ForwardSql(facts_of, whole=True, gtids=True)
    for event in events:
        lines, refused = attempt(_all, sql.event, event)
        require(lines is not None or refused, "an event is said or refused")
        for rows in (event.body,) if isinstance(event.body, LazyRows) else ():
            attempt(lambda rows=rows: _diffs(rows))  # type: ignore[misc]


def _diffs(rows: LazyRows) -> None:
    for row in rows.rows():
        for value in row.after or ():
            if isinstance(value, PartialJson):
                attempt(diffs_expression, value.diffs, "j")


def _filtered(events: list[Event]) -> None:
    """Print with a filter: an event that is left out leaves only its position, and nothing is printed twice."""
    printer, chosen = LogText(complete=False), EventFilter(Selection(database="d", table="t"))
    chosen.start_file(last=True)
    for event in events:
        choice = chosen.choose(event)
        if choice is Choice.PRINTED:
            attempt(_all, printer.event, event)
        else:
            attempt(lambda event=event, choice=choice: list(  # type: ignore[misc]
                printer.left_out(event, partial=choice is Choice.OTHER_TABLE)))  # fmt: skip
    text = b"".join(printer.end())
    require(text.count(b"# End of log file") == 1, "the end is printed once", text)


def _printed(events: list[Event], printer: LogText | MariadbLogText, dumped: list[bytes] | None = None) -> None:
    out = [printer.begin()]
    for number, event in enumerate(events):
        data = None if dumped is None else dumped[number]
        pieces, refused = attempt(lambda event=event, data=data: list(printer.event(event, data)))  # type: ignore[misc]
        if pieces is None:
            out += printer.failed()
            require(refused, "an event is printed or refused")
            continue
        out += pieces
    out += printer.end()
    require(all(isinstance(piece, bytes) for piece in out), "text is bytes")


def _all(show: Callable[[Event], Iterable[_T]], event: Event) -> list[_T]:
    return list(show(event))


def _is_json(line: str) -> None:
    try:
        shown = json.loads(line)
    except ValueError as error:
        require(False, "an object is JSON", line, str(error))
        return
    require(isinstance(shown, dict) and {"file", "event", "before", "after"} <= set(shown), "an object has its members")


def seeds() -> Iterator[tuple[str, bytes]]:
    """Files of one group each, and a log of MariaDB."""
    yield from file_seeds()
    yield "mariadb", mariadb_file()
    yield "mariadb-encrypted", mariadb_file(encrypted=True)
