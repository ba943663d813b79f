"""Scripts for bug reports, as text: which kind each deviation has, and what a script must say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from conformance.cli.replay import command
from conformance.harness.scripts.of_case import script_of
from conformance.harness.scripts.of_deviation import case_of, script_of_deviation
from conformance.requirements.crashes import APPLYING, DAMAGES, IMPORTING, RELAYING, Crash
from conformance.requirements.deviations import Deviation, DeviationError, load_deviations
from tests.harness import planted
from tests.live import lab

CRASH = Deviation(
    id="new", requirements=("FR5",), versions="9.7.0..", reason="", crash=Crash(APPLYING, "vector-length", 6)
)


def test_every_deviation_has_a_script() -> None:
    for entry in load_deviations():
        text = script_of_deviation(entry)
        assert text.startswith(("#!/bin/bash\n", "-- ")), entry.id
        assert "expected" in text


def test_a_script_says_what_each_statement_must_give() -> None:
    lines = script_of(planted.case()).splitlines()
    assert lines[:2] == ["#!/bin/bash", "# Case planted; requirements: FR1"]
    assert sum(line.startswith("UPDATE ") for line in lines) == 5
    assert sum("'rows changed: 0' AS expected" in line for line in lines) == 1
    assert sum("'rows changed: 2' AS expected" in line for line in lines) == 4
    assert sum(line.startswith("logged ") for line in lines) == 4


def test_a_damage_that_no_generator_makes_is_said() -> None:
    with pytest.raises(DeviationError, match="no generator makes an input with vector-length"):
        case_of(CRASH)
    relaying = replace(CRASH, crash=Crash(RELAYING, DAMAGES[0], 6))
    with pytest.raises(DeviationError, match="no generator makes a relay log"):
        case_of(relaying)
    importing = replace(CRASH, crash=Crash(IMPORTING, DAMAGES[0], 6))
    with pytest.raises(DeviationError, match="by a data file, no Case: --as sql"):
        case_of(importing)
    with pytest.raises(DeviationError, match="no generator makes a data file"):
        script_of_deviation(importing)


def test_replay_prints_the_script_and_the_case_of_a_deviation() -> None:
    script = CliRunner().invoke(command, ["deviation:unchanging-replace", "--as", "sql"], standalone_mode=False)
    assert script.output.startswith("#!/bin/bash\n# Case unchanging-replace")
    data = CliRunner().invoke(command, ["deviation:unchanging-replace", "--as", "json"], standalone_mode=False)
    assert json.loads(data.output)["id"].startswith("unchanging-replace")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("deviation:nobody", "--as", "sql"), "no deviation 'nobody' is listed, expected one of unchanging-replace"),
        (("deviation:import-abort-at-row-versions",), "no Case: --as sql prints it"),
    ],
)
def test_names_that_are_of_no_use(arguments: tuple[str, ...], message: str) -> None:
    end = lab("replay", *arguments)
    assert (end.code, end.out) == (2, "")
    assert message in end.err
