"""``binlog-lab serve``: the lab as a source, from which any client reads binary logs without a MySQL server."""

from __future__ import annotations

from typing import Any

import click

from conformance.cli.helpful import LabCommand
from conformance.user_errors import Usage


@click.command(name="serve", cls=LabCommand)
@click.argument("logs", metavar="LOG…", nargs=-1, required=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N",
              help="Where to listen. [default: a free port]")  # fmt: skip
@click.option("--user", default="lab", show_default=True, metavar="NAME", help="The account's name.")
@click.option("--authentication", type=click.Choice(["caching_sha2_password", "mysql_native_password"]),
              default="caching_sha2_password", show_default=True, help="The account's method.")  # fmt: skip
@click.option("--full-authentication", "full", type=click.Choice(["first", "always", "never"]), default="first",
              show_default=True, help="When caching_sha2_password asks for the password itself.")  # fmt: skip
@click.option("--no-tls", is_flag=True, help="Offer no TLS.")
@click.option("--server-version", "version", metavar="VERSION", help="The version to greet with. [default: the log's]")
@click.option("--gtid-mode", type=click.Choice(["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"]),
              help="The variable gtid_mode. [default: as the log's transactions are]")  # fmt: skip
@click.option("--definitions", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
              help="CREATE TABLE statements of tables that the logs only change.")  # fmt: skip
@click.option("--cut-after", type=click.IntRange(min=0), metavar="N", help="Break each dump off behind N events.")
@click.option("--cut-inside", is_flag=True, help="With --cut-after: break it in the middle of the next event.")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How to print the address.")  # fmt: skip
def command(logs: tuple[str, ...], **wishes: Any) -> int:
    """Serve binary logs to any client that connects as a replica, without a MySQL server.

    LOG is a file, or generated:SEED/UPDATES with /compressed or /tagged behind it: the log of so many generated updates
    of JSON documents. Several files are served in the order given, as those of one server.

    The source listens on 127.0.0.1 and prints its address, user and password. The password is that of the variable
    BINLOG_LAB_PASSWORD, or a new one. It answers what clients ask about variables and tables, and sends dumps by file
    and position or by GTIDs. Clients wait for more at the end of the last log. Ctrl-C ends it.
    """
    if wishes["cut_inside"] and wishes["cut_after"] is None:
        raise Usage("--cut-inside needs --cut-after")
    from conformance.runs.served_logs import Wishes, serve

    serve(logs, Wishes(**wishes))
    return 0
