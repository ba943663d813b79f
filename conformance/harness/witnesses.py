"""The result of a listed deviation's witness: it shows the deviation, another difference, or none.

No difference is an error of the list inside the versions on which the entry was observed (exit code 1). On later
versions the difference is ``fixed``: the requirement passes, and the report advises to end the entry's range. With
``--no-deviations`` a witness that shows its entry is a failure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.versions import OBSERVED, after_observed, text_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.harness.check import Check
    from conformance.requirements.deviations import Deviation
    from conformance.requirements.versions import Version

_OTHER = "the witness of the listed deviation shows another difference"


def record_witness(
    check: Check,
    entry: Deviation,
    number: int = 0,
    *,
    shown: bool,
    found: str,
    looked_at: str,
    version: Version | None = None,
    seconds: float | None = None,
) -> None:
    """Write the record of one witness. ``shown``: it shows the entry and nothing else. ``found``: other differences, as
    text. ``looked_at``: what was judged, where nothing differs. ``version``: the version of the server that
    should show the entry."""
    version = version or check.lab.version
    gone = not shown and not found
    listed = entry in check.lab.deviations  # else --no-deviations: a failure like any other, and a pass without one
    requirements = entry.requirements[:1] if gone and listed else entry.requirements
    with check.block(number, cases=1, requirements=requirements, seconds=seconds) as block:
        if shown and listed:
            block.count(Verdict.DEVIATES, deviation=entry.id, broken=requirements)
            return
        if gone and not listed:
            return
        failed = not gone or not after_observed(version)
        if not gone:
            verdict, message = (
                Verdict.FAIL,
                _OTHER
                if not shown
                else f"{entry.reason.partition('. ')[0].rstrip('.')} (the witness of the deviation {entry.id})",
            )
        elif failed:
            verdict = Verdict.FIXED
            message = (
                f"the list is in error: {entry.id} was observed on {', '.join(entry.observed) or OBSERVED}, and "
                f"{text_of(version)} does not show it"
            )
        else:
            verdict = Verdict.FIXED
            message = f"gone in {text_of(version)}: narrow the range of {entry.id}, {entry.versions}"
        block.count(verdict, failed=failed, reason=f"{entry.id}: {message}", broken=requirements)
        block.show(
            verdict,
            case=entry.id,
            field=entry.id,
            expected=_demanded(entry) if shown else expected_of(entry),
            got=found or looked_at,
            message=message,
            signature=f"{check.id}:{entry.id}",
            replay=f"{check.lab.settings.replay} deviation:{entry.id}",
            deviation=entry.id if gone else None,
            failed=failed if gone else None,
            broken=requirements,
        )


def _demanded(entry: Deviation) -> str:
    """The sentence of the requirement that the deviation breaks."""
    return REQUIREMENTS[entry.requirements[0]].statement


def expected_of(entry: Deviation) -> str:
    """Describe what shows an entry of the list of deviations."""
    if entry.crash is not None:
        return str(entry.crash)
    if entry.switch is not None:
        return f"the deviation that the switch {entry.switch} explains"
    return "the outcome that the Case writes out for this deviation"


def record_not_shown(check: Check, gone: Sequence[Deviation]) -> None:
    """Records of listed deviations that no generated event shows any more; the check fails where the list is wrong.

    A check that fails already writes none: its failure may hide them.
    """
    if check.failures.count:
        return
    listed = check.part("listed")
    for number, entry in enumerate(gone):
        record_witness(
            listed, entry, number, shown=False, found="", looked_at="no generated event shows it", seconds=0.0
        )


def check_witnesses(deviations: Iterable[Deviation]) -> None:
    """Raise if a witness is no Case that can run, or cannot recognise its deviation, which has no dialect switch."""
    from conformance.cases.bytes_case import BytesCase
    from conformance.cases.files import load_any_case
    from conformance.cases.sql_case import SqlCase
    from conformance.reference.errors import CodecError
    from conformance.requirements.deviations import DeviationError

    for deviation in deviations:
        try:
            if deviation.witness is None:
                continue
            case = load_any_case(json.loads(deviation.witness))
            known = isinstance(case, SqlCase) and any(
                deviation.id in statement.deviations for statement in case.statements
            )
        except (ValueError, TypeError, RecursionError, CodecError) as problem:
            raise DeviationError(f"deviation {deviation.id!r}: the witness is not a Case: {problem}") from problem
        if known == (deviation.switch is not None) or isinstance(case, BytesCase):
            expected = (
                "an update or events Case" if deviation.switch else f"a sql Case with an outcome of {deviation.id!r}"
            )
            raise DeviationError(f"deviation {deviation.id!r}: the witness is not {expected}")
