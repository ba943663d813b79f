"""FR5: what an event may do to a row whose document it was not made for, and what a damaged event may do to any row.

The judge is strict about the rules of WL#2955 (7.1): the server lives; an error leaves the row as it was; a stored
document can be read; a server refuses a damaged event. Two facts are only observed: which of the five numbers for
damage a server answers with, and which document an event makes of a diverged one. There a difference from the reference
is ``differs`` (requirements FR5, "Which error number is demanded").
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.by_hand.injection import (
    DOCUMENT,
    MISSING_ROW,
    TABLE,
    Demand,
    Injection,
    Predicted,
    predict,
    state_of,
)
from conformance.judge.damage.document_bytes import values_of_diffs, whole_values
from conformance.judge.damage.unmodelled_values import (
    has_invalid_text,
    reads_beyond_decimal,
    shares_bytes,
    with_empty_keys,
    with_marked_decimal,
)
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.errors import text_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.by_hand.injection import InjectionOutcome, RowState
    from conformance.reference.dialect import Dialect

ALLOWED: Final = frozenset((1610, 3142, 3157, 3648, 3649))
CORRUPT, FROM_ENGINE = 1610, 1030  # the second: of a row that ends behind its event (observed on 8.0.45)
UNREADABLE: Final = frozenset((3142, 1815))
"""Numbers that reading a damaged document answers with (observed on 9.7.4)."""
SWITCHES: Final = (
    "reads_wide_decimals",
    "stores_invalid_text",
    "copies_full_values",
    "refuse_unchanging_replace",
    "null_takes_empty_diffs",
)


class JudgedOutcome(NamedTuple):
    """``rule`` names the broken rule; ``deviation`` the dialect switch that explains it, if one does."""

    verdict: Verdict
    rule: str = ""
    expected: str = ""
    got: str = ""
    deviation: str | None = None


def judge_injection(injection: Injection, outcome: InjectionOutcome, dialect: Dialect = MYSQL) -> JudgedOutcome:
    """Judge one injection: first against the worklog's demands, then against the reference."""
    predicted = expected_of(injection, dialect)
    if _is_refused_behind_its_end(predicted, outcome, dialect):
        return JudgedOutcome(Verdict.PASS)
    broken = _broken(injection, outcome)
    start = state_of(injection.stored) if injection.row_exists else None
    if not _same(start, outcome.before):
        other = JudgedOutcome(
            Verdict.DIFFERS, "the row before the event reads otherwise", show(start), show(outcome.before)
        )
        return broken or other  # no deviation explains it
    if broken is None:
        refused = outcome.error and injection.demand is Demand.ERROR and predicted.error not in ALLOWED
        if refused and _explaining(injection, dialect) is not None:
            return JudgedOutcome(Verdict.PASS)  # as the worklog asks, where this version is known to take it
        return _by_bytes(_compare(predicted, outcome), injection, outcome, dialect)
    if _explainable(outcome) and _compare(predict(injection, dialect), outcome).verdict is Verdict.PASS:
        # The model of this server does the same: the switch without which it would refuse is the explanation.
        return broken._replace(deviation=_explaining(injection, dialect))
    return _by_bytes(broken, injection, outcome, dialect)


def _is_refused_behind_its_end(predicted: Predicted, outcome: InjectionOutcome, dialect: Dialect) -> bool:
    """Whether a version that does not look at the end of a row has refused one that ends wrongly, and kept the row.

    It reads what stands behind the event, so that the number of the error is chance.
    """
    if dialect.log.row_end_checked or predicted.error != CORRUPT or outcome.death or outcome.silent:
        return False
    return outcome.error in ALLOWED | {FROM_ENGINE} and outcome.after == outcome.before


def _by_bytes(
    judged: JudgedOutcome, injection: Injection, outcome: InjectionOutcome, dialect: Dialect
) -> JudgedOutcome:
    """The verdict with the deviation that only the bytes of the event show.

    Either a server reads a DECIMAL from bytes behind it, and no model has the result. Or it reads a key that it does
    not find as "". Or a text is NULL because it is not UTF-8, in a value or a member that the model does not read.
    """
    if judged.verdict not in (Verdict.FAIL, Verdict.DIFFERS) or judged.deviation is not None:
        return judged
    behaviour, after = dialect.behaviour, outcome.after
    clean = outcome.error == MISSING_ROW and after == outcome.before
    applied = not outcome.error and after is not None
    beyond = behaviour.reads_wide_decimals and reads_beyond_decimal(injection.image)
    if beyond and (clean or (applied and _has_other_digits(injection, after, dialect))):
        return judged._replace(deviation="reads_wide_decimals")
    emptied = with_empty_keys(injection.image) if behaviour.empties_damaged_keys and applied else None
    if emptied is not None and predict(replace(injection, image=emptied), dialect).state == after:
        return judged._replace(deviation="empties_damaged_keys")
    no_text = after is not None and after.valid and after.text is None and not outcome.error
    values, whole = values_of_diffs(injection.image), whole_values(injection.image)
    predicted = predict(injection, dialect).state  # where the model has no text either, it has said so before
    read_by_server = (predicted is not None and predicted.sound) or any(map(shares_bytes, values))
    if behaviour.stores_invalid_text and no_text and read_by_server and has_invalid_text(values):
        return judged._replace(deviation="stores_invalid_text")
    stored = after is not None and [after.size] == [len(document) for document in whole]
    if behaviour.copies_full_values and no_text and stored and has_invalid_text(whole):
        return judged._replace(deviation="copies_full_values")
    return judged


