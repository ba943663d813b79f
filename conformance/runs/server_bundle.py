"""The server bundle: fetched into the user's cache, and its client programs run."""

from __future__ import annotations

import os

import click

from conformance.console import narrate
from conformance.server_use import fetch_progress, server_errors
from conformance.user_errors import Usage


def install_bundle(*, refresh: bool, wanted: str | None, series: str | None, old: bool) -> None:
    """Fetch the bundle, or an old server, and print its directory."""
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


def run_client(words: tuple[str, ...]) -> None:
    """Put a client program of the bundle in the place of this process."""
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
