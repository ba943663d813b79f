"""``binlog-lab diff A B``: compares two runs, of servers or decoders."""

from __future__ import annotations

import json
from pathlib import Path

import click

from conformance.exit_code import ExitCode
from conformance.messages import printable
from conformance.user_errors import Usage


@click.command
@click.argument("before", type=click.Path(exists=True, path_type=Path), metavar="A")
@click.argument("after", type=click.Path(exists=True, path_type=Path), metavar="B")
@click.option(
    "--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True,
    help="Lines for people, one JSON object, or tables for a pull request.",
)  # fmt: skip
def command(before: Path, after: Path, form: str) -> int:
    """Compare the runs A and B: what fails anew, what is fixed, what still fails, what is gone.

    What is not the same in both runs comes first: flags, seed, updates, profile, kit, suite or dialect. What failed in
    A, and is a deviation in B that A did not list, is "listed" and not "fixed".

    A and B are report directories or results.json files. A directory with run.jsonl is compared case by case; otherwise
    the failures that results.json lists are. A subject is matched by id, or else by name without version.

    The exit code is 1 if B has a failure that A has not, else 0; 2 if A or B is no result of a run.
    """
    from conformance.harness.experiments.former_ids import present
    from conformance.report import diff_text
    from conformance.report.diff import DiffError, compare, load

    try:
        diff = compare(load(before, present), load(after, present))
    except DiffError as error:
        raise Usage(str(error)) from error
    if form == "json":
        click.echo(json.dumps(diff.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in (diff_text.text if form == "text" else diff_text.markdown)(diff):
            click.echo(printable(line))
    return int(ExitCode.NONCONFORMANT if diff.new_failures else ExitCode.OK)
