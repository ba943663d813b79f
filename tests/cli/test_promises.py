"""Promises of README, docs, helps and action.yml: every command line in them is one that this version takes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from conformance.cli import main as frame
from conformance.cli import plugin
from conformance.cli.helpful import table
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.servers.auto import parse_server_option
from conformance.servers.specs import parse_spec
from conformance.subjects.specs import parse_subject
from tests.docs.pages import PAGES
from tests.live import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    Parse: TypeAlias = Callable[[Sequence[str]], list[dict[str, Any]]]

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(?:sh|text)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^|[\s/;(])binlog-lab (.+)")


def commands_in(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words behind each ``binlog-lab`` in the code of a page, and whether they are a whole line: prose names
    a part."""
    blocks = "\n".join(_BLOCK.findall(text)).replace("\\\n", " ")
    spans = _SPAN.findall(_BLOCK.sub("", text))
    for code, whole in [*((line, True) for line in blocks.splitlines()), *((span, False) for span in spans)]:
        for part in code.split(" && "):
            found = _COMMAND.search(part)
            if found and not found[1].startswith("@"):
                yield found[1], whole


def spelled_out(command: str) -> Iterator[tuple[str, ...]]:
    """The words of a command, once for each of ``list|stop``; without comments, pipes and what stands for more."""
    words = shlex.split(command, comments=True)
    for end in {"|", "||", ">"}.intersection(words):
        words = words[: words.index(end)] if end in words else words
    words = [word for word in words if word not in ("…", "...")]
    choices = next((word for word in words[:2] if "|" in word), "")
    for choice in choices.split("|"):
        yield tuple(choice if choices and word == choices else word for word in words)


LINES = {
    words: whole
    for page in PAGES
    for command, whole in sorted(commands_in(page.read_text("utf-8")), key=lambda found: found[1])
    for words in spelled_out(command)
}
EXAMPLES_OF_HELPS = [line for found in table()["commands"].values() for line, _ in found["examples"]]
LINES |= {words: True for line in EXAMPLES_OF_HELPS for words in spelled_out(line.removeprefix("binlog-lab "))}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Parse:
    """Parse a command line as the entry point does, and do nothing: the parameters of the commands that would run."""
    called: list[dict[str, Any]] = []
    monkeypatch.setattr(click.Command, "invoke", lambda self, context: called.append(dict(context.params)))
    monkeypatch.setattr(frame, "FILES_ALONE", {})  # they are not parsed
    monkeypatch.chdir(tmp_path)
    for name in ("report", "report-before", "budget", "fuzzed"):
        (tmp_path / name).mkdir()
    for name in ("FINDING.bin", "finding.bin"):
        (tmp_path / name).touch()

    def parse(words: Sequence[str]) -> list[dict[str, Any]]:
        called.clear()
        assert frame.run(words) == 0
        return called

    return parse


def after(words: Sequence[str], *options: str) -> Iterator[str]:
    """The values of options."""
    return (value for option, value in pairwise(words) if option in options)


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_a_promised_command_is_one(words: tuple[str, ...], parsed: Parse, capsys: pytest.CaptureFixture[str]) -> None:
    if LINES[words]:
        parsed(words)
    else:
        assert frame.run(words) == 0 or "error: missing " in capsys.readouterr().err
    for spec in after(words, "-s", "--server", "--replica"):
        parse_spec(spec)
    for spec in after(words, "--subject"):
        parse_subject(spec)
    for option in after(words, "--server-option"):
        parse_server_option(option)
    assert set(after(words, "-r")) <= set(REQUIREMENTS)


