"""``binlog-lab matrix``: scenario matrices and their budgets."""

from __future__ import annotations

import click


@click.group(name="matrix")
def command() -> None:
    """Scenario matrices: many generated updates, judged against size budgets."""


@command.command(name="list")
def list_() -> None:
    """The matrices, with their axes and budgets."""
    from scenarios.matrix import load_matrix, matrix_names

    for name in matrix_names():
        matrix = load_matrix(name)
        click.echo(f"{name:<14} {matrix.title} ({matrix.cells} cells, {matrix.total:,} scenarios)")
        for axis, values in matrix.axes.items():
            click.echo(f"  {axis}: {', '.join(map(str, values))}")
        for axis, values in matrix.ranges.items():
            click.echo(f"  {axis}, drawn: {', '.join(map(str, dict.fromkeys(values)))}")
        for budget in matrix.budgets:
            click.echo(f"  {budget.requirement} {budget.id}: {budget.title.format(**dict(budget.constants))}")
