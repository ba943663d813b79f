"""``binlog-lab decode``: binary logs as text, or as one JSON object or CSV record per row change."""

from __future__ import annotations

from collections import Counter
from time import localtime
from typing import TYPE_CHECKING

import click

from conformance.cli.console import Output, Usage, narrate, warn
from conformance.cli.dialects import named_dialect
from conformance.cli.encryption import keyring_option, read_keyring
from conformance.cli.filters import SelectedLogs, filter_options
from conformance.cli.logs import MAX_UNCOMPRESSED, FileSpool, check_files, refused
from conformance.cli.remote_logs import remote_options
from conformance.reference.text.event_filter import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import Dialect
    from conformance.reference.text.event_filter import Selection
    from conformance.reference.text.mysqlbinlog import LogText
    from conformance.reference.text.row_changes import RowChanges

_SHOWN = 8  # how many event types the closing line names


@click.command(name="decode")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(("text", "jsonl", "csv")), default="text", show_default=True)
@click.option("-v", "--verbose", count=True, help="Once (the default): rows as pseudo-SQL. Twice: with column types.")
@click.option("--table-metadata", is_flag=True, help="Text: print the columns and the key of each TABLE_MAP.")
@click.option("--hexdump", is_flag=True, help="Text: dump the bytes of each event in hex.")
@click.option("--types", is_flag=True, help="JSON, CSV: tag values that have no plain JSON form with their type.")
@click.option("--events", "which", type=click.Choice(("rows", "all")), default="rows", show_default=True,
              help="JSON, CSV: row changes only, or an object for every event.")  # fmt: skip
@click.option("--dialect", metavar="V", help="The version that wrote the files, and whose mysqlbinlog to imitate;"
              " default: the version in each file, and the newest mysqlbinlog.")  # fmt: skip
@click.option("--resolve", is_flag=True, help="JSON, CSV: apply diffs where the document before the update is known.")
@filter_options
@remote_options
@keyring_option
@MAX_UNCOMPRESSED
def command(
    files: tuple[str, ...],
    form: str,
    verbose: int,
    table_metadata: bool,
    hexdump: bool,
    types: bool,
    which: str,
    resolve: bool,
    dialect: str | None,
    selection: Selection,
    keyring: Path | None,
    limit: int | None,
) -> None:
    """Print binary log files as mysqlbinlog does, or as one JSON object or CSV record per row change.

    FILE may be - for standard input, mysql://USER@HOST:PORT for all logs of a server, or mysql://USER@HOST:PORT/NAME
    for one of them. Times in comments are local times; times in values are UTC. Boundary markers
    (WL#4162) are shown as comments; stderr names the events whose marker does not fit their transaction. Control
    characters are escaped on a terminal, and written unchanged to a file or a pipe. Exit code 1: a file is corrupt,
    truncated, or encrypted without its key; the events before the damage are printed. Exit code 2: a file is
    missing, or is no binary log.
    """
    if form == "text" and (types or resolve or which != "rows"):
        raise Usage("--types, --events and --resolve belong to --format jsonl and csv")
    if form != "text" and (verbose or table_metadata or hexdump):
        raise Usage("-v, --table-metadata and --hexdump belong to --format text")
    writer = None if dialect is None else named_dialect(dialect)
    check_files(files)
    hidden: dict[int, int] = {}  # events that are not shown, by type code
    passing = form != "text" and which == "rows" and not resolve
    logs = SelectedLogs(
        files, selection, dialect=writer, limit=limit, keyring=read_keyring(keyring), keep_bytes=hexdump,
        pass_over=hidden if passing else None,
    )  # fmt: skip
    if form == "text":
        _text(logs, types=verbose > 1, metadata=table_metadata, dialect=writer)
    else:
        _changes(logs, form, hidden, types=types, rows_only=which == "rows", resolve=resolve)


