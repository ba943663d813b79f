"""``binlog-lab apply``: replay row events and DDL from an empty state, and print the final tables or SQL to undo."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.console import InputCorrupt, Output, Usage
from conformance.cli.encryption import keyring_option, read_keyring
from conformance.cli.filters import NOTHING_LEFT_OUT, SelectedLogs, filter_options
from conformance.cli.jobs import children_errors, jobs_option, require_files
from conformance.cli.logs import MAX_UNCOMPRESSED, FileSpool, check_files
from conformance.cli.remote_logs import remote_options
from conformance.cli.replayed import close, is_rows, replayed_events
from conformance.cli.spools import SortedSpool
from conformance.messages import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from conformance.reference.replay.engine import Replay
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.text.event_filter import Selection


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
@filter_options
@remote_options
@MAX_UNCOMPRESSED
@jobs_option
def command(
    files: tuple[str, ...],
    form: str,
    data_files: tuple[str, ...],
    undo: bool,
    wanted: tuple[str, ...],
    keyring: Path | None,
    selection: Selection,
    limit: int | None,
    jobs: int,
) -> None:
    """Replay binary log files in the order given, from an empty state, and print the final tables.

    Rows come from row events; of the statements, the replay follows only those that define tables. A statement that it
    cannot follow, or a missing row, ends the replay with exit code 1; the tables before that event are printed. Rows
    are ordered by the first column, then the next. --format json orders all values as text; the text format orders
    numbers as numbers. Options that leave events out act before the replay, so that it may lack rows or tables.

    --verify stands behind the logs and takes all tablespaces of the tables, one file for each table or partition. Every
    row is compared, value by value, except virtual columns, which no file has. The exit code is 1 if a row is missing,
    differs, or is only in a file. It is also 1 if one side lacks a table, or a file is damaged. The logs must begin
    with the empty server. Files of a running server lag behind: copy them after FLUSH TABLES … FOR EXPORT, or after a
    shutdown. With --jobs, processes share the tables out: each reads all logs, and the rows of its own tables.

    --undo prints BINLOG statements for the client mysql, each with its rows as comments. It needs FULL images, and
    resolves diffs. Three things end it with exit code 1, before anything is printed: statements that change tables, XA
    transactions, and a row that a later transaction changed, if that transaction stays.
    """
    from conformance.cli.apply_verify import Verification

    if undo and (data_files or form != "text"):
        raise Usage("--undo prints SQL: --verify and --format do not belong to it")
    if undo and selection != NOTHING_LEFT_OUT:
        raise Usage("--undo needs whole logs: no option that leaves events out belongs to it",
                    hint="--transaction names what to take back")  # fmt: skip
    if wanted and not undo:
        raise Usage("--transaction belongs to --undo")
    if jobs > 1 and not data_files:
        raise Usage("--jobs shares out the tables that --verify compares: it does not belong to other output")
    check_files(files)
    require_files(files, jobs)
    if undo:
        from conformance.cli.apply_undo import print_undo

        print_undo(files, wanted, limit, read_keyring(keyring))
        return
    with ExitStack() as stack:
        verification = stack.enter_context(Verification(data_files, keyring)) if data_files else None
        logs = SelectedLogs(files, selection, limit=limit, keyring=read_keyring(keyring))
        if verification is not None and jobs > 1:
            from conformance.cli.apply_jobs import verify_side_by_side

            with children_errors():
                verify_side_by_side(logs, verification, form, jobs)
            return
        replay = _replayed(logs, form, silent=verification is not None, table=selection.table)
        if verification is None:
            _print(_wanted(replay, selection.table), form)
        else:
            verification.print(replay.tables, form)


def _replayed(logs: SelectedLogs, form: str, *, silent: bool, table: str | None) -> Replay:
    """The tables at the end of the logs; a log that ends before prints those of this name, unless ``silent``."""
    from conformance.reference.replay.engine import Replay

    replay = Replay()
    changes = 0
    try:
        for event in replayed_events(logs, replay):
            changes += is_rows(event)
    except InputCorrupt:
        replay.finish()
        if not silent:
            _print(_wanted(replay, table), form)
        raise
    close(*replay.finish(), changes)
    return replay


def _wanted(replay: Replay, table: str | None) -> list[TableState]:
    """The tables of this name; the statements that made the others were replayed too."""
    return [state for name, state in sorted(replay.tables.items()) if table in (None, name[1])]


def _print(tables: Sequence[TableState], form: str) -> None:
    from conformance.reference.errors import CodecError

    output, spool = Output(), FileSpool()
    try:
        for line in _json_lines(tables) if form == "json" else _text_lines(tables):
            spool.add(line.encode("utf-8", "backslashreplace") + b"\n")
    except CodecError as error:
        if form == "json":
            spool.close()  # half of an object is of no use
        raise InputCorrupt(f"a value of the final tables cannot be shown: {error}") from error
    finally:
        if not spool.closed:
            for piece in spool.take():
                output.write(piece)
            spool.close()
        output.flush()


def _in_turn(tables: Iterable[TableState]) -> Iterator[TableState]:
    """The tables, each without what was computed for its lines once they are written: there may be many columns."""
    for state in tables:
        yield state
        if state.map is not None:
            state.map.forget_derived()


def _text_lines(tables: Iterable[TableState]) -> Iterator[str]:
    for state in _in_turn(tables):
        rows = _sorted_rows(state, numeric=True)
        yield f"{'.'.join(state.name)}: {counted(len(state.rows), 'row')}"
        yield "  " + "\t".join(state.column_names())
        for row in rows:
            yield "  " + "\t".join("NULL" if value is None else _one_line(value) for value in row)


def _json_lines(tables: Sequence[TableState]) -> Iterator[str]:
    """The lines of one JSON object, as :mod:`json` indents it by one space."""
    if not tables:
        yield "{}"
        return
    yield "{"
    for number, state in enumerate(_in_turn(tables), 1):
        yield f" {_json('.'.join(state.name), 0)}: {{"
        yield f'  "columns": {_json(state.column_names(), 2)},'
        left = len(state.rows)
        yield '  "rows": [' if left else '  "rows": []'
        for row in _sorted_rows(state):
            left -= 1
            yield f"   {_json(row, 3)}{',' if left else ''}"
        if state.rows:
            yield "  ]"
        yield " }," if number < len(tables) else " }"
    yield "}"


def _json(value: object, level: int) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1).replace("\n", "\n" + " " * level)


def _sorted_rows(state: TableState, *, numeric: bool = False) -> Iterator[Sequence[str | None]]:
    """The rows of a table in order. All are read before the first is returned."""
    from conformance.reference.replay.tables_text import row_order, rows_text

    spool = SortedSpool(row_order(state, numeric=numeric))
    for row in rows_text(state):
        spool.add(row)
    return spool.take()


def _one_line(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
