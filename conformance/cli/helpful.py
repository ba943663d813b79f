"""The texts of ``--help``: options in groups and in one order, examples, exit codes.

The table ``commands.toml`` has them for all commands, and is read when a help is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DATA: Final = "commands.toml"
_PLAIN: Final = 8  # so many options need no groups
OPTIONS: Final = "Options"


class Entry(NamedTuple):
    """The entry of a command: its examples with a sentence each, and the meanings of its exit codes."""

    examples: tuple[tuple[str, str], ...]
    kind: str = ""
    codes: Mapping[int, str] | None = None
    own: frozenset[int] = frozenset()  # codes that it says in its own words


@cache
def table() -> dict[str, Any]:
    """Read the table: ``kinds`` of exit codes, ``groups`` of options, ``commands``."""
    import tomllib  # only a help needs it
    from pkgutil import get_data

    data = get_data("conformance.cli", _DATA)
    assert data is not None
    return tomllib.loads(data.decode("utf-8"))


def kinds() -> dict[str, dict[int, str]]:
    """The exit codes of each kind of command."""
    return {
        name: {int(code): words for code, words in kind.items() if code.isdigit()}
        for name, kind in table()["kinds"].items()
    }


def entry(path: str) -> Entry:
    """The entry of a command by its words behind the program's name, or of the command with the last of these words.

    The program itself has no kind: its help has the codes of all kinds. Raises ``KeyError`` where there is no entry.
    """
    commands = table()["commands"]
    found = commands.get(path) or commands[path.rpartition(" ")[2]]
    examples = tuple((line, words) for line, words in found["examples"])
    if "kind" not in found:
        return Entry(examples)
    own = {int(code): words for code, words in found.get("exit", {}).items()}
    codes = {**kinds()[found["kind"]], **own}
    never = found.get("never", ())
    return Entry(
        examples,
        found["kind"],
        {code: codes[code] for code in sorted(codes) if code not in never},
        frozenset(own),
    )


def name_of(option: click.Parameter) -> str:
    """The long name of an option, by which the table knows it."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


def grouped(options: Iterable[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """The options of a command by group, in the order of the table; all in one group where there are few."""
    groups: dict[str, list[str]] = table()["groups"]
    order = {name: (group, place) for group, names in groups.items() for place, name in enumerate(names)}
    found: dict[str, list[click.Parameter]] = {group: [] for group in groups}
    for option in options:
        found[order[name_of(option)][0]].append(option)
    out = {group: sorted(some, key=lambda one: order[name_of(one)][1]) for group, some in found.items() if some}
    every = [option for some in out.values() for option in some]
    return {OPTIONS: every} if len(every) <= _PLAIN else out


class LabCommand(click.Command):
    """A command whose help has groups of options, examples and exit codes."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by group, and the subcommands of a group."""
        options = [
            one
            for one in self.get_params(ctx)
            if isinstance(one, click.Option) and one.get_help_record(ctx) is not None
        ]
        for group, some in grouped(options).items():
            with formatter.section(group):
                formatter.write_dl([record for one in some if (record := one.get_help_record(ctx)) is not None])
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the exit codes."""
        mine = entry(path_of(ctx))
        with formatter.section("Examples"):
            for line, words in mine.examples:
                formatter.write_text(f"# {words}")
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        for title, codes in said(mine):
            with formatter.section(title):
                formatter.write_dl([(str(code), words) for code, words in codes.items()])


def path_of(ctx: click.Context) -> str:
    """The words of a command behind the program's name; of the program itself, its name."""
    return ctx.command_path.partition(" ")[2] or ctx.command_path


def said(mine: Entry) -> list[tuple[str, Mapping[int, str]]]:
    """The exit codes as a help has them, each table with its title."""
    if mine.codes is not None:
        return [("Exit codes", mine.codes)]
    titles = {name: kind["title"] for name, kind in table()["kinds"].items()}
    return [(f"Exit codes of {titles[name]}", codes) for name, codes in kinds().items()]
