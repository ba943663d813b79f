"""Rules for the card of a failure: no equal sides, no values of Python, and a command that replays it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conformance.stream import CaseVerdict, read_stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PYTHON = re.compile(r"\b[A-Z]\w+\((?:\w+=|\))|<\w+\.\w+: |\bNone\b|\bTrue\b, |\bb'")
_NUMBER = re.compile(r"\d+")


def faults_of(verdict: CaseVerdict) -> Iterator[str]:
    """Find what is wrong with the card of a failure."""
    expected, got = verdict.expected, verdict.got
    if expected is not None and expected == got:
        yield f"both sides are {expected!r}"
    for text in (expected, verdict.message, verdict.field):
        if text and (found := _PYTHON.search(text)):
            yield f"a value of Python: {text[found.start() :][:80]!r}"
    # An error that the requirement does not demand is never what is expected.
    if verdict.message.startswith("the applier stopped") and _NUMBER.match(expected or ""):
        yield f"a stop is expected: {expected!r}"
    if not (verdict.replay or "").startswith(("binlog-lab ", "env ")):
        yield f"no command: {verdict.replay!r}"


def assert_cards(report: Path) -> None:
    """Hold every failure of a run against the rules."""
    failures = [each for each in read_stream(report).records if isinstance(each, CaseVerdict) and each.fails]
    assert failures
    assert {f"{each.check}: {fault}" for each in failures for fault in faults_of(each)} == set()
