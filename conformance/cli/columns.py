"""Several servers in one run: which replica belongs to which server, and what the columns are called."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.console import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDER: Final = "conformance.cli.columns"  # in the context: names of options in the order in which they were given
_SERVER, _REPLICA = "servers", "replicas"


class OrderedServers(click.Command):
    """A command that keeps the order of its options: a ``--replica`` belongs to the ``--server`` before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options as click does, and remember their order."""
        parser = self.make_parser(ctx)
        _, _, order = parser.parse_args(args=list(args))
        ctx.meta[ORDER] = tuple(parameter.name for parameter in order if parameter.name in (_SERVER, _REPLICA))
        return super().parse_args(ctx, args)


def server_pairs(servers: Sequence[str], replicas: Sequence[str], order: Sequence[str]) -> list[tuple[str, str]]:
    """Each server with its replica; an empty replica means the server's own spec. Without any server: ``auto``."""
    pairs: list[tuple[str, str]] = []
    given, followers = iter(servers), iter(replicas)
    for name in order:
        if name == _SERVER:
            pairs.append((next(given), ""))
            continue
        replica = next(followers)
        if not pairs:
            raise Usage("a --replica belongs to the --server before it", hint="--server auto --replica SPEC")
        if pairs[-1][1]:
            raise Usage(f"two replicas for --server {pairs[-1][0]}: give one --replica for each --server")
        pairs[-1] = (pairs[-1][0], replica)
    return pairs or [("auto", "")]


def column_names(specs: Sequence[str]) -> list[str]:
    """A name for each column, without secrets: the server's spec, numbered where two columns have the same."""
    seen: Counter[str] = Counter()
    names = []
    for spec in specs:
        seen[spec] += 1
        names.append(spec if seen[spec] == 1 else f"{spec}#{seen[spec]}")
    return names
