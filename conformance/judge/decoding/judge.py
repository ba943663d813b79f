"""The verdict about one answer of a decoder.

What a subject leaves out without a word is the worst. What it leaves out and says so is an honest refusal, if all that
it delivered is right. What it delivers beyond the log, or altered before an error, fails.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import DECODE, Allowed, DecoderCase, Equality
from conformance.judge.decoding.changes import Changes, Compared, in_order
from conformance.judge.decoding.column_values import AS_NUMBER
from conformance.judge.decoding.difference import MISSING, WRONG, Difference, DifferenceKind
from conformance.judge.decoding.fitting import damage_of, first_of, protocol_of, requirement_of
from conformance.judge.decoding.log_columns import tables_of
from conformance.judge.decoding.observed import CRASHED, TIMED_OUT, Mark, Observed
from conformance.judge.decoding.signatures import signature_of, signature_of_text
from conformance.messages import counted
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.judge.decoding.log_columns import LogTables

_COMMITTED: Final = "committed"
_TYPES: Final = "types"
_NUMBERS: Final = "member-numbers"
_PAYLOAD: Final = "TRANSACTION_PAYLOAD_EVENT"
_LEVELS: Final = tuple(Equality)
_WORDS: Final = re.compile(r"\w+")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict, and what it rests on. ``level``: the level at which everything is equal, if it is. ``signature``: the
    class of the defect, empty for a pass. ``requirement``: the one that the verdict belongs to."""

    verdict: Verdict
    level: Equality | None = None
    differences: tuple[Difference, ...] = ()
    message: str = ""
    signature: str = ""
    requirement: str = ""


def judge(case: DecoderCase, capabilities: Collection[str], observed: Observed) -> Judgement:
    """Judge the answer of a subject with these capabilities."""
    first = first_of(case.requirements)
    lacking = [need for need in case.needs if need not in capabilities]
    if lacking:
        return Judgement(
            verdict=Verdict.NOT_APPLICABLE, message=f"the Case needs {', '.join(lacking)}", requirement=first
        )
    if observed.failure:
        return _failed(case, observed)
    tables = tables_of(case)
    spoken = bool(observed.error or observed.marks)
    if case.role == DECODE:
        compared = _compared(case, capabilities, observed, tables)
    else:
        observed = replace(observed, changes=in_order(case.whole, observed.changes))
        expected = case.expected if spoken else case.whole
        compared = Changes(expected, expected, observed.changes, tables, tagged=_TYPES in capabilities).compare()
    differences = tuple(
        item
        for item in compared.differences
        if not _tolerated(case, item, observed, tables) and not (_NUMBERS in capabilities and is_member_number(item))
    )
    level = _level(differences)
    wanted = _LEVELS.index(case.equality)
    relevant = tuple(item for item in differences if _LEVELS.index(item.level) <= wanted or is_member_number(item))
    hard = [item for item in relevant if item.level is not Equality.TYPE]
    damaged = case.allowed is not Allowed.CHANGES
    ranked = [(_rank(item, observed, compared.last_partner, damaged=damaged), item) for item in hard]
    for verdict in (Verdict.SILENT_LOSS, Verdict.FAIL):
        found = next((item for rank, item in ranked if rank is verdict), None)
        if found is not None:
            return Judgement(
                verdict=verdict,
                level=level,
                differences=differences,
                message=_sentence([item for rank, item in ranked if rank is verdict], observed),
                signature=signature_of(found),
                requirement=requirement_of(case.requirements, found),
            )
    missing = hard[0] if hard else None  # the subject says so
    refused = missing is not None or (observed.error and not damaged)
    if refused and not (missing is not None and case.allowed is Allowed.CHANGES_OR_ERROR):
        text = observed.error or next((mark.message or mark.event for mark in observed.marks), "")
        return Judgement(
            verdict=Verdict.REFUSED,
            level=level,
            differences=differences,
            message=f"refused: {text[:_SHOWN]}",
            signature=signature_of_text("refused", text),
            requirement=first if missing is None else requirement_of(case.requirements, missing),
        )
    if case.allowed is Allowed.ERROR and not spoken:
        what, nothing = ("log", "no change") if case.role == DECODE else ("data file", "nothing")
        damage = damage_of(case.role)
        return Judgement(
            verdict=Verdict.LENIENT,
            level=level,
            differences=differences,
            message=f"the {what} is damaged, and the subject says nothing; {nothing} before the damage is lost",
            signature=f"no error for a damaged {what}",
            requirement=damage if damage in case.requirements else first,
        )
    lost = next((item for item in relevant if item.level is Equality.TYPE), None)
    if lost is not None:
        return Judgement(
            verdict=Verdict.LENIENT,
            level=level,
            differences=differences,
            message=f"equal at the level {Equality.VALUE.value}; {_sentence([lost], observed)}",
            signature=signature_of(lost),
            requirement=requirement_of(case.requirements, lost),
        )
    told = f"refused, as is allowed: {observed.error[:_SHOWN]}" if observed.error else _equal(level)
    return Judgement(verdict=Verdict.PASS, level=level, differences=differences, message=told, requirement=first)


def is_member_number(item: Difference) -> bool:
    """Whether a member of ENUM or SET arrived as its number, though the log has its name."""
    return item.kind is DifferenceKind.TYPE and item.cause == AS_NUMBER


