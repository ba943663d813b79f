"""``binlog-lab apply``: replay row events and DDL from an empty state, and print the final tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from conformance.cli.console import InputCorrupt, narrate, warn
from conformance.cli.logs import MAX_UNCOMPRESSED, Output, check_files, read_log

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Event
    from conformance.reference.replay.engine import Replay


@click.command(name="apply")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@MAX_UNCOMPRESSED
def command(files: tuple[str, ...], form: str, limit: int) -> None:
    """Replay binary log files in the order given, from an empty state, and print the final tables.

    Rows come from row events; of the statements, the replay follows only those that define tables. A statement that it
    cannot follow, or a missing row, ends the replay with exit code 1; the tables before that event are printed. Rows
    are ordered by the first column, then the next. --format json orders all values as text; the text format orders
    numbers as numbers.
    """
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.engine import Replay

    check_files(files)
    replay = Replay()
    changes = 0
    try:
        for path in files:
            for event in read_log(path, limit=limit):
                changes += _rows(event)
                try:
                    replay.event(event)
                except CodecError as error:
                    raise InputCorrupt(f"{path}: {_placed(error, event)}") from error
    except InputCorrupt:
        replay.finish()
        _print(replay, form)
        raise
    open_changes, prepared = replay.finish()
    if open_changes:
        warn(f"the input ends inside a transaction: {open_changes} row changes of it are not applied")
    if prepared:
        warn(f"not applied: {prepared} XA transactions that were prepared and never decided")
    _print(replay, form)
    narrate(f"{changes} row events applied")


def _rows(event: Event) -> int:
    from conformance.reference.binlog.rows import ROWS_TYPES

    return event.header.type in ROWS_TYPES


def _placed(error: Exception, event: Event) -> str:
    """The error message with its position in the file: errors about an event's meaning have no offset of their own."""
    from conformance.reference.errors import CodecError

    assert isinstance(error, CodecError)
    return str(event.located(error))


def _print(replay: Replay, form: str) -> None:
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.tables_text import table_rows

    output = Output()
    tables = sorted(replay.tables.items())
    try:
        if form == "json":
            shown = {f"{schema}.{name}": {"columns": state.column_names(), "rows": table_rows(state)}
                     for (schema, name), state in tables}  # fmt: skip
            output.write(json.dumps(shown, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n")
        else:
            for (schema, name), state in tables:
                rows = table_rows(state, numeric=True)
                lines = [f"{schema}.{name}: {len(rows)} row{'' if len(rows) == 1 else 's'}"]
                lines.append("  " + "\t".join(state.column_names()))
                lines += [
                    "  " + "\t".join("NULL" if value is None else _one_line(value) for value in row) for row in rows
                ]
                output.write("\n".join(lines).encode("utf-8", "backslashreplace") + b"\n")
    except CodecError as error:
        raise InputCorrupt(f"a value of the final tables cannot be shown: {error}") from error
    output.flush()


def _one_line(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
