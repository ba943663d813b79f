"""The ``binlog-lab`` command: turns every way of ending into an exit code.

The library of the command line takes longer to import than some commands to work. So a command with files alone goes
without it (``FILES_ALONE``); all others are those of :mod:`.program`.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from conformance.cli.installation import require_own_packages
from conformance.console import TerminalText, error, narrate
from conformance.exit_code import ExitCode
from conformance.interrupts import Terminated, handle_interrupts, interrupted
from conformance.user_errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "binlog-lab"
COMPLETE_VARIABLE = (
    "_BINLOG_LAB_COMPLETE"  # click's name for it: bash_source, zsh_source or fish_source in it asks for a script
)
DEBUG_VARIABLE = "BINLOG_LAB_DEBUG"
SIGNALLED = 128  # shells report a program that a signal ended as 128 + the signal's number
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
FILES_ALONE: Final = {"sdi": ("conformance.data_files.dictionary_information", "print_dictionary")}
# Commands whose interrupted run is incomplete (exit code 4); the others just stop.
RUNS = frozenset({"conformance", "explore", "fuzz", "matrix", "replay", "restarts", "servers", "smoke", "subjects"})


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Only messages and the exit code leave this function."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    is_run = bool(RUNS.intersection(arguments[:1]))
    try:
        result = _result(arguments)
        sys.stdout.flush()
    except UserError as problem:
        if hidden := interrupted():
            return _interrupted(hidden, is_run=is_run)
        error(str(problem))
        if problem.hint:
            narrate(problem.hint)
        return problem.exit_code
    except KeyboardInterrupt as stop:
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


def _result(arguments: Sequence[str]) -> object:
    """Whatever the command returns. Options, and files that look like them, need the library of the command line."""
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        from conformance.cli.program import complete

        return complete(PROGRAM, COMPLETE_VARIABLE, instruction)
    require_own_packages()
    name, *files = arguments or ("",)
    if name in FILES_ALONE and files and not any(file.startswith("-") for file in files):
        module, function = FILES_ALONE[name]
        return getattr(importlib.import_module(module), function)(files)
    from conformance.cli.program import invoke

    return invoke(PROGRAM, arguments)


def _interrupted(stop: BaseException, *, is_run: bool) -> int:
    narrate(f"\n{PROGRAM}: interrupted" + (f" by {stop}" if isinstance(stop, Terminated) else ""))
    return int(ExitCode.INCOMPLETE) if is_run else SIGNALLED + signal.SIGINT


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
