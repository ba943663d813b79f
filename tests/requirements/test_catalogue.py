"""The catalogue of requirements: no sentence of the worklog is missing, and no row is without a check or a reason."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.checks.updates.campaign import UPDATE_CHECKS
from conformance.report import wording
from conformance.requirements.catalogue import NEEDS, REQUIREMENTS, CatalogueError, parse_rows

ROOT = Path(__file__).parents[2]

# Written down from the headings and lists of WL#2955, not from the rows.
WORKLOG = {
    "user stories": [f"U{number}" for number in range(1, 7)],
    "functional": [f"FR{number}" for number in range(1, 17)],
    "FR4: value, text, and the logical clone": ["FR4.1", "FR4.2", "FR4.3"],
    "FR6: own log, own engine": ["FR6.1", "FR6.2"],
    "definitions of size": ["Def1", "Def2"],
    "non-functional": ["NFR1"],
    "non-requirements": [f"NR{number}" for number in range(1, 6)],
    "1: name, scope, type, values, default, dynamic": [f"SQL{number}" for number in range(1, 7)],
    "1: SUPER, transaction, procedure, trigger, function": [f"SQL{number}" for number in range(7, 12)],
    "1: description, who overrides whom": ["SQL12"],
    "1: warning 1": [
        "W1a", "W1a.1", "W1a.2", "W1a.3", "W1b", "W1b.1", "W1b.2", "W1c", "W1c.1", "W1c.2", "W1d",
        "W1e", "W1e.1", "W1e.2", "W1.text",
    ],
    "1: warning 2": ["W2a", "W2b", "W2c", "W2.text"],
    "1: warning 3": ["W3a", "W3b", "W3c", "W3d", "W3e", "W3.text"],
    "2: conditions": [f"D{number}" for number in range(1, 8)],
    "3: applier steps": [f"A{number}" for number in range(1, 8)],
    "4: type code, shared image, JSON columns, other events": [
        "F1", "F2", "F2.1", "F2.2", "F3", "F3.1", "F3.2", "F3.3", "F4",
    ],
    "5: capture": ["C1"],
    "6: BINLOG, names, nesting, joining, lines, grammar, example": [f"P{number}" for number in range(1, 8)],
    "7: safety checks": ["SC1", "SC2", "SC3"],
    "7.1: rejected": ["RA4", "RA5"],
    "8: OLD to NEW, NEW to OLD": ["X1", "X2"],
    "9: future": ["FX1", "FX2", "FX3", "FX4"],
    "1 and the sections of functional requirements: what stands beside the lists": ["FR1.1", "FR7.1", "DS1"],
    "low-level design: splitting, memory, escapes": ["LLD15", "LLD17", "LLD18"],
    "7: modes of execution, table maps": ["SC5", "SC6"],
    # WL#4162
    "boundaries: functional, non-functional, transition table": ["TF1", "TF2", "TF3", "TN1", "TN2", "TM1"],
    "boundaries: summary, definitions": ["TE1", "TE2", "TE3", *(f"TD{number}" for number in range(6))],
    "boundaries: parser, interface": ["TM2", "TM3", "TM4", "TM5", "TM6", "TM7", "TI1", "TI2", "TI3", "TI4"],
    "boundaries: low-level design": ["TL1", "TL2", "TL3", "TS1", "TS2"],
    # WL#4618
    "metadata: functional, non-functional": [*(f"TMF{number}" for number in range(1, 8)), "TMX1", "TMX2", "TMNF3"],
    "metadata: variable": ["TMM1", "TMS1", "TMS2", "TMS3", "TMS5"],
    "metadata: format": ["TMG1", "TMG5", "TMG6", "TMG7", "TMG8", "TMG9", "TMG10", "TMG11", "TMNF4", "TMH1", "TMH2"],
    "metadata: text": ["TMP1", "TMP2", "TMP3", "TMP4"],
    "metadata: scenarios": ["TMR1", "TMR2", "TMR3", "TMR4"],
    # WL#7053 and the article: one after the other as they stand there
    "dictionary information": [f"SDI{number}" for number in range(1, 69)],
    "large objects": [f"LOB{number}" for number in range(1, 35)],
}  # fmt: skip
# What docs/spec adds: observed values, negatives of the warnings, contents of diffs, in-place rules, error numbers.
OBSERVED = [
    *(f"S{number}" for number in range(1, 7)),
    "W0",
    *(f"D{number}" for number in range(8, 15)),
    *(f"DC{number}" for number in range(1, 9)),
    "IP1", "IP2", "A8", "A9", "A10", "P8", "P9", "SC4", "RL1", "TP1", "TP2", "TP3",
]  # fmt: skip
DOCUMENTS = 'title = "d"\n[documents]\nd = "revision 1"\n'
GOOD = {"id": '"X"', "statement": '"s"', "document": '"d"', "section": '"1"', "allowed": '"a"'}


def marked() -> dict[str, set[str]]:
    """Check -> the requirements it is marked with, from the list that the command prints."""
    command = [sys.executable, "-m", "conformance", "conformance", "--list"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    found = [re.fullmatch(r"(\S+)  \[(.*?)\]  .*", line) for line in listed.stdout.splitlines()]
    assert found
    assert all(found)
    return {match[1]: set(match[2].split(", ")) for match in found if match}


@pytest.fixture(scope="module")
def checks() -> dict[str, set[str]]:
    return marked()


def rows(**changes: str | None) -> dict[str, str]:
    item = {**GOOD, **changes}
    text = "".join(f"{name} = {value}\n" for name, value in item.items() if value is not None)
    return {"0.toml": DOCUMENTS, "1.toml": f'title = "t"\n[[requirement]]\n{text}'}


@pytest.mark.parametrize("part", WORKLOG)
def test_no_sentence_of_the_worklog_is_missing(part: str) -> None:
    assert [name for name in WORKLOG[part] if name not in REQUIREMENTS] == []


def test_no_observed_rule_is_missing() -> None:
    assert [name for name in OBSERVED if name not in REQUIREMENTS] == []


def test_rows_of_the_worklog_name_it_and_observed_rows_name_their_sheet() -> None:
    for name, row in REQUIREMENTS.items():
        assert row.id == name
        assert row.document.startswith("WL#") == (row.basis == "worklog"), name
        assert (row.document == "LOB article") == (row.basis == "article"), name
        assert row.revision
        assert row.group


def test_statements_differ_and_end_as_sentences() -> None:
    statements = [row.statement for row in REQUIREMENTS.values()]
    assert len(set(statements)) == len(statements)
    for row in REQUIREMENTS.values():
        assert row.statement.endswith("."), row.id
        assert row.allowed.endswith("."), row.id


def test_the_report_explains_every_word_for_servers() -> None:
    assert tuple(wording.NEEDS) == NEEDS


def test_non_requirements_and_stories_are_no_demands() -> None:
    for name, row in REQUIREMENTS.items():
        if re.match(r"NR|U\d|RA|Def", name):
            assert row.level == "info", name


def test_every_id_of_a_check_is_a_requirement(checks: dict[str, set[str]]) -> None:
    unknown = {check: names - set(REQUIREMENTS) for check, names in checks.items() if names - set(REQUIREMENTS)}
    assert unknown == {}
    for check in UPDATE_CHECKS.values():
        assert set(check.requirements) <= set(REQUIREMENTS)


def test_every_check_has_a_requirement(checks: dict[str, set[str]]) -> None:
    assert [check for check, names in checks.items() if names == {""}] == []


def test_a_row_without_checks_says_why_and_a_row_with_checks_has_no_excuse(checks: dict[str, set[str]]) -> None:
    judged = set().union(*checks.values())
    silent = [name for name, row in REQUIREMENTS.items() if row.explanation is None and name not in judged]
    excused = [name for name, row in REQUIREMENTS.items() if row.reason is not None and name in judged]
    assert silent == [], "no check is marked with these: they need a reason, or 'within'"
    assert excused == [], "checks are marked with these: the rows' reasons are to be removed"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"statement": None}, "1.toml: X: missing .'statement'"),
        ({"statement": '""'}, "missing .'statement'"),
        ({"colour": '"blue"'}, "unknown .'colour'"),
        ({"level": '"maybe"'}, "'maybe' is none of must, should, may, info"),
        ({"basis": '"hearsay"'}, "'hearsay' is none of worklog"),
        ({"judged_on": '"paper"'}, "'paper' is none of server, old server, unreleased server, model"),
        ({"needs": '["9S"]'}, "'9S' is none of 1S, 2S, 3S, OLD"),
        ({"needs": "[]"}, "needs is no list of texts"),
        ({"needs": '"1S"'}, "needs is no list of texts"),
        ({"level": "1"}, "level is no text"),
        ({"document": '"other"'}, "document 'other' is none of d"),
        ({"within": '"Y"'}, "part of Y, which is no row with checks"),
        ({"within": '"X"'}, "part of X, which is no row with checks"),
        ({"within": '"Y"', "reason": '"r"'}, "part of Y, and a reason of its own"),
    ],
)
def test_a_row_that_cannot_be_meant_is_refused(changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        parse_rows(rows(**changes))


def test_files_are_read_in_order_with_their_defaults() -> None:
    texts = rows()
    texts["2.toml"] = (
        texts["1.toml"]
        .replace('id = "X"', 'id = "Y"\nwithin = "X"')
        .replace("[[", '[defaults]\nlevel = "may"\nneeds = ["2S", "OLD"]\n[[', 1)
    )
    found = parse_rows(texts)
    assert list(found) == ["X", "Y"]
    assert (found["X"].level, found["X"].needs, found["X"].explanation) == ("must", ("1S",), None)
    assert (found["Y"].level, found["Y"].needs, found["Y"].explanation) == ("may", ("2S", "OLD"), "judged as part of X")
    assert found["X"].revision == "revision 1"
    texts["1.toml"] += 'reason = "no time"\n'
    assert [row.explanation for row in parse_rows(texts).values()] == ["no time", "part of X: no time"]


def test_the_same_id_in_two_files_and_a_broken_file_are_refused() -> None:
    texts = rows()
    with pytest.raises(CatalogueError, match=r"2\.toml: X is listed twice"):
        parse_rows({**texts, "2.toml": texts["1.toml"]})
    with pytest.raises(CatalogueError, match=r"2\.toml: not TOML"):
        parse_rows({**texts, "2.toml": "["})
    with pytest.raises(CatalogueError, match="no title"):
        parse_rows({**texts, "2.toml": ""})
    with pytest.raises(CatalogueError, match=r"unknown keys \['rows'\]"):
        parse_rows({**texts, "2.toml": 'title = "t"\nrows = 1'})
