"""The measured outcomes of each built-in subject with each feature.

``python -m conformance.checks.decoders.forecast.outcomes`` lets every installed subject read the Cases of each feature,
and writes ``outcomes.json`` with what the judge says of its answers. Subjects that are named replace their own part.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.accusations.records import told
from conformance.checks.decoders.forecast.features import FEATURES
from conformance.checks.decoders.suite import load_suite
from conformance.judge.decoding.difference import MISSING
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase
    from conformance.harness.decoders import JudgedCase, OpenedSubject

OUTCOMES: Final = Path(__file__).with_name("outcomes.json")
OWN: Final = "reference"  # the kit's own decoder says what is expected
READS, LOSES, ALTERS, REFUSES, UNKNOWN = "reads", "loses", "alters", "refuses", "not measured"
_OF_VERDICT: Final = {
    Verdict.PASS: READS,
    Verdict.DEVIATES: READS,
    Verdict.LENIENT: READS,
    Verdict.SILENT_LOSS: LOSES,
    Verdict.FAIL: ALTERS,
    Verdict.DIFFERS: ALTERS,
    Verdict.REFUSED: REFUSES,
    Verdict.CRASH: REFUSES,
    Verdict.TIMEOUT: REFUSES,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcomes of one feature: its Cases' ids by word, and the judge's message about the first that failed."""

    cases: dict[str, tuple[str, ...]]
    message: str = ""

    @property
    def total(self) -> int:
        """The Cases that were measured."""
        return sum(len(cases) for word, cases in self.cases.items() if word != UNKNOWN)


@dataclass(frozen=True, slots=True)
class Tool:
    """A subject, with the version that was measured."""

    name: str
    version: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)


@cache
def load_outcomes() -> dict[str, Tool]:
    """The recorded outcomes of all subjects, by name."""
    data = json.loads(OUTCOMES.read_text("utf-8"))
    return {
        name: Tool(
            name,
            tool["version"],
            {
                feature: Outcome({word: tuple(ids) for word, ids in found["cases"].items()}, found.get("message", ""))
                for feature, found in tool["outcomes"].items()
            },
        )
        for name, tool in data["tools"].items()
    }


def measure(name: str) -> dict[str, Any]:
    """Let a subject read the Cases of all features. Raises ``SubjectUnavailable`` if it cannot run."""
    from conformance.harness.decoders import OpenedSubject

    by_id = {case.id: case for case in load_suite().cases}
    outcomes: dict[str, Any] = {}
    with OpenedSubject(name) as subject:
        for feature, about in FEATURES.items():
            cases: dict[str, list[str]] = {}
            message = ""
            for number in about.cases:
                failing = [one for one in about.controls_of(number) if _judged(subject, by_id[one]) != READS]
                judged = subject.judge(by_id[number])
                word = UNKNOWN if failing else _published(name, number, judged)
                cases.setdefault(word, []).append(number)
                if word != READS and not message:
                    message = f"{failing[0]}, which lacks the feature, is not read either" if failing else ""
                    message = message or f"{number}: {_said(name, number, judged)}"
            outcomes[feature] = {"cases": cases, **({"message": message} if message else {})}
        version = subject.hello.version
    return {"version": version, "outcomes": outcomes}


def _word(judged: JudgedCase) -> str:
    word = _OF_VERDICT.get(judged.verdict, UNKNOWN)
    differences = judged.judgement.differences if judged.judgement is not None else ()
    if word == LOSES and not any(difference.kind in MISSING for difference in differences):
        return ALTERS  # all arrives, and some of it is nothing where the log has something else
    return word


def _judged(subject: OpenedSubject, case: DecoderCase) -> str:
    return _word(subject.judge(case))


def _published(name: str, case: str, judged: JudgedCase) -> str:
    """The word, as far as a script has shown it of the program alone."""
    told_as = None if judged.judgement is None else told(name, case, judged.judgement).verdict
    return UNKNOWN if told_as is Verdict.INCONCLUSIVE else _word(judged)


def _said(name: str, case: str, judged: JudgedCase) -> str:
    return judged.reason if judged.judgement is None else told(name, case, judged.judgement).message


def main() -> int:
    """Measure the subjects that are named, or all that are installed, and write the file."""
    from conformance.subjects.answers import SubjectUnavailable
    from conformance.subjects.builtin import installed, names

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("subjects", nargs="*", help="default: every other built-in subject that is installed")
    parser.add_argument("--output", type=Path, default=OUTCOMES)
    wanted = parser.parse_args()
    suite = load_suite()
    tools = {}
    if wanted.subjects and wanted.output.exists():
        tools = json.loads(wanted.output.read_text("utf-8"))["tools"]
    for name in wanted.subjects or [name for name in names() if name != OWN and installed(name) is not None]:
        try:
            tools[name] = measure(name)
        except SubjectUnavailable as problem:
            sys.stderr.write(f"{name}: {problem}\n")
            return 3
        sys.stderr.write(f"{name} {tools[name]['version']}\n")
    data = {
        "schema": 1,
        "suite": {"version": suite.version, "digest": suite.digest},
        "tools": dict(sorted(tools.items())),
    }
    wanted.output.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
