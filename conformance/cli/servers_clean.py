"""``binlog-lab servers clean ADDRESS``: drop the schemas that a killed run left on a server at an address."""

from __future__ import annotations

import sys

import click

from conformance.cli.helpful import LabCommand
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.server_use import server_errors
from conformance.user_errors import CouldNotRun, Usage


@click.command(cls=LabCommand)
@click.argument("address", metavar="mysql://USER@HOST:PORT")
@click.option("-y", "--yes", is_flag=True, help="Drop the schemas without asking.")
def clean(*, address: str, yes: bool) -> int:
    """Drop the schemas that a killed run left on a server at an address.

    Lists the schemas, and asks. The lab names its schemas binlog_lab_ and 12 hexadecimal digits, and a run holds a lock
    of that name for each. The command leaves every schema with another name, and every schema whose lock is held. It
    refuses a source with replicas.
    """
    from conformance.servers.run.guests import GuestServer, drop_leftover, leftovers
    from conformance.servers.specs import SpecKind, parse_spec

    with server_errors():
        spec = parse_spec(address)
        if spec.kind is not SpecKind.MYSQL:
            raise Usage(
                f"{spec}: the lab removes what it started; only a server at an address can hold leftovers",
                hint="expected mysql://user@host:port",
            )
        server = GuestServer(spec)
        found = leftovers(server)
        for left in found:
            click.echo(f"{left.name}  tables: {left.tables}  {left.created or 'empty'}")
        if not found:
            narrate(f"{spec}: no schema that a killed run left")
            return int(ExitCode.OK)
        if not yes and not sys.stdin.isatty():
            raise Usage("nothing was dropped: nobody can be asked here", hint="give --yes to drop them")
        if not yes and not click.confirm(f"Drop {len(found)} of {spec}?", err=True):
            narrate("nothing was dropped")
            return int(ExitCode.OK)
        kept = [left.name for left in found if not drop_leftover(server, left.name)]
    narrate(f"{spec}: {len(found) - len(kept)} dropped")
    if kept:
        raise CouldNotRun(f"not dropped, because a run has begun to use it: {', '.join(kept)}")
    return int(ExitCode.OK)
