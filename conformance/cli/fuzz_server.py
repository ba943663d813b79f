"""``binlog-lab fuzz server``: campaigns against real servers, and the program mysqlbinlog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.helpful import LabCommand

_CAMPAIGNS = ("diverged", "malformed", "streams")
_CHANNELS = ("statements", "applier", "mysqlbinlog", "replica")


@click.command(name="server", cls=LabCommand)
@click.option(
    "--campaign", "name", type=click.Choice(_CAMPAIGNS), required=True, help="The kind of events (see above)."
)
@click.option("--seconds", type=click.FloatRange(min=1), metavar="N", help="Time for the campaign [default: 60].")
@click.option("--runs", type=click.IntRange(min=1), metavar="N", help="Number of inputs, in place of --seconds.")
@click.option("--seed", metavar="N", help="[default: a new one, which is printed]")
@click.option(
    "-s", "--server", default="auto", show_default=True, metavar="SPEC", help="auto, process[:PATH], docker[:IMAGE]."
)
@click.option(
    "--channel",
    "channels",
    type=click.Choice(_CHANNELS),
    multiple=True,
    help="Only this way to the server; repeatable.",
)
@click.option("--only", metavar="PLACE", help="Run one input only: CHANNEL/BATCH/NUMBER, as a finding names it.")
@click.option("--equal", type=click.IntRange(min=1), default=5, show_default=True, metavar="N",
              help="Leave a listed damage out after N inputs with it (one, if it was found before).")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="Replicas, and processes of mysqlbinlog, that work side by side [default: two a core].")  # fmt: skip
@click.option("--shrink-seconds", type=click.FloatRange(min=0), metavar="N",
              help="Time to minimise a finding [default: 60, at most a quarter of --seconds].")  # fmt: skip
@click.option("--findings", type=click.Path(path_type=Path), metavar="DIR",
              help="Where findings go [default: BINLOG_LAB_FINDINGS, or your data directory].")  # fmt: skip
@click.option("--no-deviations", is_flag=True, help="Count listed deviations as findings.")
def server(**options: Any) -> int:
    """Put generated events into the lab's own MySQL servers, and judge how the servers react.

    diverged: sound events, applied to other documents than those they were made for.

    malformed: damaged events. Some of them end released servers and mysqlbinlog. The lab starts those programs again,
    and keeps the inputs in a directory that only you can read. It makes the inputs smaller, and describes them for the
    vendor.

    streams: relay logs with transactions of every kind and one damaged event. The replica that reads them must survive.

    The command refuses a server that the lab did not start.
    """
    from conformance.runs.server_campaign import run_server_campaign

    return run_server_campaign(**options)
