"""``binlog-lab apply``: replay row events and DDL from an empty state, and print the final tables or SQL to undo."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.console import InputCorrupt, Output, Usage, narrate, warn
from conformance.cli.data_files import keyring_option
from conformance.cli.logs import MAX_UNCOMPRESSED, check_files, read_log

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.binlog.event import Event
    from conformance.reference.replay.engine import Replay


_VERIFY: Final = "--verify"


class _DataFilesBehind(click.Command):
    """A command in which every word behind ``--verify``, up to the next option, is a data file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its words."""
        words: list[str] = []
        taken = False
        for word in args:
            option = word.startswith("-") and word != "-"
            if taken and not option and words[-1] != _VERIFY:
                words.append(_VERIFY)
            taken = word == _VERIFY or (taken and not option)
            words.append(word)
        return super().parse_args(ctx, words)


@click.command(name="apply", cls=_DataFilesBehind)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option(_VERIFY, "data_files", multiple=True, metavar="FILE.ibd…",
              help="Compare the final tables with these InnoDB data files, instead of printing them.")  # fmt: skip
@click.option("--undo", is_flag=True, help="Print SQL that takes the transactions back, newest first.")
@click.option("--transaction", "wanted", multiple=True, metavar="GTID|POSITION",
              help="With --undo: take only this transaction back; may be repeated.")  # fmt: skip
@keyring_option
@MAX_UNCOMPRESSED
def command(
    files: tuple[str, ...],
    form: str,
    data_files: tuple[str, ...],
    undo: bool,
    wanted: tuple[str, ...],
    keyring: Path | None,
    limit: int,
) -> None:
    """Replay binary log files in the order given, from an empty state, and print the final tables.

    Rows come from row events; of the statements, the replay follows only those that define tables. A statement that it
    cannot follow, or a missing row, ends the replay with exit code 1; the tables before that event are printed. Rows
    are ordered by the first column, then the next. --format json orders all values as text; the text format orders
    numbers as numbers.

    --verify stands behind the logs and takes all tablespaces of the tables, one file for each table or partition. Every
    row is compared, value by value, except virtual columns, which no file has. Exit code 1 if a row is missing,
    differs, or is only in a file, if one side lacks a table, and if a file is damaged. The logs must begin with the
    empty server. Files of a running server lag behind: copy them after FLUSH TABLES … FOR EXPORT, or after a shutdown.

    --undo prints BINLOG statements for the client mysql, each with its rows as comments. It needs FULL images, and
    resolves diffs. Statements that change tables, XA transactions, and a row that a later transaction changed, which
    stays, end it with exit code 1, before anything is printed.
    """
    from conformance.cli.apply_verify import Verification

    if undo and (data_files or form != "text"):
        raise Usage("--undo prints SQL: --verify and --format do not belong to it")
    if wanted and not undo:
        raise Usage("--transaction belongs to --undo")
    check_files(files)
    if undo:
        from conformance.cli.apply_undo import print_undo

        print_undo(files, wanted, limit)
        return
    with ExitStack() as stack:
        verification = stack.enter_context(Verification(data_files, keyring)) if data_files else None
        replay = _replayed(files, form, limit, silent=verification is not None)
        if verification is None:
            _print(replay, form)
        else:
            verification.print(replay.tables, form)


def _replayed(files: tuple[str, ...], form: str, limit: int, *, silent: bool) -> Replay:
    """The tables at the end of the logs; a log that ends before prints them, unless ``silent``."""
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.engine import Replay

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
        if not silent:
            _print(replay, form)
        raise
    open_changes, prepared = replay.finish()
    if open_changes:
        warn(f"the input ends inside a transaction: {open_changes} row changes of it are not applied")
    if prepared:
        warn(f"not applied: {prepared} XA transactions that were prepared and never decided")
    narrate(f"{changes} row events applied")
    return replay


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