def _text(logs: SelectedLogs, *, types: bool, metadata: bool, dialect: Dialect | None) -> None:
    from conformance.cli.marked_logs import MarkedLog
    from conformance.reference.binlog.control_events import Opaque
    from conformance.reference.binlog.load import LoadBlock
    from conformance.reference.binlog.statement_events import RowsQuery
    from conformance.reference.errors import CodecError
    from conformance.reference.text.mysqlbinlog import LogText

    output, spool = Output(), FileSpool()
    server = None if dialect is None else dialect.server
    text = LogText(
        types=types, metadata=metadata, clock=localtime, spool=spool, server=server, complete=not logs.begins_inside
    )
    hidden: Counter[str] = Counter()
    unseen = {Opaque, LoadBlock} if types else {Opaque, LoadBlock, RowsQuery}
    events = 0
    waits = logs.waits
    try:
        for path, chosen in logs.each():
            boundaries = MarkedLog(path, narrate)
            for event, choice in chosen:
                if not events:
                    output.write(text.begin())
                events += 1
                boundaries.feed(event)
                printed = choice is Choice.PRINTED
                if printed and type(event.body) in unseen:
                    hidden[event.name] += 1
                try:
                    for piece in text.event(event, logs.event_bytes) if printed else _pieces_left(text, event, choice):
                        output.write(piece)
                except CodecError as error:
                    raise refused(path, event.located(error)) from error
                if waits:
                    output.flush()
            boundaries.finish()
        if logs.stopped and text.inside_statement:
            warn("the end is inside a statement: the rows before it in this statement are not printed")
        if logs.stopped and not events:
            output.write(text.begin())
        for piece in text.end(stopped=logs.stopped) if events or logs.stopped else ():
            output.write(piece)
    finally:
        for piece in text.failed():
            output.write(piece)
        spool.close()
        output.flush()
        narrate(f"{_count(events - logs.left_out, 'event')}; contents not shown: {_listed(hidden)}{_left_out(logs)}")


def _pieces_left(text: LogText, event: Event, choice: Choice) -> Iterator[bytes]:
    if choice is Choice.ABSENT:
        return iter(())
    return text.left_out(event, partial=choice is Choice.OTHER_TABLE)


def _changes(
    logs: SelectedLogs, form: str, hidden: dict[int, int], *, types: bool, rows_only: bool, resolve: bool
) -> None:
    from conformance.reference.binlog.rows import ROWS_TYPES
    from conformance.reference.errors import CodecError
    from conformance.reference.event_types import event_name
    from conformance.reference.text.csv_changes import HEADER, csv_line
    from conformance.reference.text.row_changes import RowChanges, json_line

    output = Output()
    changes = RowChanges(tagged=types, rows_only=rows_only, line=csv_line if form == "csv" else json_line)
    replay = resolve_row = None
    if resolve:
        from conformance.reference.replay.engine import Replay

        replay = Replay(lenient=True)
        resolve_row = replay.row
    write, begins_inside, waits = output.write, logs.begins_inside, logs.waits
    shown = ROWS_TYPES if rows_only else None
    begun = False
    try:
        for path, chosen in logs.each():
            changes.start_file(path)
            for event, choice in chosen:
                if form == "csv" and not begun:
                    output.write(HEADER.encode() + b"\n")
                begun = True
                if choice is not Choice.PRINTED:
                    continue
                code = event.header.type
                if shown is not None and code not in shown:
                    hidden[code] = hidden.get(code, 0) + 1
                if begins_inside and _lacks_table(event):
                    narrate(f"{path}: the TABLE_MAP of the rows at {event.position} is before --start-position")
                    continue
                try:
                    if replay is not None:
                        replay.other(event)
                    for line in changes.event(event, resolve_row):
                        write(line.encode("utf-8", "backslashreplace") + b"\n")
                except CodecError as error:
                    raise refused(path, event.located(error)) from error
                if waits:
                    output.flush()
    finally:
        output.flush()
        names = Counter({event_name(code): number for code, number in hidden.items()})
        narrate(_closing(changes, names, resolve=resolve) + _left_out(logs))


def _left_out(logs: SelectedLogs) -> str:
    return f"; left out: {_count(logs.left_out, 'event')}" if logs.left_out else ""


def _lacks_table(event: Event) -> bool:
    from conformance.reference.binlog.rows import LazyRows

    return isinstance(event.body, LazyRows) and event.body.table is None


def _closing(changes: RowChanges, hidden: Counter[str], *, resolve: bool) -> str:
    words = f"{_count(changes.counts.changes, 'row change')}; events not shown: {_listed(hidden)}"
    if resolve:
        words += f"; diffs without a known document: {changes.counts.unresolved}"
    return words


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _listed(counts: Counter[str]) -> str:
    if not counts:
        return "none"
    shown = [f"{number} {name}" for name, number in counts.most_common(_SHOWN)]
    rest = sum(counts.values()) - sum(number for _, number in counts.most_common(_SHOWN))
    return ", ".join(shown) + (f", {rest} others" if rest else "")
