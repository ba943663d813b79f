"""Binary logs of files or of generated updates, served to any client that connects as a replica."""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from conformance.console import narrate
from conformance.harness.updates.predicted_log import LogForm, predicted_log
from conformance.servers.source.cuts import CutAfter
from conformance.servers.source.log_files import LogFiles, NoLog
from conformance.servers.source.login import Account, FullPath
from conformance.servers.source.server import Source
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

PASSWORD: Final = "BINLOG_LAB_PASSWORD"  # noqa: S105 - the name of a variable
GENERATED: Final = "generated:"
_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The source as the user wants it. ``cut_after``: how many events a dump has before it breaks off."""

    port: int
    user: str
    authentication: str
    full: str
    no_tls: bool
    version: str | None
    gtid_mode: str | None
    definitions: str | None
    cut_after: int | None
    cut_inside: bool
    form: str


def serve(logs: Sequence[str], wishes: Wishes) -> None:
    """Serve the logs until Ctrl-C."""
    files = _logs(logs)
    password = os.environ.get(PASSWORD) or secrets.token_urlsafe(9)
    account = Account(user=wishes.user, password=password, method=wishes.authentication, full=FullPath(wishes.full))
    prepared = _statements(Path(wishes.definitions).read_text("utf-8")) if wishes.definitions else ()
    count = wishes.cut_after
    cut_each = None if count is None else lambda: CutAfter(count, inside=wishes.cut_inside)
    try:
        source = Source(
            files,
            port=wishes.port,
            account=account,
            version=wishes.version,
            gtid_mode=wishes.gtid_mode or "",
            tls=not wishes.no_tls,
            prepared=prepared,
            cut_each=cut_each,
            narrate=narrate,
        )
    except OSError as problem:
        raise CouldNotRun(f"127.0.0.1:{wishes.port}: {problem.strerror or problem}") from problem
    with source:
        _introduce(source, files, account, wishes.form)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            narrate("the source ends")


def _logs(names: Sequence[str]) -> LogFiles:
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
