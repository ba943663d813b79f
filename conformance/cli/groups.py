"""Groups of subcommands that answer a mistyped name."""

from __future__ import annotations

from typing import Any

import click

from conformance.cli.helpful import LabCommand
from conformance.messages import did_you_mean


class NamedCommands(LabCommand, click.Group):
    """A group that answers a mistyped command with the nearest ones (click has that from 8.4 on)."""

    command_class = LabCommand

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"subcommand_metavar": "COMMAND [ARGUMENT]…", **options})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command as click does, or raise the error with a suggestion."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command {args[0]!r}{did_you_mean(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)
