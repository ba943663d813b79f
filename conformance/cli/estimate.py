"""``binlog-lab estimate``: what partial JSON saves, or would save, in binary logs."""

from __future__ import annotations

from typing import Any

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.cli.jobs import jobs_option
from conformance.cli.log_options import MAX_UNCOMPRESSED


@click.command(name="estimate", cls=LabCommand)
@click.argument("paths", nargs=-1, required=True, metavar="LOG…")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--master",
    metavar="URL",
    help="Spark to read with: local[N], spark://…, sc://…, or none [default: none up to 64 MB of logs, else local[*]].",
)
@keyring_option
@MAX_UNCOMPRESSED
@jobs_option
def command(**options: Any) -> None:
    """Estimate what partial JSON saves, or would save, in binary logs.

    Logs with full row images tell most: the documents before and after an update determine its diffs. Where several
    statements could have made the same change, the estimate gives bounds: from the cheapest statement to one that sets
    the whole document. The line "single values set" lies between the two.

    LOG is a file, a directory or a pattern. --keyring reads encrypted logs without Spark. --jobs reads without Spark:
    what it starts for N processes is --master 'local[N]'.
    """
    from conformance.runs.matrix_estimate import print_estimate

    print_estimate(**options)
