"""The group of all commands, as the library of the command line sees it.

Each subcommand is a module ``conformance.cli.NAME`` with an attribute ``command``. The module is imported only when the
subcommand runs. So ``--help`` answers at once, and a missing optional library affects only the subcommands that need
it.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import click

from conformance.cli.groups import NamedCommands
from conformance.console import error, narrate
from conformance.exit_code import ExitCode
from conformance.interrupts import interrupted
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, str] = {
    "conformance": "Judge servers and decoders against the requirements, write a report.",
    "decode": "Print binary logs as mysqlbinlog does, or as JSON lines, CSV, Parquet, SQL.",
    "apply": "Replay binary logs from an empty state, print the final tables.",
    "check": "Say what binary logs will do to their readers, tool by tool.",
    "digest": "Say who writes what in binary logs, when and how much.",
    "expand": "Rewrite a binary log with plain row events that every tool reads.",
    "predict": "Predict the binary log of an update, byte for byte.",
    "estimate": "Estimate what partial JSON saves, or would save, in binary logs.",
    "explain": "Print the annotated hex of a binary log, or a requirement in words.",
    "sdi": "Print the dictionary information in InnoDB data files, as ibd2sdi does.",
    "lob": "List JSON documents in InnoDB data files, with their older versions.",
    "rows": "Print the rows in InnoDB data files as JSON lines or INSERTs, deleted ones too.",
    "servers": "List, install, start and stop real MySQL servers.",
    "subjects": "List and install the built-in subjects: other people's decoders.",
    "smoke": "Prove the adapter of a decoder, step by step.",
    "serve": "Serve binary logs to any client, without a MySQL server.",
    "restarts": "Cut clients off everywhere, and count what they lose or repeat.",
    "replay": "Run a stored Case again, or print it as SQL.",
    "cases": "List, show, export and extend the case suite.",
    "fuzz": "Fuzz decoders and servers; replay and minimise findings.",
    "explore": "Run random workloads on real servers; find what no fixed check can.",
    "matrix": "Judge many generated updates against size budgets (scenario matrices).",
    "report": "Render a report again from its run.jsonl.",
    "diff": "Compare two runs: what fails anew, what is fixed.",
    "doctor": "Show what is available here, what is missing, and how to get it.",
    "help": "Print the help of a command or subcommand.",
}


class LazyGroup(NamedCommands):
    """A group that knows its commands by name and one line, and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which the help lists them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of the command."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"conformance.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version")
def cli() -> None:
    """Conformance test kit and fuzzing lab for MySQL's partial-JSON row events."""


def invoke(program: str, arguments: Sequence[str]) -> object:
    """Call a command; returns what it returns, or the exit code of a wrong call. ``program``: its name in messages."""
    try:
        # Not cli.main(): that ends a broken pipe with exit code 1, which means something else here.
        with cli.make_context(program, list(arguments)) as context:
            return cli.invoke(context)
    except click.exceptions.Exit as problem:
        return problem.exit_code
    except click.UsageError as problem:
        _usage(problem)
        return problem.exit_code
    except click.ClickException as problem:
        if hidden := interrupted():
            raise hidden from problem
        problem.show(sys.stderr)
        return problem.exit_code
    except click.Abort as stop:
        raise KeyboardInterrupt from stop


def complete(program: str, variable: str, instruction: str) -> int:
    """Print the script that completes commands in a shell, or the completions that the script asks for.

    ``variable``: that of the environment which has the instruction.
    """
    from click.shell_completion import shell_complete

    code = shell_complete(cli, {}, program, variable, instruction)
    if code:
        error(f"{variable}={instruction}: expected bash_source, zsh_source or fish_source")
        return int(ExitCode.USAGE)
    return int(ExitCode.OK)


def _usage(problem: click.UsageError) -> None:
    """Print a usage error in the style of the other errors, and say where the help is."""
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        narrate(problem.format_message())
        return
    message = problem.format_message()
    error(f"{message[:1].lower()}{message[1:]}".rstrip("."))
    if problem.ctx is not None:
        narrate(f"{problem.ctx.command_path} --help says how it is used")
