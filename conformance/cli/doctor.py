"""``binlog-lab doctor``: what is available here, what is missing, how to get it."""

from __future__ import annotations

import json

import click

from conformance.cli.helpful import LabCommand
from conformance.console import narrate
from conformance.server_use import server_errors
from conformance.user_errors import CouldNotRun

_BUILDS = {
    "compiled": "its inner loops are machine code (BINLOG_LAB_PURE=1 takes the sources)",
    "pure": "Python sources; a wheel built where there are C and C++ compilers is compiled",
}
_MARKS = {"ok": "ok     ", "missing": "MISSING", "absent": "absent "}


@click.command(name="doctor", cls=LabCommand)
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(form: str) -> None:
    """Show what is available here, what is missing, and how to get it.

    Installs nothing and leaves nothing running. Where the first run would fetch a server, the mirror is asked for its
    signed index.
    """
    from conformance.builds import build
    from conformance.servers.survey import Fact, FactState, survey

    with server_errors():
        facts = survey()
    facts.append(Fact("reference", FactState.OK, f"{build()}: {_BUILDS[build()]}"))
    missing = [fact for fact in facts if fact.state is FactState.MISSING]
    if form == "json":
        entries = [
            {"name": fact.name, "state": fact.state.value, "detail": fact.detail, "remedy": fact.remedy or None}
            for fact in facts
        ]
        click.echo(json.dumps({"schema": 1, "ready": not missing, "facts": entries}, indent=1))
    else:
        width = max(len(fact.name) for fact in facts)
        for fact in facts:
            click.echo(f"{_MARKS[fact.state.value]}  {fact.name:<{width}}  {fact.detail}")
            if fact.remedy:
                click.echo(f"{'':<{width + 11}}to get it: {fact.remedy}")
    if missing:
        raise CouldNotRun("missing for the main job: " + ", ".join(fact.name for fact in missing))
    narrate("ready: binlog-lab conformance")
