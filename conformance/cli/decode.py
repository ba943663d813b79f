"""``binlog-lab decode``: binary logs as text, or as one JSON object per row change."""

from __future__ import annotations

from collections import Counter
from time import localtime
from typing import TYPE_CHECKING

import click

from conformance.cli.console import Usage, narrate
from conformance.cli.dialects import named_dialect
from conformance.cli.logs import MAX_UNCOMPRESSED, FileSpool, Output, check_files, read_log, refused

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import Dialect
    from conformance.reference.text.row_changes import RowChanges

_SHOWN = 8  # event types in the closing line


@click.command(name="decode")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(("text", "jsonl")), default="text", show_default=True)
@click.option("-v", "--verbose", count=True, help="Once (the default): rows as pseudo-SQL. Twice: with column types.")
@click.option("--table-metadata", is_flag=True, help="Text: the columns and the key that each TABLE_MAP tells.")
@click.option("--types", is_flag=True, help="JSON: values that plain JSON cannot say get a type tag.")
@click.option("--events", "which", type=click.Choice(("rows", "all")), default="rows", show_default=True,
              help="JSON: row changes only, or an object for every event.")  # fmt: skip
@click.option("--dialect", metavar="V", help="The writer's version, whose mysqlbinlog is meant too;"
              " default: as each file says, printed as the newest prints.")  # fmt: skip
@click.option("--resolve", is_flag=True, help="JSON: apply diffs where the document before them is known.")
@MAX_UNCOMPRESSED
def command(
    files: tuple[str, ...],
    form: str,
    verbose: int,
    table_metadata: bool,
    types: bool,
    which: str,
    resolve: bool,
    dialect: str | None,
    limit: int,
) -> None:
    """Print binary log files as mysqlbinlog does, or as one JSON object per row change.

    FILE may be - for standard input. Times in comments are local, those of values UTC. Events with boundary markers
    (WL#4162) show them as comments, and stderr tells which do not fit their transactions. On a terminal control
    characters are escaped; a file or a pipe gets them as they are. Exit code 1: a file is corrupt, truncated or
    encrypted (what came before is printed); 2: it is missing or no binary log.
    """
    if form == "text" and (types or resolve or which != "rows"):
        raise Usage("--types, --events and --resolve belong to --format jsonl")
    if form == "jsonl" and (verbose or table_metadata):
        raise Usage("-v and --table-metadata belong to --format text")
    writer = None if dialect is None else named_dialect(dialect)
    check_files(files)
    if form == "text":
        _text(files, types=verbose > 1, metadata=table_metadata, dialect=writer, limit=limit)
    else:
        _jsonl(files, types=types, rows_only=which == "rows", resolve=resolve, dialect=writer, limit=limit)


def _text(files: tuple[str, ...], *, types: bool, metadata: bool, dialect: Dialect | None, limit: int) -> None:
    from conformance.cli.marked_logs import MarkedLog
    from conformance.reference.binlog.control_events import Opaque
    from conformance.reference.binlog.load import LoadBlock
    from conformance.reference.binlog.statement_events import RowsQuery
    from conformance.reference.errors import CodecError
    from conformance.reference.text.mysqlbinlog import LogText

    output, spool = Output(), FileSpool()
    server = None if dialect is None else dialect.server
    text = LogText(types=types, metadata=metadata, clock=localtime, spool=spool, server=server)
    hidden: Counter[str] = Counter()
    events = 0
    try:
        for path in files:
            boundaries = MarkedLog(path, narrate)
            for event in read_log(path, dialect=dialect, limit=limit):
                if not events:
                    output.write(text.begin())
                events += 1
                boundaries.feed(event)
                body = event.body
                if isinstance(body, (Opaque, LoadBlock)) or (isinstance(body, RowsQuery) and not types):
                    hidden[event.name] += 1
                try:
                    for piece in text.event(event):
                        output.write(piece)
                except CodecError as error:
                    raise refused(path, event.located(error)) from error
            boundaries.finish()
        for piece in text.end() if events else ():
            output.write(piece)
    finally:
        for piece in text.failed():
            output.write(piece)
        spool.close()
        output.flush()
        narrate(f"{_count(events, 'event')}; contents not shown: {_listed(hidden)}")


def _jsonl(
    files: tuple[str, ...], *, types: bool, rows_only: bool, resolve: bool, dialect: Dialect | None, limit: int
) -> None:
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.engine import Replay
    from conformance.reference.text.row_changes import RowChanges

    output = Output()
    changes = RowChanges(tagged=types, rows_only=rows_only)
    replay = Replay(lenient=True) if resolve else None
    hidden: Counter[str] = Counter()
    try:
        for path in files:
            changes.start_file(path)
            for event in read_log(path, dialect=dialect, limit=limit):
                if not _is_rows(event) and rows_only:
                    hidden[event.name] += 1
                try:
                    if replay is not None:
                        replay.other(event)
                    for line in changes.event(event, None if replay is None else replay.row):
                        output.write(line.encode("utf-8", "backslashreplace") + b"\n")
                except CodecError as error:
                    raise refused(path, event.located(error)) from error
    finally:
        output.flush()
        narrate(_closing(changes, hidden, resolve=resolve))


def _is_rows(event: Event) -> bool:
    from conformance.reference.binlog.rows import ROWS_TYPES

    return event.header.type in ROWS_TYPES


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