def _has_other_digits(injection: Injection, after: RowState | None, dialect: Dialect) -> bool:
    """Whether a row is as the event makes it except for the number, which the server reads from bytes behind the
    DECIMAL."""
    if after is None or after.is_null:
        return False
    if not after.sound:
        return after.error in UNREADABLE
    image, marker = with_marked_decimal(injection.image)
    expected = predict(replace(injection, image=image), dialect).state
    if expected is None or not expected.text or after.text is None:
        return False
    pattern = re.escape(expected.text).replace(re.escape(marker), rb"-?\d+(\.\d+)?")
    return marker in expected.text and re.fullmatch(pattern, after.text) is not None


def _explainable(outcome: InjectionOutcome) -> bool:
    """Whether a switch of the reference could explain the outcome: the server applied the event, or refused it rightly
    with another number.

    No switch explains anything worse.
    """
    if outcome.death or outcome.silent:
        return False
    return not outcome.error or (outcome.error not in ALLOWED and outcome.after == outcome.before)


def expected_of(injection: Injection, dialect: Dialect = MYSQL) -> Predicted:
    """The observed state (requirements FR5) where there is one, else the reference's prediction."""
    return Predicted(error=injection.number) if injection.number else predict(injection, dialect)


def _broken(injection: Injection, outcome: InjectionOutcome) -> JudgedOutcome | None:
    """The first demand of the worklog that is broken."""
    if outcome.death:
        return JudgedOutcome(Verdict.CRASH, "the server dies", "a living server", outcome.death)
    if outcome.silent:
        return JudgedOutcome(Verdict.TIMEOUT, "the server does not answer", "an answer", "none")
    if outcome.error:
        allowed = ALLOWED if injection.row_exists else ALLOWED | {MISSING_ROW}
        if outcome.error not in allowed:
            got = f"{outcome.error} {outcome.message}"
            return JudgedOutcome(Verdict.FAIL, "an error of another kind", ", ".join(map(str, sorted(allowed))), got)
        if outcome.after != outcome.before:
            rule = "the row changed although the event was refused"
            return JudgedOutcome(Verdict.FAIL, rule, show(outcome.before), show(outcome.after))
        return None
    if outcome.after is None:
        # Without a row nothing can be stored: an error was due, a row that is gone is worse.
        return JudgedOutcome(Verdict.FAIL, "no error, and there is no row", "a row, or an error", "no row")
    if not outcome.after.sound:
        return JudgedOutcome(Verdict.FAIL, "what is stored cannot be read", "a readable document", show(outcome.after))
    if injection.demand is Demand.ERROR:
        return JudgedOutcome(Verdict.FAIL, "a damaged event is applied", "an error", show(outcome.after))
    return None


def _compare(predicted: Predicted, outcome: InjectionOutcome) -> JudgedOutcome:
    if outcome.error or predicted.error:
        if outcome.error == predicted.error:
            due = text_of(outcome.error, TABLE.name, DOCUMENT)
            if outcome.message and due not in outcome.message:
                return JudgedOutcome(
                    Verdict.DIFFERS, "an error with another text than its number has", due, outcome.message
                )
            return JudgedOutcome(Verdict.PASS)
        expected = f"error {predicted.error}" if predicted.error else show(predicted.state)
        got = f"error {outcome.error} {outcome.message}".rstrip() if outcome.error else show(outcome.after)
        return JudgedOutcome(Verdict.DIFFERS, "another outcome than the reference's", expected, got)
    if not _same(predicted.state, outcome.after):
        return JudgedOutcome(
            Verdict.DIFFERS, "another document than the reference's", show(predicted.state), show(outcome.after)
        )
    return JudgedOutcome(Verdict.PASS)


def _same(predicted: RowState | None, got: RowState | None) -> bool:
    if predicted is None or got is None or predicted.is_null or got.is_null or (predicted.sound and got.sound):
        return predicted == got
    if predicted.sound or got.sound:
        return False
    if predicted.error or got.error:  # of the two numbers for a value that cannot be read either will do
        return predicted.error == got.error or {predicted.error, got.error} <= UNREADABLE
    return predicted == got


def _explaining(injection: Injection, dialect: Dialect) -> str | None:
    """The one switch that, flipped, makes the reference refuse the event with a number for damage."""
    for switch in SWITCHES:
        if getattr(dialect.behaviour, switch) and predict(injection, flipped(dialect, switch)).error in ALLOWED:
            return switch
    return None


def show(state: RowState | None) -> str:
    """A row's state for people."""
    if state is None:
        return "no row"
    if state.error:
        return f"reading gives error {state.error}"
    if state.is_null:
        return "SQL NULL"
    text = "a text that is NULL" if state.text is None else state.text[:400].decode("utf-8", "replace")
    return f"{text} (valid {int(bool(state.valid))}, size {state.size}, free {state.free})"
