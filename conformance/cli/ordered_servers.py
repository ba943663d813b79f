"""A command that knows in which order its servers and replicas were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cli.helpful import LabCommand
from conformance.runs.columns import REPLICA, SERVER

if TYPE_CHECKING:
    import click

ORDER: Final = "conformance.cli.ordered_servers"  # in the context: names of options, in the order given


class OrderedServers(LabCommand):
    """A command that keeps the order of its options: a ``--replica`` belongs to the ``--server`` before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options as click does, and remember their order."""
        parser = self.make_parser(ctx)
        _, _, order = parser.parse_args(args=list(args))
        ctx.meta[ORDER] = tuple(parameter.name for parameter in order if parameter.name in (SERVER, REPLICA))
        return super().parse_args(ctx, args)
