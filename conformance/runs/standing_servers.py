"""Servers that stay until they are stopped: listed, started and stopped."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from conformance.console import narrate
from conformance.messages import did_you_mean
from conformance.server_use import fetch_progress, server_errors
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from conformance.servers.install import bundle
    from conformance.servers.standing import StandingServer

_NAME = re.compile(r"[A-Za-z0-9_]{1,24}")


def print_servers(form: str) -> None:
    """Print cached bundles, standing servers, and containers that runs kept."""
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


def start_server(
    *, spec: str, name: str | None, options: tuple[str, ...], server_id: int, performance_schema: bool
) -> None:
    """Start a server that stays, and print its URL."""
    from conformance.servers.specs import DEFAULT_IMAGE, SpecKind, parse_spec

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
        if parsed.kind is SpecKind.AUTO:
            parsed = parse_spec("process")
        if parsed.kind not in (SpecKind.PROCESS, SpecKind.DOCKER):
            raise Usage(f"'servers start' starts processes and containers; got {parsed}")
        settings = dict(parse_server_option(option) for option in options)
        if parsed.kind is SpecKind.DOCKER:
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


def stop_servers(names: tuple[str, ...], everything: bool) -> None:
    """Stop standing servers and kept containers, and remove their data."""
    from conformance.servers.containers.standing import RUN, kept_containers, remove_kept
    from conformance.servers.standing import standing_servers, stop_standing

    if not names and not everything:
        raise Usage("which server? Give a name, or --all", hint="binlog-lab servers list shows the names")
    with server_errors():
        standing = {server.name: server for server in standing_servers()}
        kept = {item.name for item in kept_containers() if item.kind == RUN}
        named = [*standing, *kept]
        if wrong := [f"{name}{did_you_mean(name, named)}" for name in names if name not in named]:
            known = ", ".join(named) or "there is none"
            raise Usage(f"no standing server is named {', '.join(wrong)} (named: {known})")
        for name in named if everything else names:
            if name in kept:
                remove_kept(name)
                narrate(f"{name}: removed, and its volume")
                continue
            stopped = stop_standing(standing[name])
            narrate(f"{name}: {'stopped' if stopped else 'had ended already'}; its directory is removed")
