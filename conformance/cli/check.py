"""``binlog-lab check``: what binary logs will do to their readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.helpful import LabCommand
from conformance.cli.log_options import MAX_UNCOMPRESSED, remote_options
from conformance.exit_code import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="check", cls=LabCommand)
@click.argument("files", metavar="LOG…", nargs=-1, required=True)
@click.option(
    "-f", "--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True
)
@click.option("-t", "--tool", "tools", multiple=True, metavar="NAME",
              help="Speak of this tool only (binlog-lab subjects list has the names); may be repeated.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=0), metavar="N", default=5, show_default=True,
              help="How many of the largest transactions and busiest tables to name.")  # fmt: skip
@click.option("--limit", "limits", multiple=True, metavar="NAME=BYTES",
              help="The value of group_replication_transaction_size_limit, max_binlog_cache_size or payload, which no"
                   " transaction may go beyond. Of a server, its own values are asked for.")  # fmt: skip
@remote_options
@keyring_option
@MAX_UNCOMPRESSED
def command(
    *, files: tuple[str, ...], form: str, tools: tuple[str, ...], top: int, limits: tuple[str, ...],
    keyring: Path | None, limit: int | None,
) -> int:  # fmt: skip
    """Say what binary logs have that readers stumble over, and which tools lose, alter or refuse it.

    The command reads the logs themselves, because each session chooses partial JSON, images and compression. What a
    tool does was measured on logs with the same feature, with the version that is named; the settings that avoid it
    are named too. LOG may be - for standard input, mysql://USER@HOST:PORT for all logs of a server, or
    mysql://USER@HOST:PORT/NAME for one of them. Nothing is said of features that a tool reads, and of those that
    were not measured.
    """
    from conformance.checks.decoders.forecast.logs import print_forecast

    sound = print_forecast(files, form, tools, top, limits, limit=limit, keyring=keyring)
    return int(ExitCode.OK if sound else ExitCode.NONCONFORMANT)
