"""``binlog-lab subjects list|install``: the built-in subjects, and the cache that holds them."""

from __future__ import annotations

import json

import click

from conformance.cli.groups import NamedCommands
from conformance.console import error, narrate
from conformance.exit_code import ExitCode
from conformance.server_use import fetch_progress
from conformance.user_errors import unknown


@click.group(name="subjects", cls=NamedCommands)
def command() -> None:
    """List and install the built-in subjects: other people's decoders with pinned versions.

    Nothing of them is a dependency of the lab. A run fetches the subjects that it names; 'install' prepares a machine
    that will have no network.
    """


@command.command(name="list")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_subjects(form: str) -> None:
    """List the built-in subjects: version, language, how they are driven, and whether they are in the cache."""
    from conformance.subjects import builtin

    rows = []
    for name in builtin.names():
        entry, there = builtin.entry(name), builtin.installed(name)
        rows.append(
            {
                "name": name,
                "title": entry.title,
                "version": entry.version,
                "language": entry.language,
                "reads": entry.reads,
                "driven": entry.driven,
                "project": entry.project,
                "installed": there is not None,
            }
        )
    if form == "json":
        click.echo(json.dumps(rows, indent=1))
        return
    width, second = (max(len(str(row[key])) for row in rows) for key in ("name", "version"))
    for row in rows:
        state = "installed" if row["installed"] else "not installed"
        click.echo(
            f"{row['name']:{width}}  {row['version']:{second}}  {row['language']:10}  {state:13}  {row['title']}"
        )


@command.command()
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
def install(names: tuple[str, ...]) -> int:
    """Fetch built-in subjects into the user's cache; 'all' stands for each of them.

    Versions and hashes are pinned.
    """
    from conformance.subjects import builtin
    from conformance.subjects.answers import SubjectUnavailable

    known = builtin.names()
    wanted = list(dict.fromkeys(one for name in names for one in (known if name == "all" else (name,))))
    if wrong := [name for name in wanted if name not in known]:
        raise unknown("subject", wrong, known, hint="binlog-lab subjects list names all")
    code = ExitCode.OK
    for name in wanted:
        try:
            with fetch_progress() as progress:
                there = builtin.install(name, narrate=narrate, progress=progress)
        except SubjectUnavailable as problem:
            error(f"{name}: {str(problem).removeprefix(f'{name}: ')}")
            code = ExitCode.COULD_NOT_RUN
            continue
        place = f"  {there.directory}" if there.directory else ""
        click.echo(f"{name}  {builtin.entry(name).version}{place}")
    return int(code)