def test_the_pages_hold_many_commands_and_a_wrong_one_is_seen(
    parsed: Parse,
) -> None:
    assert sum(LINES.values()) > 30
    assert {"conformance", "replay", "decode", "apply", "explain", "predict", "matrix"} <= {words[0] for words in LINES}
    for wrong in ("conformance --subjekt x # all", "servers strat", "matrix run --live x size-budget"):
        ((command, whole),) = commands_in(f"# Page\n```sh\n.venv/bin/binlog-lab {wrong}\n```\n")
        assert whole
        with pytest.raises(AssertionError):
            parsed(next(spelled_out(command)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_of_the_pytest_plugin_are_there(page: Path) -> None:
    class Parser:
        def __init__(self) -> None:
            self.names: set[str] = set()

        def getgroup(self, *_: str) -> Parser:
            return self

        def addoption(self, name: str, **_: object) -> None:
            self.names.add(name)

    parser = Parser()
    plugin.pytest_addoption(parser)  # type: ignore[arg-type]
    assert set(re.findall(r"--(?:binlog-)?lab-\w+", page.read_text("utf-8"))) <= parser.names


# --- the action ------------------------------------------------------------------------------------------------------

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
JUDGE = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "run")
STUB = """#!/bin/sh
printf '%s\\n' "$@" >"$RUNNER_TEMP/arguments"
mkdir -p out
echo '## a summary' >out/summary.md
exit 1
"""


def _judge(place: Path, source: str, **given: str) -> int:
    """Run the action's own step, with a program in the place of the installed lab; other inputs are their defaults."""
    program = place / "binlog-lab" / "bin" / "binlog-lab"
    program.parent.mkdir(parents=True)
    program.write_text(source, "utf-8")
    program.chmod(0o755)
    defaults = {name: found["default"] for name, found in ACTION["inputs"].items()}
    inputs = {name: _filled(value, defaults | given) for name, value in JUDGE["env"].items()}
    files = {name: str(place / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", JUDGE["run"]], cwd=place, check=False, timeout=PATIENCE,
        env={"PATH": os.environ["PATH"], "RUNNER_TEMP": str(place), **inputs, **files},
    )  # fmt: skip
    return done.returncode


def test_the_action_calls_the_command_with_every_input_and_shows_the_summary(tmp_path: Path, parsed: Parse) -> None:
    code = _judge(
        tmp_path, STUB, server="docker:mysql:8.4\nmysql://u@h\n", updates="10", profile="full", seed="7", report="out",
        requirements="FR1\nFR2 FR3", subject="cmd:./my decoder {file}\njsonl:java -cp 'lib/*' Adapter?timeout=9\n",
        record="kept",
    )  # fmt: skip
    assert code == 1
    assert (tmp_path / "GITHUB_OUTPUT").read_text("utf-8") == "exit-code=1\n"
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8") == "## a summary\n"
    command = parsed((tmp_path / "arguments").read_text("utf-8").splitlines())[-1]
    assert command["servers"] == ("docker:mysql:8.4", "mysql://u@h")
    assert command["requirements"] == ("FR1", "FR2", "FR3")
    assert (command["updates"], command["profile"], command["seed"]) == (10, "full", "7")
    assert (command["report"], command["record"]) == (Path("out"), Path("kept"))
    assert command["subjects"] == ("cmd:./my decoder {file}", "jsonl:java -cp 'lib/*' Adapter?timeout=9")


@pytest.mark.parametrize(
    ("given", "servers", "subjects"),
    [({}, ("docker:mysql:8.4.10",), ()), ({"subject": "reference\n"}, (), ("reference",))],
    ids=["nothing", "a subject"],
)
def test_the_action_takes_a_server_of_its_own_unless_there_is_a_subject(
    given: dict[str, str], servers: tuple[str, ...], subjects: tuple[str, ...], tmp_path: Path, parsed: Parse
) -> None:
    assert _judge(tmp_path, STUB, **given) == 1
    command = parsed((tmp_path / "arguments").read_text("utf-8").splitlines())[-1]
    assert (command["servers"], command["subjects"]) == (servers, subjects)


EXAMPLES = [
    yaml.safe_load(found)[0]
    for found in re.findall(
        r"```yaml\n(- uses: .*?)```", (ROOT / "docs/tasks/ci-workflow.md").read_text("utf-8"), re.DOTALL
    )
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("lost", "code"), [("", 0), ("| head -n 1", 1)], ids=["right", "rows are lost"])
def test_the_example_for_decoders_judges_one(lost: str, code: int, tmp_path: Path) -> None:
    """The example's own inputs, the real lab, and a decoder where the example has it. Few Cases: each starts it."""
    lab = f"{shlex.quote(sys.executable)} -m conformance"
    (tmp_path / "my-decoder").write_text(f'#!/bin/sh\n{lab} decode --format jsonl "$1" {lost}\n', "utf-8")
    (tmp_path / "my-decoder").chmod(0o755)
    (given,) = (example["with"] for example in EXAMPLES if "subject" in example["with"])
    assert _judge(tmp_path, f'#!/bin/sh\nexec {lab} "$@"\n', **given, requirements="DEC4", report="report") == code
    assert "my-decoder" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert (tmp_path / "report" / "subjects").is_dir()


def test_every_input_of_the_action_is_used_and_the_examples_give_known_ones() -> None:
    steps = str(ACTION["runs"]["steps"])
    assert all(f"inputs.{name} " in steps for name in ACTION["inputs"])
    assert len(EXAMPLES) == 2
    assert all(set(example["with"]) <= set(ACTION["inputs"]) for example in EXAMPLES)


def _filled(template: str, given: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], template)