def _compared(case: DecoderCase, capabilities: Collection[str], observed: Observed, tables: LogTables) -> Compared:
    """Compare with the changes in the order of the log, or in that of their commits where this fits better."""
    orders: list[Sequence[int]] = [range(len(case.expected))]
    if _COMMITTED in capabilities:
        orders = [[number for number in orders[0] if number not in case.rolled_back]]
        orders += [case.commit_order] if case.commit_order else []
    found = []
    for order in orders:
        expected = [case.expected[number] for number in order]
        resolved = [case.resolved[number] for number in order if number < len(case.resolved)]
        found.append(Changes(expected, resolved, observed.changes, tables, tagged=_TYPES in capabilities).compare())
    return min(found, key=lambda compared: len(compared.differences))


def _tolerated(case: DecoderCase, item: Difference, observed: Observed, tables: LogTables) -> bool:
    """Whether a change beyond the expected ones is one that the Case lets pass behind damage."""
    if item.kind is not DifferenceKind.EXTRA_CHANGE or item.change is None:
        return False
    got = observed.changes[item.change]
    for change in case.tolerated:
        left, right = (_without(side, change["damaged"]) for side in (change, got))
        found = Changes([left], [left], [right], tables, tagged=False).compare().differences
        if all(one.level is Equality.TYPE or one.kind is DifferenceKind.HEADER for one in found):
            return True
    return False


def _without(change: Any, columns: Collection[str]) -> Any:
    """A change without the values of these columns."""
    if not isinstance(change, dict):
        return change
    images = {
        name: {column: value for column, value in change[name].items() if column not in columns}
        for name in ("before", "after")
        if isinstance(change.get(name), dict)
    }
    return {**change, **images}


def _equal(level: Equality | None) -> str:
    return "equal" if level is None else f"equal at the level {level.value}"


def _failed(case: DecoderCase, observed: Observed) -> Judgement:
    verdict = {CRASHED: Verdict.CRASH, TIMED_OUT: Verdict.TIMEOUT}.get(observed.failure, Verdict.FAIL)
    damage = damage_of(case.role)
    hostile = damage in case.requirements and verdict is not Verdict.FAIL
    return Judgement(
        verdict=verdict,
        message=f"the subject {observed.failure}: {observed.detail[:_SHOWN]}".removesuffix(": "),
        signature=signature_of_text(observed.failure, observed.detail),
        requirement=damage if hostile else protocol_of(case.role),
    )


def _level(differences: Sequence[Difference]) -> Equality | None:
    """The highest level at which nothing differs."""
    lowest = min((_LEVELS.index(item.level) for item in differences), default=len(_LEVELS))
    return _LEVELS[lowest - 1] if lowest else None


def _rank(difference: Difference, observed: Observed, last: int, *, damaged: bool) -> Verdict:
    """Return the verdict that one difference amounts to, seen beside the subject's errors and marks.

    An error excuses the changes behind the last one that arrived. It excuses an earlier one if it names its event, but
    not where the log is damaged: there the error is about the damage.
    """
    if difference.kind in WRONG:
        return Verdict.FAIL
    covered = any(_covers(mark, difference) for mark in observed.marks)
    if difference.kind in MISSING and covered:
        return Verdict.REFUSED
    if difference.kind is DifferenceKind.MISSING_CHANGE:
        tail = difference.change is not None and difference.change > last
        said = observed.error and (tail or (not damaged and _names(observed.error, difference)))
        return Verdict.REFUSED if said else Verdict.SILENT_LOSS
    return Verdict.FAIL if covered or observed.error else Verdict.SILENT_LOSS


def _covers(mark: Mark, difference: Difference) -> bool:
    """Whether a mark is about the change: it names its event or its position, or nothing at all."""
    if not mark.event and mark.position is None:
        return True
    if mark.position is not None and mark.position == difference.position:
        return True
    return bool(mark.event) and _short(mark.event) in {_short(difference.event), *_outer(difference)}


def _outer(difference: Difference) -> tuple[str, ...]:
    return (_short(_PAYLOAD),) if difference.inner else ()


def _names(error: str, difference: Difference) -> bool:
    """Whether the text of an error names the event of a change that is not the last one."""
    wanted = _short(difference.event)
    return bool(wanted) and any(_short(word) == wanted for word in _WORDS.findall(error))


def _short(event: str) -> str:
    """The name of an event however it is spelled: ``PartialUpdateRowsEvent`` is ``PARTIAL_UPDATE_ROWS``."""
    return _HUMP.sub("_", event).upper().replace(" ", "_").removesuffix("_EVENT")


def _sentence(found: Sequence[Difference], observed: Observed) -> str:
    """One sentence about the differences that decide."""
    kinds = Counter(signature_of(item) for item in found)
    first = found[0]
    at = "" if first.position is None else f" (position {first.position})"
    text = f"{first.place}{at}: {signature_of(first)}; expected {first.expected[:_SHOWN]}, got {first.got[:_SHOWN]}"
    if len(found) > 1:
        text += f"; {len(found)} differences of {counted(len(kinds), 'kind')}"
    return text + (f"; then an error: {observed.error[:_SHOWN]}" if observed.error else "")
