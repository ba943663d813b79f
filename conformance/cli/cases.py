"""``binlog-lab cases``: show the case suite, and export it as plain files that are read without the lab."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.groups import NamedCommands
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import Usage


@click.group(name="cases", cls=NamedCommands)
def command() -> None:
    """List, show, export and extend the case suite."""


@command.command(name="list")
@click.option("-r", "--requirement", "requirements", multiple=True, metavar="REQ", help="Cases of this requirement.")
def list_(requirements: tuple[str, ...]) -> int:
    """Print one line a Case: id, kind, requirements, where it comes from."""
    from conformance.runs.suite_export import listed

    lines = listed(requirements)
    for line in lines:
        click.echo(line)
    narrate(f"{len(lines)} Cases")
    return int(ExitCode.OK)


@command.command()
@click.argument("identity", metavar="ID")
@click.option("--as", "form", type=click.Choice(["json", "sql"]), default="json", show_default=True)
def show(identity: str, form: str) -> int:
    """Print one Case as JSON, or as a SQL script with what is expected as comments."""
    from conformance.runs.suite_export import shown

    click.echo(shown(identity, form), nl=False)
    return int(ExitCode.OK)


@command.command()
@click.argument("directory", type=click.Path(path_type=Path), metavar="[DIR]", required=False)
@click.argument("identities", nargs=-1, metavar="[ID]…")
@click.option("--decoders", "archive", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT.zip",
              help="Write the Cases for decoders into one archive.")  # fmt: skip
def export(directory: Path | None, identities: tuple[str, ...], archive: Path | None) -> int:
    """Write Cases (all, or those named) as plain files into DIR.

    DIR must be new, empty, or hold an earlier export, whose files of the same name are replaced. The Cases for decoders
    are in its folder decoders/.
    """
    if directory is None and archive is None:
        raise Usage("nothing to write: give DIR, or --decoders OUT.zip")
    from conformance.runs.suite_export import export_suite

    export_suite(identities, directory, archive)
    return int(ExitCode.OK)


@command.command()
@click.argument("finding", metavar="FINDING")
@click.option(
    "--id", "identity", metavar="SLUG", help="The Case's permanent name (default: made from requirement and content)."
)
@click.option(
    "-r", "--requirement", "requirements", multiple=True, metavar="REQ", help="Requirements in place of the Case's own."
)
@click.option("--note", default="", metavar="TEXT", help="Why the finding is kept.")
@click.option("--report", type=click.Path(path_type=Path), default=Path("report"), show_default=True, metavar="DIR")
def promote(finding: str, identity: str | None, requirements: tuple[str, ...], note: str, report: Path) -> int:
    """Keep a finding for good: from now on every run judges it.

    FINDING is the file of a Case, or the id of a Case that the report in DIR has stored. In a checkout of binlog-lab
    the Case becomes a file of the repository. Elsewhere it goes to your own Cases: BINLOG_LAB_CASES, or your data
    directory. The command refuses a Case that the suite already has under any name. It also refuses an input that may
    crash other people's software: the lab finds such an input again from its seed.

    A finding of a fuzz run (its .bin file) becomes a regression of its target, tests/regressions/TARGET/SLUG.bin, in a
    checkout. With -r a binary log becomes a Case for mysqlbinlog instead.
    """
    from conformance.runs.promotion import keep_finding

    click.echo(str(keep_finding(finding, identity or "", requirements, note, report)))
    return int(ExitCode.OK)
