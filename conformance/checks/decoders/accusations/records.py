"""``records.json``: what the scripts showed of each Case and subject; and whether a verdict may be said of a program.

The file has no log and no script, so that inputs which crash others' software stay out of it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.checks.decoders.accusations.proof import State
from conformance.subjects.builtin.catalogue import catalogue
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.judge.decoding.judge import Judgement

RECORDS: Final = Path(__file__).with_name("records.json")
_OWN: Final = "reference"
_CALM: Final = (Verdict.PASS, Verdict.NOT_APPLICABLE)


class Told(NamedTuple):
    """The statement that may be made about a Case: the verdict, the program at fault, and the words."""

    verdict: Verdict
    program: str
    message: str
    state: str = ""


@cache
def load_records(path: Path = RECORDS) -> dict[str, Any]:
    """The subjects by name, each with its ``version`` and its ``cases``."""
    subjects: dict[str, Any] = json.loads(path.read_text("utf-8"))["subjects"]
    return subjects


def name_of(spec: str) -> str:
    """The built-in subject that a spec names, if the lab's adapter stands in front of it; else nothing."""
    name = spec.partition("?")[0]
    return name if name in catalogue() and name != _OWN else ""


def told(subject: str, case: str, judgement: Judgement, *, path: Path = RECORDS) -> Told:
    """The verdict on a Case as it may be published.

    ``subject`` is a spec. The lab's own adapter stands between a built-in subject and the judge: what no script has
    shown of the program alone is inconclusive. A subject with an adapter of its own is judged as it is.
    """
    name = name_of(subject)
    if judgement.verdict in _CALM or not name:
        return Told(judgement.verdict, "", judgement.message)
    about = load_records(path).get(name, {})
    known = about.get("cases", {}).get(case)
    if about.get("version") != catalogue()[name].version or known is None or known["signature"] != judgement.signature:
        state, program = State.NOT_REPRODUCED, ""
    else:
        state, program = State(known["state"]), known.get("program", "")
    if state is State.REPRODUCED:
        return Told(judgement.verdict, program, judgement.message, state)
    suspects = " or ".join([*filter(None, [catalogue()[name].wrapper]), "the lab's adapter"])
    why = f"at fault: {program}" if program else f"no script has shown it of the program alone; it may be {suspects}"
    return Told(Verdict.INCONCLUSIVE, program, f"{state} ({why}): {judgement.message}", state)
