"""The reference pages list what there is: keys of the JSON formats, records of the stream, environment variables."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest

from conformance import stream, verdict
from conformance.subjects.capabilities import CAPABILITIES
from conformance.subjects.specs import KINDS, OPTIONS
from tests.docs.pages import ROOT
from tests.live import lab

FORMATS: Final = (ROOT / "docs/reference/formats.md").read_text("utf-8")
ADAPTERS: Final = (ROOT / "docs/reference/adapters.md").read_text("utf-8")
ENVIRONMENT: Final = (ROOT / "docs/reference/environment.md").read_text("utf-8")
LOG: Final = ROOT / "docs/tutorials/orders.binlog"


def listed(heading: str, page: str = FORMATS) -> list[str]:
    """The code in the first column of the first table below a heading of a page, that about formats."""
    table = re.search(rf"^#+ {heading}\n.*?^\|---.*?\n(.*?)\n\n", page, re.MULTILINE | re.DOTALL)
    assert table is not None, heading
    return [name for row in table[1].splitlines() for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]


def test_keys_of_a_row_change() -> None:
    assert listed("`decode --format jsonl`") == list(
        json.loads(lab("decode", "--format", "jsonl", "--outcome", LOG).out.split("\n")[0])
    )


def test_keys_of_a_prediction() -> None:
    done = lab("predict", "--document", '{"a": 1}', "--update", "JSON_SET(j, '$.a', 2)", "--format", "json")
    assert listed("`predict --format json`") == list(json.loads(done.out)[0])


@pytest.mark.parametrize("required", ["schema", "kit", "run", "subjects", "requirements", "totals", "census"])
def test_keys_of_the_results(required: str) -> None:
    assert required in listed("`results.json`")


def test_records_of_the_stream() -> None:
    records = [
        found for found in vars(stream).values() if isinstance(found, type) and isinstance(vars(found).get("type"), str)
    ]
    assert sorted(listed("`run.jsonl`")) == sorted(record.type for record in records)  # type: ignore[attr-defined]


def test_words_of_adapters() -> None:
    assert listed("Capabilities", ADAPTERS) == list(CAPABILITIES)
    assert sorted(listed("Options", ADAPTERS)) == sorted(OPTIONS)
    assert set(listed("Verdicts", ADAPTERS)) <= set(verdict.Verdict)
    worst_first = [verdict.Verdict(name) for name in listed("Verdicts", ADAPTERS)]
    assert worst_first == sorted(worst_first, key=verdict.SEVERITY.index)
    forms = re.findall(r"^\| `((?:cmd|jsonl|py|wire):[^`]*)` \|", ADAPTERS, re.MULTILINE)
    assert forms == list(KINDS.values())


def test_environment_variables_are_those_of_the_source() -> None:
    packages = ("conformance", "fuzz", "generators", "scenarios")
    files = [ROOT / "hatch_build.py", *(path for name in packages for path in (ROOT / name).rglob("*.py"))]
    source = "\n".join(path.read_text("utf-8") for path in files)
    used = set(re.findall(r"(?<!_)\bBINLOG_LAB_[A-Z_]+\b", source))
    assert set(re.findall(r"^\| `(BINLOG_LAB_\w+)`", ENVIRONMENT, re.MULTILINE)) == used
