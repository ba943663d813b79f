"""The command's frame: help at once, and every way of ending has its exit code and its message."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import types
from typing import TYPE_CHECKING

import click
import pytest

from conformance.cli import main as frame
from conformance.cli.program import COMMANDS
from conformance.interrupts import Terminated
from conformance.report.directory import ReportDirectory
from conformance.user_errors import CouldNotRun, InputCorrupt, Usage
from conformance.version import __version__
from tests.live import PATIENCE, environment
from tests.report.synthetic_stream import green

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PYTHON = [sys.executable, "-m", "conformance"]


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a subcommand, by default ``decode``, whose body is the given function."""

    def run(body: Callable[[], object], name: str = "decode") -> int:
        module = types.ModuleType(f"conformance.cli.{name}")
        module.command = click.Command(name, callback=body)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return frame.run([name])

    return run


def raiser(error: BaseException) -> Callable[[], object]:
    def body() -> object:
        raise error

    return body


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom conformance.cli.main import run\ncode = run(['--help'])\n"
        "heavy = {'rich', 'jinja2', 'mysql', 'pytest', 'hypothesis', 'msgspec', 'zstandard', 'conformance.reference'}\n"
        "sys.exit(code or ' '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout


def test_the_version_is_printed() -> None:
    done = subprocess.run([*PYTHON, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"binlog-lab, version {__version__}\n"


def test_the_commands_are_those_of_the_contract() -> None:
    assert list(COMMANDS) == [
        "conformance", "decode", "apply", "check", "digest", "expand", "predict", "estimate", "explain", "sdi", "lob",
        "rows",
        "servers", "subjects", "smoke", "serve", "restarts", "replay", "cases", "fuzz", "explore", "matrix", "report",
        "diff", "doctor", "help",
    ]  # fmt: skip


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"], ["report"], ["report", "/no/such/place"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert frame.run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.rstrip().endswith("--help says how it is used")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputCorrupt("torn", hint="cut at 4711"), 1),
        (Usage("no"), 2),
        (click.UsageError("no"), 2),
        (CouldNotRun("no server"), 3),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/x"), 3),
        (PermissionError(errno.EACCES, "Permission denied", "/tmp/x"), 3),
        (RuntimeError("surprise"), 3),
        (BrokenPipeError(), 141),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_error_has_its_exit_code_and_no_traceback(
    ending: Callable[..., int], capsys: pytest.CaptureFixture[str], error: BaseException, code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv(frame.DEBUG_VARIABLE, raising=False)
    monkeypatch.setattr(frame, "_silence_stdout", lambda: None)
    assert ending(raiser(error)) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert captured.out == ""
    if code != 141:
        assert captured.err.strip()


def test_the_traceback_of_a_surprise_is_there_when_asked_for(
    ending: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(frame.DEBUG_VARIABLE, "1")
    assert ending(raiser(RuntimeError("surprise"))) == 3
    assert "Traceback" in capsys.readouterr().err


def test_a_full_disk_is_said_in_words(ending: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    ending(raiser(OSError(errno.ENOSPC, "x", "/tmp/x")))
    assert capsys.readouterr().err == "error: /tmp/x: no space left on the device\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Terminated("SIGTERM")])
def test_an_interrupted_run_is_incomplete(
    ending: Callable[..., int], error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(raiser(error), "conformance") == 4
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (4, 4)])
def test_the_result_of_a_command_is_the_exit_code(ending: Callable[..., int], result: int | None, code: int) -> None:
    assert ending(lambda: result) == code


def test_context_exit_is_respected(ending: Callable[..., int]) -> None:
    assert ending(lambda: click.get_current_context().exit(2)) == 2


def test_sigterm_ends_a_command_through_its_finally_blocks(tmp_path: Path) -> None:
    program = (
        "import sys, time, types, click\n"
        "from conformance.cli.main import main\n"
        "def body():\n"
        "    try:\n"
        "        print('ready', flush=True)\n"
        "        while True:\n"
        "            time.sleep(0.01)\n"  # a signal between two bytecodes does not wake a sleep that begins behind it
        "    finally:\n"
        f"        open({str(tmp_path / 'cleaned')!r}, 'w').close()\n"
        "module = types.ModuleType('conformance.cli.conformance')\n"
        "module.command = click.Command('conformance', callback=body)\n"
        "sys.modules[module.__name__] = module\n"
        "sys.argv = ['binlog-lab', 'conformance']\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline() == "ready\n"
        lab.send_signal(signal.SIGTERM)
        _, messages = lab.communicate(timeout=PATIENCE)
    assert lab.returncode == 4
    assert (tmp_path / "cleaned").exists()
    assert "interrupted by SIGTERM" in messages
    assert "Traceback" not in messages


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM"])
def test_an_interrupt_amid_the_end_of_a_generator_is_not_lost(kind: str) -> None:
    program = (
        "import os, signal, sys, time, types, click\n"
        "from conformance.cli.main import main\n"
        "def events():\n"
        "    try:\n"
        "        yield 1\n"
        "    finally:\n"
        f"        os.kill(os.getpid(), signal.{kind})\n"
        "        time.sleep(1)\n"
        "def body():\n"
        "    for _ in events():\n"
        "        break\n"
        "    while True:\n"
        "        time.sleep(0.01)\n"
        "module = types.ModuleType('conformance.cli.conformance')\n"
        "module.command = click.Command('conformance', callback=body)\n"
        "sys.modules[module.__name__] = module\n"
        "sys.argv = ['binlog-lab', 'conformance']\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "interrupted" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("hiding", ["RuntimeError('cannot release un-acquired lock')", "OSError(28, 'full', 'x')"])
def test_an_interrupt_that_hides_behind_another_error_is_not_lost(hiding: str) -> None:
    """As where a lock is to be released that the interrupt kept from being taken again."""
    program = (
        "import os, signal, sys, types, click\n"
        "from conformance.cli.main import main\n"
        "def body():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    finally:\n"
        f"        raise {hiding}\n"
        "module = types.ModuleType('conformance.cli.conformance')\n"
        "module.command = click.Command('conformance', callback=body)\n"
        "sys.modules[module.__name__] = module\n"
        "sys.argv = ['binlog-lab', 'conformance']\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (4, "", "\nbinlog-lab: interrupted\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*PYTHON, "--help"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == b""


# -- completion --------------------------------------------------------------------------------------------------------


def completed(instruction: str, *words: str) -> subprocess.CompletedProcess[str]:
    more = {"_BINLOG_LAB_COMPLETE": instruction, "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    return subprocess.run(PYTHON, env=environment(**more), capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("shell", "line"), [
    ("bash", "complete -o nosort -F _binlog_lab_completion binlog-lab"),
    ("zsh", "#compdef binlog-lab"),
    ("fish", "complete --no-files --command binlog-lab"),
])  # fmt: skip
def test_the_completion_script_of_each_shell_is_printed(shell: str, line: str) -> None:
    done = completed(f"{shell}_source")
    assert done.returncode == 0, done.stderr
    assert line in done.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("binlog-lab", "conf"), {"conformance"}),
        (("binlog-lab", "servers", "st"), {"start", "stop"}),
        (("binlog-lab", "conformance", "--server"), {"--server", "--server-option"}),
        (("binlog-lab", "conformance", "--profile", "s"), {"soak"}),
    ],
)
def test_commands_options_and_values_are_completed(words: tuple[str, ...], found: set[str]) -> None:
    done = completed("bash_complete", *words)
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == found, done.stderr


def test_another_shell_is_wrong_usage() -> None:
    done = completed("tcsh_source")
    assert done.returncode == 2
    assert "expected bash_source, zsh_source or fish_source" in done.stderr


# -- report ------------------------------------------------------------------------------------------------------------


def test_report_renders_a_whole_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ReportDirectory(tmp_path) as report:
        for record in green():
            report.write(record)
    assert frame.run(["report", str(tmp_path)]) == 0
    assert "CONFORMANT" in capsys.readouterr().out
    assert (tmp_path / "index.html").exists()


def test_report_of_a_broken_off_run_says_incomplete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ReportDirectory(tmp_path) as report:
        for record in green()[:-1]:
            report.write(record)
    assert frame.run(["report", str(tmp_path)]) == 4
    assert "INCOMPLETE" in capsys.readouterr().out


def test_report_of_a_directory_without_a_run_is_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert frame.run(["report", str(tmp_path)]) == 2
    assert "no such file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


HOLDING = """
import os, signal
from conformance.interrupts import handle_interrupts, held, let_through
def press(): os.kill(os.getpid(), signal.SIGINT)
handle_interrupts()
try:
    with held():
        press(); print("written")
        with let_through(): print("waited past it")
except KeyboardInterrupt: print("taken where it waits")
try:
    with held(): press(); print("written")
except KeyboardInterrupt: print("taken at the end")
try:
    with held():
        with let_through(): press(); print("waited past it")
except KeyboardInterrupt: print("taken at once")
try:
    with held(): press(); press(); print("the second one waited")
except KeyboardInterrupt: print("the second one is taken at once")
"""


ANYWHERE = """
import os, signal, sys
from conformance import interrupts
interrupts.handle_interrupts()
def once(at, seen):
    def trace(frame, event, argument):
        if frame.f_code.co_filename != interrupts.__file__: return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen[0] += 1
            if seen[0] == at: os.kill(os.getpid(), signal.SIGINT)
        return trace
    sys.settrace(trace)
    try:
        with interrupts.held():
            try:
                with interrupts.let_through(): pass
            except KeyboardInterrupt: return "within"
        return "nothing"
    except KeyboardInterrupt: return "outside"
    finally: sys.settrace(None)
counted = [0]
print(once(0, counted), counted[0] > 40)
places = [once(at, [0]) for at in range(1, counted[0] + 1)]
print(len(interrupts._holds), "nothing" in places, places.count("within") > 20)
"""


def test_an_interrupt_at_each_step_of_holding_one_is_taken_once_and_leaves_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", ANYWHERE], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["nothing True", "0 False True"], done.stderr


def test_a_held_interrupt_is_taken_where_the_reader_waits_and_a_second_one_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", HOLDING], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "written", "taken where it waits", "written", "taken at the end", "taken at once",
        "the second one is taken at once",
    ], done.stderr  # fmt: skip
