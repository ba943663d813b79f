"""``binlog-lab digest``: who writes what in binary logs, when and how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.cli.log_options import MAX_UNCOMPRESSED

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="digest", cls=LabCommand)
@click.argument("files", metavar="LOG…", nargs=-1, required=True)
@click.option("-f", "--format", "form", type=click.Choice(("text", "json", "html")), default="text", show_default=True,
              help="Lines for people, one JSON object, or a page for a browser.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), metavar="N", default=5, show_default=True,
              help="How many of the largest transactions and documents to name.")  # fmt: skip
@keyring_option
@MAX_UNCOMPRESSED
def command(*, files: tuple[str, ...], form: str, top: int, keyring: Path | None, limit: int | None) -> None:
    """Say who writes what, when and how much, and what partial JSON saved or would save.

    Transactions, changed rows and bytes are counted by server and by time; row events by table. A document counts as
    it is stored, where it stands whole in a row. Savings are those of estimate, which tells more. Times are local.
    """
    from conformance.runs.log_digest import print_digest

    print_digest(files, form, top, limit=limit, keyring=keyring)
