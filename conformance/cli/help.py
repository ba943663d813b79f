"""``binlog-lab help``: the help of a command or subcommand."""

from __future__ import annotations

import click

from conformance.cli.helpful import LabCommand


@click.command(name="help", cls=LabCommand)
@click.argument("words", nargs=-1, metavar="[COMMAND [SUBCOMMAND]]")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Print the help of a command or subcommand, as COMMAND --help does."""
    found = context.find_root()
    for number, word in enumerate(words):
        if not isinstance(found.command, click.Group):
            raise click.UsageError(f"{found.command_path} has no subcommands, got {word!r}", found)
        name, subcommand, _ = found.command.resolve_command(found, list(words[number:]))
        assert subcommand is not None
        found = click.Context(subcommand, info_name=name, parent=found)
    click.echo(found.get_help())
