"""``binlog-lab decode``: binary logs as text, or as one JSON object or CSV record per row change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.dialects import named_dialect
from conformance.cli.encryption import keyring_option
from conformance.cli.filters import filter_options
from conformance.cli.helpful import LabCommand
from conformance.cli.jobs import jobs_option
from conformance.cli.log_options import MAX_UNCOMPRESSED, remote_options
from conformance.keyring_file import read_keyring
from conformance.logs.inputs import check_files, require_files
from conformance.logs.printing.decoding import Decoding, Form
from conformance.logs.printing.result_file import not_among, result_file
from conformance.logs.printing.text_form import BASE64, TextForm
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.text.event_filter import Selection


@click.command(name="decode", cls=LabCommand)
@click.argument("files", metavar="LOG…", nargs=-1, required=True)
@click.option("-f", "--format", "--as", "form", type=click.Choice(("text", "jsonl", "csv", "parquet", "sql")),
              default="text", show_default=True)  # fmt: skip
@click.option("-v", "--verbose", count=True, help="Text: rows as pseudo-SQL, for reading, and no BINLOG statements."
              " Twice: with column types.")  # fmt: skip
@click.option("--base64-output", "base64", type=click.Choice(BASE64), help="Text: whether there are BINLOG statements,"
              " as in mysqlbinlog; with -v too. [default: auto; with -v: decode-rows]")  # fmt: skip
@click.option(
    "-r", "-o", "--result-file", "target", metavar="OUT", help="Write to this file instead of standard output."
)
@click.option(
    "--table-metadata", "metadata", is_flag=True, help="Text: print the columns and the key of each TABLE_MAP."
)
@click.option("-H", "--hexdump", is_flag=True, help="Text: dump the bytes of each event in hex.")
@click.option("--types", is_flag=True, help="JSON, CSV: tag values that have no plain JSON form with their type.")
@click.option("--events", "which", type=click.Choice(("rows", "all")), default="rows", show_default=True,
              help="JSON, CSV: row changes only, or an object for every event.")  # fmt: skip
@click.option("--dialect", metavar="V", help="The version that wrote the files, and whose mysqlbinlog to imitate;"
              " default: the version in each file, and the newest mysqlbinlog.")  # fmt: skip
@click.option("--columns", is_flag=True, help="CSV, Parquet: a column for each column of the one table, before and"
              " after.")  # fmt: skip
@click.option("--resolve", is_flag=True, help="JSON, CSV: apply diffs where the document before the update is known.")
@click.option("--outcome", is_flag=True, help="JSON, CSV: add what became of each row change: committed, rolled back,"
              " prepared, unfinished. Each transaction waits for its end.")  # fmt: skip
@click.option("--committed", is_flag=True, help="JSON, CSV: only row changes that the logs commit.")
@click.option("--definitions", multiple=True, metavar="FILE|mysql://USER@HOST:PORT",
              help="JSON, CSV, Parquet, SQL: take names and keys that"
              " the logs lack from CREATE TABLE statements, an InnoDB data file (.ibd), or mysql://USER@HOST:PORT; may"
              " be repeated.")  # fmt: skip
@click.option("--skip-gtids", is_flag=True, help="SQL: transactions get GTIDs of the server that runs them.")
@filter_options
@remote_options
@keyring_option
@MAX_UNCOMPRESSED
@jobs_option
def command(
    *, files: tuple[str, ...], form: str, verbose: int, base64: str | None, target: str | None, metadata: bool,
    hexdump: bool, types: bool, which: str, columns: bool, resolve: bool, outcome: bool, committed: bool,
    skip_gtids: bool, definitions: tuple[str, ...], dialect: str | None, selection: Selection, keyring: Path | None,
    limit: int | None, jobs: int,
) -> None:  # fmt: skip
    """Print binary log files as mysqlbinlog does, or as one JSON object or CSV record per row change.

    The text is that of mysqlbinlog: SQL with the rows in BINLOG statements, which mysql replays. With -v and -vv it is
    for reading: that of mysqlbinlog -v --base64-output=decode-rows, whose rows are comments.

    --as sql prints SQL for people, with INSERT, UPDATE and DELETE by primary key, a diff as its JSON function. It
    needs binlog_row_metadata=FULL or --definitions, and ends at the first change that such a statement cannot make.

    CSV has one record a row change, and with --columns the values of one table side by side. Parquet has the same and
    needs the extra parquet.

    LOG may be - for standard input, mysql://USER@HOST:PORT for all logs of a server, or mysql://USER@HOST:PORT/NAME
    for one of them. Times in comments are local times; times in values are UTC. Boundary markers
    (WL#4162) are shown as comments; stderr names the events whose marker does not fit their transaction. Control
    characters are escaped on a terminal, and written unchanged to a file or a pipe. Events of unknown types are named
    at the end, unless they are marked to be ignored.
    """
    if form == "text" and (types or resolve or outcome or committed or which != "rows"):
        raise Usage("--types, --events, --resolve, --outcome and --committed belong to --format jsonl and csv")
    if form == "sql" and (types or resolve or outcome or committed or which != "rows" or jobs > 1):
        raise Usage("--types, --events, --resolve, --outcome, --committed and --jobs do not belong to --format sql")
    if columns and form not in ("csv", "parquet"):
        raise Usage("--columns belongs to --format csv and parquet")
    if (columns or form == "parquet") and (outcome or committed or which != "rows" or jobs > 1):
        raise Usage("--columns and --format parquet have no --events all, --outcome, --committed and --jobs")
    if form == "parquet" and target is None:
        raise Usage("--format parquet is a file", hint="--result-file OUT says where it goes")
    if skip_gtids and form != "sql":
        raise Usage("--skip-gtids belongs to --format sql")
    if (outcome or committed) and which != "rows":
        raise Usage("--outcome and --committed are about row changes: they do not belong to --events all")
    if form != "text" and (verbose or metadata or hexdump or base64):
        raise Usage("-v, --base64-output, --table-metadata and --hexdump belong to --format text")
    if definitions and form == "text":
        raise Usage("--definitions belongs to --format jsonl, csv, parquet and sql: mysqlbinlog prints @1, @2, ...")
    writer = None if dialect is None else named_dialect(dialect)
    check_files(files)
    if resolve and jobs > 1:
        raise Usage(f"--jobs {jobs}: --resolve needs all rows before a diff, in order", hint="leave --jobs out")
    if (outcome or committed) and jobs > 1:
        raise Usage(f"--jobs {jobs}: what became of a row change may stand far behind it", hint="leave --jobs out")
    require_files(files, jobs)
    text = None if form != "text" else TextForm.of(verbose, base64, metadata=metadata, hexdump=hexdump)
    chosen = Form(name=form, types=types, text=text, rows_only=which == "rows", resolve=resolve, outcome=outcome,
                  committed=committed, gtids=not skip_gtids, dialect=writer, columns=columns,
                  target=None if form != "parquet" or target is None else not_among(target, files))  # fmt: skip
    keys = read_keyring(keyring)
    given = None
    if definitions:
        from conformance.logs.definitions import GivenDefinitions

        given = GivenDefinitions(definitions, keyring)
    decoding = Decoding(files, selection, chosen, limit, keys, given)
    with result_file(target if chosen.target is None else None, files):
        decoding.print(jobs)
