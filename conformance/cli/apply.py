"""``binlog-lab apply``: replay row events and DDL from an empty state, and print the final tables or SQL to undo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.filters import filter_options
from conformance.cli.helpful import LabCommand
from conformance.cli.jobs import jobs_option
from conformance.cli.log_options import MAX_UNCOMPRESSED, remote_options
from conformance.keyring_file import read_keyring
from conformance.logs.inputs import check_files, require_files
from conformance.logs.replaying.replay import print_replay, verify_replay
from conformance.logs.replaying.starting import NOTHING, Beginning
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from conformance.reference.text.event_filter import Selection


_VERIFY: Final = "--verify"
_FROM: Final = "--from"
_SOURCES: Final = (".ibd", ".sql")


class _FilesBehind(LabCommand):
    """A command with options that take several files.

    Every word behind ``--verify``, up to the next option, is a data file; behind ``--from`` every word up to the first
    one that neither ends with ``.ibd`` nor with ``.sql``.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its words."""
        words: list[str] = []
        taken = ""
        for word in args:
            if word.startswith("-") and word != "-":
                taken = word if word in (_VERIFY, _FROM) else ""
            elif taken and words[-1] != taken:
                if taken == _FROM and not word.endswith(_SOURCES):
                    taken = ""
                else:
                    words.append(taken)
            words.append(word)
        return super().parse_args(ctx, words)


def _offset(_context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """A time zone with a fixed distance from UTC."""
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.values.time_zones import offset_of

    try:
        if text is not None:
            offset_of(text)
    except CodecError as error:
        raise click.BadParameter(f"{text!r} is no offset such as +02:00", param=option) from error
    return text


@click.command(name="apply", cls=_FilesBehind)
@click.argument("files", metavar="LOG…", nargs=-1, required=True)
@click.option("-f", "--format", "--as", "form", type=click.Choice(("text", "json", "csv", "parquet", "sql")),
              default="text", show_default=True, help="csv: one table; parquet: a file a table, in DIR; sql: with"
              " --undo, statements by primary key instead of BINLOG.")  # fmt: skip
@click.option("-o", "--output", "directory", metavar="DIR", help="Where Parquet files go: a new or empty directory.")
@click.option(_VERIFY, "data_files", multiple=True, metavar="FILE.ibd|DIR…",
              help="Compare the final tables with these InnoDB data files, instead of printing them.")  # fmt: skip
@click.option(
    _FROM,
    "sources",
    multiple=True,
    metavar="FILE…",
    help="Start from the tables in these InnoDB data files (.ibd) or dumps (.sql), not from an empty state.",
)
@click.option(
    "--system-time-zone",
    metavar="±HH:MM",
    callback=_offset,
    help="The source's time zone SYSTEM: an ALTER TABLE may need it, and no log has it.",
)
@click.option("--undo", is_flag=True, help="Print SQL that takes the transactions back, newest first.")
@click.option("--transaction", "wanted", multiple=True, metavar="GTID|POSITION",
              help="With --undo: take only this transaction back; may be repeated.")  # fmt: skip
@keyring_option
@filter_options
@remote_options
@MAX_UNCOMPRESSED
@jobs_option
def command(
    *, files: tuple[str, ...], form: str, data_files: tuple[str, ...], undo: bool, wanted: tuple[str, ...],
    sources: tuple[str, ...], system_time_zone: str | None, keyring: Path | None, selection: Selection,
    limit: int | None, jobs: int, directory: str | None,
) -> None:  # fmt: skip
    """Replay binary log files in the order given, from an empty state, and print the final tables.

    Rows come from row events; of the statements, the replay follows only those that define tables. A statement that it
    cannot follow, or a missing row, ends the replay; the tables before that event are printed. Rows
    are ordered by the first column, then the next. --format json orders all values as text; the text format orders
    numbers as numbers. Options that leave events out act before the replay, so that it may lack rows or tables.

    --from gives the tables that were there before: data files of InnoDB, or a dump as mysqldump writes it. The logs
    then begin where these were copied.

    --verify stands behind the logs and takes all tablespaces of the tables, one file for each table or partition, or a
    data directory: then every page of every tablespace in it is read too. Every row is compared, value by value, except
    virtual columns, which no file has: a row may be missing, differ, or be only in a file, and one side may lack a
    table. Hidden tables of FULLTEXT indexes are counted and not
    compared. So are tables of the schemas mysql and sys which the logs have not made. The logs must begin
    with the empty server. Files of a running server lag behind: copy them after FLUSH TABLES … FOR EXPORT, or after a
    shutdown. With --jobs, processes share the tables out: each reads all logs, and the rows of its own tables.

    On a terminal the columns stand below each other. --format csv prints one table, and --format parquet writes a file
    for each into DIR; it needs the extra parquet.

    --undo prints BINLOG statements for the client mysql, each with its rows as comments, or with --as sql INSERT,
    UPDATE and DELETE. It needs FULL images, and resolves diffs. It reads whole logs. GTIDs, times and positions
    choose transactions by their beginning; --table and --database choose rows. Where the result would not be exact, it
    ends before anything is printed. These stand in the way: XA transactions, statements that change the tables of these
    rows, and foreign keys that cascade. So does a later transaction that changes one of the rows, if it stays.
    """
    if undo and (data_files or form not in ("text", "sql")):
        raise Usage(f"--undo prints SQL: {'--verify' if data_files else f'--format {form}'} does not belong to it")
    if (form == "parquet") != (directory is not None):
        raise Usage("--format parquet and --output DIR go together: a file for each table")
    if data_files and form not in ("text", "json"):
        raise Usage(f"--verify has no --format {form}")
    if form == "sql" and not undo:
        raise Usage("--as sql belongs to --undo", hint="decode --as sql prints the changes of logs as SQL")
    beginning = Beginning(sources, system_time_zone)
    if beginning != NOTHING and (undo or jobs > 1):
        raise Usage("--from and --system-time-zone belong to a replay in one process")
    if wanted and not undo:
        raise Usage("--transaction belongs to --undo")
    if jobs > 1 and not data_files:
        raise Usage("--jobs shares out the tables that --verify compares: it does not belong to other output")
    check_files(files)
    require_files(files, jobs)
    if undo:
        from conformance.logs.replaying.undo import print_undo

        print_undo(files, wanted, selection, limit, read_keyring(keyring), readable=form == "sql")
    elif data_files:
        verify_replay(files, selection, form, data_files, beginning, limit=limit, keyring=keyring, jobs=jobs)
    else:
        print_replay(
            files,
            selection,
            form,
            beginning,
            limit=limit,
            keyring=keyring,
            directory=None if directory is None else Path(directory),
        )
