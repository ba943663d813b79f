"""The ``binlog-lab`` command: finds the subcommand, and turns every way of ending into an exit code.

Each subcommand is a module ``conformance.cli.NAME`` with an attribute ``command``. The module is imported only when the
subcommand runs. So ``--help`` answers at once, and a missing optional library affects only the subcommands that need
it.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from conformance.cli.groups import NamedCommands
from conformance.cli.installation import require_own_packages
from conformance.console import TerminalText, error, narrate
from conformance.exit_code import ExitCode
from conformance.interrupts import Terminated, handle_interrupts, interrupted
from conformance.user_errors import UserError
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "binlog-lab"
COMPLETE_VARIABLE = (
    "_BINLOG_LAB_COMPLETE"  # click's name for it: bash_source, zsh_source or fish_source in it asks for a script
)
DEBUG_VARIABLE = "BINLOG_LAB_DEBUG"
SIGNALLED = 128  # shells report a program that a signal ended as 128 + the signal's number
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)

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
# Commands whose interrupted run is incomplete (exit code 4); the others just stop.
RUNS = frozenset({"conformance", "explore", "fuzz", "matrix", "replay", "restarts", "servers", "smoke", "subjects"})


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
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM)
def cli() -> None:
    """Conformance test kit and fuzzing lab for MySQL's partial-JSON row events."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Only messages and the exit code leave this function."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    is_run = bool(RUNS.intersection(arguments[:1]))
    try:
        if instruction := os.environ.get(COMPLETE_VARIABLE):
            return _complete(instruction)
        require_own_packages()
        # Not cli.main(): that ends a broken pipe with exit code 1, which means something else here.
        with cli.make_context(PROGRAM, list(arguments)) as context:
            result = cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as problem:
        return problem.exit_code
    except click.UsageError as problem:
        _usage(problem)
        return problem.exit_code
    except (click.ClickException, UserError) as problem:
        if hidden := interrupted():
            return _interrupted(hidden, is_run=is_run)
        _failed(problem)
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort) as stop:
        return _interrupted(stop, is_run=is_run)
    except BrokenPipeError:
        # The reader of the output has closed it (``| head``): stay quiet, as other programs do.
        _silence_stdout()
        return SIGNALLED + signal.SIGPIPE
    except Exception as problem:  # noqa: BLE001 - the last net: a user never gets a traceback unasked
        if hidden := interrupted():
            return _interrupted(hidden, is_run=is_run)
        if isinstance(problem, OSError):
            return _operating_system(problem)
        error(f"{type(problem).__name__}: {problem}")
        _debug_hint()
        return int(ExitCode.COULD_NOT_RUN)
    return result if isinstance(result, int) else int(ExitCode.OK)


def _interrupted(stop: BaseException, *, is_run: bool) -> int:
    narrate(f"\n{PROGRAM}: interrupted" + (f" by {stop}" if isinstance(stop, Terminated) else ""))
    return int(ExitCode.INCOMPLETE) if is_run else SIGNALLED + signal.SIGINT


def _complete(instruction: str) -> int:
    """Print the script that completes commands in a shell, or the completions that the script asks for."""
    from click.shell_completion import shell_complete

    code = shell_complete(cli, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    if code:
        error(f"{COMPLETE_VARIABLE}={instruction}: expected bash_source, zsh_source or fish_source")
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


def _failed(problem: click.ClickException | UserError) -> None:
    if isinstance(problem, click.ClickException):
        problem.show(sys.stderr)
        return
    error(str(problem))
    if problem.hint:
        narrate(problem.hint)


def _operating_system(problem: OSError) -> int:
    where = f"{problem.filename}: " if problem.filename else ""
    if problem.errno in NO_SPACE:
        error(f"{where or 'while writing: '}no space left on the device")
    else:
        error(f"{where}{problem.strerror or problem}")
        _debug_hint()
    return int(ExitCode.COULD_NOT_RUN)


def _debug_hint() -> None:
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exc()
    else:
        narrate(f"(this was not expected; {DEBUG_VARIABLE}=1 shows where it happened)")


def _silence_stdout() -> None:
    """Keep the interpreter from complaining when it flushes stdout at its end."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, sys.stdout.fileno())
    os.close(descriptor)


def main() -> NoReturn:
    """Entry point of the console script."""
    handle_interrupts()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # data is UTF-8 whatever the locale says
        if sys.stdout.isatty():
            sys.stdout = TerminalText(sys.stdout)
    code = run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        code = SIGNALLED + signal.SIGPIPE
    sys.exit(code)
