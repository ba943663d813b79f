"""``binlog-lab diff A B``: compares two runs, of servers or decoders."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.helpful import LabCommand
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.messages import printable
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.report.diff import Diff, Rechecked

_LISTS = ("--no-deviations", "--with-deviations")


@click.command(cls=LabCommand)
@click.argument("before", type=click.Path(exists=True, path_type=Path), metavar="A")
@click.argument("after", type=click.Path(exists=True, path_type=Path), metavar="B")
@click.option(
    "-f", "--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True,
    help="Lines for people, one JSON object, or tables for a pull request.",
)  # fmt: skip
@click.option("--recheck", is_flag=True, help="Run the cases that fail in one run only again, on the server of B.")
@click.option("-s", "--server", metavar="SPEC", help="Another server for --recheck.")
def command(before: Path, after: Path, form: str, recheck: bool, server: str | None) -> int:
    """Compare the runs A and B: what fails anew, what is fixed, what still fails, what is gone.

    What is not the same in both runs comes first: flags, seed, updates, profile, kit, suite or dialect. What failed in
    A, and is a deviation in B that A did not list, is "listed" and not "fixed".

    A and B are report directories or results.json files. A directory with run.jsonl is compared case by case; otherwise
    the failures that results.json lists are. A subject is matched by id, or else by name without version.

    --recheck runs the cases that fail in one run only again, on the server of B. It says of each how it ended, in the
    words of replay. A failure without a stored Case is not run again: its command is printed.
    """
    from conformance.harness.experiments.former_ids import present
    from conformance.report import diff_text
    from conformance.report.diff import DiffError, compare, load

    try:
        diff = compare(load(before, present), load(after, present))
    except DiffError as error:
        raise Usage(str(error)) from error
    if server is not None and not recheck:
        raise Usage("--server belongs to --recheck")
    again = [*_rechecked(diff, server)] if recheck else []
    if form == "json":
        rows = {"recheck": [each.to_json() for each in again]} if recheck else {}
        click.echo(json.dumps({**diff.to_json(), **rows}, ensure_ascii=False, indent=2))
    else:
        for line in (diff_text.text if form == "text" else diff_text.markdown)(diff):
            click.echo(printable(line))
        for line in diff_text.rechecked(again) if recheck else ():
            click.echo(printable(line))
    return int(ExitCode.NONCONFORMANT if diff.new_failures or any(each.contradicts for each in again) else ExitCode.OK)


def _rechecked(diff: Diff, server: str | None) -> Iterator[Rechecked]:
    """Run the differing cases again as B would: on its server, and with its list of deviations."""
    from conformance.report.diff import Rechecked

    options = shlex.split(diff.after.results["run"].get("command") or "")
    on = server or _option(options, "--server") or "auto"
    listed = _option(options, "--deviations")
    strict = ["--no-deviations"] if "--no-deviations" in options else ["--with-deviations"]
    own = ["--server", on, *(["--deviations", listed] if listed else strict)]
    for line, shown in diff.differing():
        words = shlex.split(shown)
        if words[:2] != ["binlog-lab", "replay"]:
            yield Rechecked(line, "", shown)
            continue
        narrate(f"running {line.case} again on {on}")
        rest = _without([word for word in words[2:] if word not in _LISTS], "--server", "--replica", "--deviations")
        done = subprocess.run(  # noqa: S603 - the lab itself
            [sys.executable, "-m", "conformance", "replay", *own, *rest],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        first = done.stdout.split(maxsplit=1)
        yield Rechecked(line, first[0] if first else "ERROR", "" if first else done.stderr.strip().rpartition("\n")[2])


def _option(words: list[str], name: str) -> str | None:
    """The value of an option of a command, whether it stands behind the name or behind a ``=``."""
    for place, word in enumerate(words):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and place + 1 < len(words):
            return words[place + 1]
    return None


def _without(words: list[str], *names: str) -> Iterator[str]:
    """The words of a command without these options and their values."""
    left = iter(words)
    for word in left:
        if word in names:
            next(left, None)
        elif word.partition("=")[0] not in names:
            yield word
