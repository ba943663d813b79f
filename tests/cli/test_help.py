"""The help of every command: examples, exit codes, groups of options; and ``help`` itself."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

import click
import pytest

from conformance.cli import main as frame
from conformance.cli import program
from conformance.cli.helpful import entry, grouped, name_of, path_of, table
from tests.cli.test_promises import ROOT
from tests.cli.test_unread_logs import CELLS
from tests.cli.test_wrong_calls import CALLS
from tests.docs import exit_codes_page
from tests.in_process import lab_here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ORDERS = ROOT / "docs" / "tutorials" / "orders.binlog"
# What stands in usage lines: one word for one thing. An option's choices and literal words are no such words.
WORDS = """
    A ARGUMENT B BYTES CASE CMD COMMAND DEVIATION DIR EXPR FILE FILE.ibd FILE.sql FINDING GTID HAZARD ID JSON @FILE
    JSONB K=V LOG MB MOMENT N NAME NAME=BYTES NAME=VALUE OUT OUT.zip PLACE POS POSITION PROGRAM REQ SCHEMA. SECONDS
    SERIES SET SLUG SPEC SUBCOMMAND SUBJECT TABLE TARGET TEXT TIME UPDATE URI URL V VERSION ±HH:MM -
    mysql://USER@HOST:PORT matrix:NAME/CELL/INDEX decoder:GROUP/NAME process process:PATH docker :IMAGE
"""


def walk(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of a command and of all below it."""
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, click.Context(found, info_name=name, parent=context))


COMMANDS = {path_of(found): found for found in walk(program.cli, click.Context(program.cli, info_name=frame.PROGRAM))}


def named(words: list[str]) -> str:
    """The command in a line behind the program's name."""
    return " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]


def test_every_help_has_an_example_and_its_exit_codes() -> None:
    assert len(COMMANDS) > 50
    for path, context in COMMANDS.items():
        text = context.get_help()
        assert "\nExamples:\n  # " in text, path
        assert re.search(r"\nExit codes.*:\n  0  ", text), path
        for line, words in entry(path).examples:
            assert line.startswith("binlog-lab "), path
            assert f"  {line}\n" in text, line
            assert words.endswith("."), words
            assert path == frame.PROGRAM or path.split()[-1] in shlex.split(line)[1:3], line
        assert "xit code" not in (context.command.help or "").replace("exit code are the program's", ""), path
    assert set(table()["commands"]) <= set(COMMANDS)


RUN = [
    line
    for path in ("decode", "apply", "digest", "expand", "explain", "predict", "estimate", "cases show", "help")
    for line, _ in entry(path).examples
    if not re.search(r"mysql://|/var/|FR5", line)
]


def test_examples_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("binlog.000001", "binlog.000002"):
        shutil.copy(ORDERS, tmp_path / name)
    (tmp_path / "order.json").write_text('{"note": "ring twice", "total": 42.5}', "utf-8")
    for line in RUN:
        end = lab_here(*shlex.split(line.partition(" | ")[0])[1:])
        assert end.code == 0, (line, end.text)
        assert end.out or (tmp_path / line.partition(" -o ")[2].split()[0]).exists(), line
    assert len(RUN) > 12


def test_every_option_has_a_group_and_every_name_of_the_table_is_an_option() -> None:
    options = [
        (path, option) for path, found in COMMANDS.items() for option in found.command.get_params(found)
        if isinstance(option, click.Option)
    ]  # fmt: skip
    listed = [name for names in table()["groups"].values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) == {name_of(option) for _, option in options}
    for path, found in COMMANDS.items():
        shown = [
            name_of(option) for some in grouped(one for at, one in options if at == path).values() for option in some
        ]
        assert shown == sorted(shown, key=listed.index), path
        assert shown[-1] == "--help", path
        assert found.command.get_usage(found)


def test_one_word_stands_for_one_thing() -> None:
    for path, found in COMMANDS.items():
        for parameter in found.command.get_params(found):
            if isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count):
                continue
            if isinstance(parameter.type, click.Choice):
                continue
            shown = parameter.make_metavar(found)
            assert "..." not in shown, (path, shown)
            assert set(re.split(r"[\s|()\[\]…]+", shown)) - {""} <= set(WORDS.split()), (path, shown)


@pytest.mark.parametrize("words", [(), ("decode",), ("fuzz",), ("servers", "start")])
def test_help_prints_the_help_of_a_command(words: tuple[str, ...]) -> None:
    assert lab_here("help", *words).out == lab_here(*words, "--help").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("decod",), "no such command 'decod' (did you mean decode?)"),
        (("fuzz", "rn"), "no such command 'rn' (did you mean run?)"),
        (("decode", "x"), "binlog-lab decode has no subcommands, got 'x'"),
    ],
)
def test_help_of_what_is_no_command(words: tuple[str, ...], said: str) -> None:
    end = lab_here("help", *words)
    assert (end.code, said in end.err) == (2, True), end.text


# -- exit codes --------------------------------------------------------------------------------------------------------


def test_runs_are_those_that_end_incomplete_when_they_are_interrupted() -> None:
    runs = {path for path in COMMANDS if path in program.COMMANDS and entry(path).kind == "run"}
    assert runs - {"report"} <= frame.RUNS  # report says how the run ended
    assert {path.split()[0] for path in COMMANDS if 4 in (entry(path).codes or ())} <= frame.RUNS | {"report"}


def unlisted(seen: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The exit codes of command lines that the help of the command does not have."""
    return [(line, code) for line, code in seen if code not in (entry(named(line.split())).codes or {})]


def test_exit_codes_that_other_tests_see_are_in_the_help() -> None:
    seen = [(call.line, call.code) for call in CALLS if named(call.line.split()) in COMMANDS]
    seen += [(command, code) for command, _, code, _ in CELLS]
    assert len(seen) > 100
    assert unlisted(seen) == []
    assert unlisted([("predict --update j", 1), ("report directory", 1)]) == [
        ("predict --update j", 1),
        ("report directory", 1),
    ]


def test_the_page_of_exit_codes_is_that_of_the_table() -> None:
    page = exit_codes_page.PAGE.read_text("utf-8")
    assert exit_codes_page.replaced(page) == page
    other = page.replace("| 0 | as expected |", "| 0 | whatever |")
    assert exit_codes_page.replaced(other) == page != other
