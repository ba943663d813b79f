"""``binlog-lab serve``: the lab as a source, from which any client reads binary logs without a MySQL server."""

from __future__ import annotations

import json
import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.console import narrate
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from conformance.servers.source.log_files import LogFiles
    from conformance.servers.source.login import Account
    from conformance.servers.source.server import Source

PASSWORD: Final = "BINLOG_LAB_PASSWORD"  # noqa: S105 - the name of a variable
GENERATED: Final = "generated:"
_MOST: Final = 1_000_000


@click.command(name="serve")
@click.argument("logs", metavar="LOG…", nargs=-1, required=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N",
              help="Where to listen. [default: a free port]")  # fmt: skip
@click.option("--user", default="lab", show_default=True, help="The account's name.")
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
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How to print the address.")  # fmt: skip
def command(
    logs: tuple[str, ...],
    port: int,
    user: str,
    authentication: str,
    full: str,
    no_tls: bool,
    version: str | None,
    gtid_mode: str | None,
    definitions: str | None,
    cut_after: int | None,
    cut_inside: bool,
    form: str,
) -> int:
    """Serve binary logs to any client that connects as a replica, without a MySQL server.

    LOG is a file, or generated:SEED/UPDATES with /compressed or /tagged behind it: the log of so many generated updates
    of JSON documents. Several files are served in the order given, as those of one server.

    The source listens on 127.0.0.1 and prints its address, user and password. The password is that of the variable
    BINLOG_LAB_PASSWORD, or a new one. It answers what clients ask about variables and tables, and sends dumps by file
    and position or by GTIDs. Clients wait for more at the end of the last log. Ctrl-C ends it.
    """
    from conformance.servers.source.cuts import CutAfter
    from conformance.servers.source.login import Account, FullPath
    from conformance.servers.source.server import Source

    if cut_inside and cut_after is None:
        raise Usage("--cut-inside needs --cut-after")
    files = _logs(logs)
    password = os.environ.get(PASSWORD) or secrets.token_urlsafe(9)
    account = Account(user=user, password=password, method=authentication, full=FullPath(full))
    prepared = _statements(Path(definitions).read_text("utf-8")) if definitions else ()
    cut_each = None if cut_after is None else lambda: CutAfter(cut_after, inside=cut_inside)
    try:
        source = Source(
            files,
            port=port,
            account=account,
            version=version,
            gtid_mode=gtid_mode or "",
            tls=not no_tls,
            prepared=prepared,
            cut_each=cut_each,
            narrate=narrate,
        )
    except OSError as problem:
        raise CouldNotRun(f"127.0.0.1:{port}: {problem.strerror or problem}") from problem
    with source:
        _introduce(source, files, account, form)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            narrate("the source ends")
    return 0


def _logs(names: tuple[str, ...]) -> LogFiles:
    from conformance.harness.campaign.predicted_log import LogForm, predicted_log
    from conformance.servers.source.log_files import LogFiles, NoLog

    try:
        files = []
        for number, name in enumerate(names, 1):
            if not name.startswith(GENERATED):
                files += LogFiles.of_paths([Path(name)]).files
                continue
            seed, _, rest = name.removeprefix(GENERATED).partition("/")
            count, _, form = rest.partition("/")
            if not count.isdecimal() or not 0 < int(count) <= _MOST or form not in ("", *LogForm):
                raise Usage(f"{name}: expected generated:SEED/UPDATES, or with /compressed or /tagged behind it")
            narrate(f"generating {count} updates")
            made = predicted_log(seed, int(count), LogForm(form or LogForm.PLAIN))
            files += LogFiles.of_bytes([(f"generated.{number:06}", made.log)]).files
        return LogFiles(files)
    except NoLog as problem:
        raise Usage(str(problem)) from problem
    except OSError as problem:
        raise Usage(f"{problem.filename}: {problem.strerror or problem}") from problem


def _statements(text: str) -> tuple[str, ...]:
    """The statements of a file; none of those that define tables holds a semicolon at the end of a line."""
    return tuple(part.strip() for part in text.replace(";\r\n", ";\n").split(";\n") if part.strip(" ;\n"))


def _introduce(source: Source, files: LogFiles, account: Account, form: str) -> None:
    facts = {
        "host": "127.0.0.1",
        "port": source.port,
        "user": account.user,
        "password": account.password,
        "authentication": account.method,
        "tls": source.identity is not None,
        "version": source.facts.version,
        "gtid_executed": str(files.executed),
        "logs": [{"file": file.name, "size": len(file.data)} for file in files.files],
    }
    if form == "json":
        click.echo(json.dumps(facts))
        return
    for key in ("host", "port", "user", "password", "authentication", "version"):
        click.echo(f"{key:15} {facts[key]}")
    click.echo(f"{'tls':15} {'offered, with a certificate of its own' if facts['tls'] else 'not offered'}")
    click.echo(f"{'gtid_executed':15} {facts['gtid_executed'] or 'none'}")
    for file in files.files:
        click.echo(f"{'log':15} {file.name}, {len(file.data):,} bytes, {len(file.groups):,} transactions")
