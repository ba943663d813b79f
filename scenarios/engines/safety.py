"""The effect of an event on a row that it was not made for, or of a damaged event (FR5).

The engine judges as on a server. The outcome must be a refusal with one of the five numbers, or a readable document. A
switch, and nothing else, explains other outcomes that the server is known to accept. The engine also compares the
applier with itself: a document with holes and the same one rebuilt must take the same diffs alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Injection, InjectionOutcome, partial_image, predict, state_of
from conformance.judge.damage.diverged import ALLOWED, judge_injection
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.diffs import encode_diffs
from conformance.verdict import Verdict
from generators import damaged_events, diverged
from scenarios.codes import Code, Wrong
from scenarios.engines.documents import SHAPES, document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from generators.draw import Draw
    from scenarios.matrix import Setting

REVISION: Final = 3
EVENTS: Final = ("logged", "made", "damaged", "empty")
TARGETS: Final = ("itself", "rebuilt", "updated", "other", "scalar", "json-null", "sql-null")
SETTINGS: Final[dict[str, range | tuple[str, ...]]] = {
    "event": EVENTS,
    "target": TARGETS,
    "size": range(4, (1 << 20) + 1),
    "shape": SHAPES,
}
"""``event``: diffs that a source logged, made-up ones, an empty list, or an event with one field changed (which has its
own document); ``target``: the document that they meet."""
MEASURES: Final = (
    "verdict", "error", "document", "diff_size", "grade", "null_before", "result",
    "agrees",  # whether the text stored is that of the source's document after its update
    "due_diffs", "due_error",  # diffs of the event as it was made; the number that its damage must be refused with
)  # fmt: skip
BREAKS: Final[dict[Code, str]] = {}

# requirements FR5, by the damaged field (generators.damaged_events); other damage may leave a sound event.
_REFUSED: Final = {
    "generated-operation": 3649, "generated-cut": 3649, "generated-lengths": 3649, "generated-type": 3649,
    "generated-after": 3649, "generated-options": 1610, "generated-row": 1610,
}  # fmt: skip
_GRADES: Final = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.FAIL, Verdict.DIFFERS, Verdict.PASS)
_TAKES_ALL: Final = flipped(MYSQL, "refuse_unchanging_replace")


def cost(settings: Mapping[str, Setting]) -> float:
    """The approximate microseconds that a scenario takes."""
    return 450 + 0.01 * int(settings.get("size", 300))


def measure(draw: Draw, settings: Mapping[str, Setting]) -> tuple[int, ...]:
    """Run one scenario; return the values of ``MEASURES``."""
    kind, target = str(settings.get("event", "logged")), str(settings.get("target", "updated"))
    diffs = after = None
    number = 0
    if kind == "damaged":
        injection = damaged_events.damaged(draw)
    else:
        shape, size = str(settings.get("shape", "flat")), int(settings.get("size", 300))
        source = encode(document(draw, shape, size).value)
        stored = _target(draw, target, source, size)
        if kind == "logged":
            chosen, after = diverged.logged(draw.fork("logged"), source)
        else:
            chosen = diverged.made(draw, stored) if kind == "made" else ()
        number = len(chosen)
        diffs = encode_diffs(chosen)
        injection = Injection(name=kind, stored=stored, image=partial_image(diffs))
    outcome = _outcome(injection)
    if outcome.error and outcome.error not in ALLOWED:
        raise Wrong(Code.OTHER_ERROR, f"error {outcome.error}", outcome.error)
    judged = judge_injection(injection, outcome)
    if judged.verdict is Verdict.PASS:
        verdict = Code.REFUSED if outcome.error else Code.OK
    elif judged.deviation is not None:
        verdict = Code.EXPLAINED
    else:
        wrong = Code.UNREADABLE if outcome.after and not outcome.after.sound else Code.ACCEPTED
        raise Wrong(wrong, f"{judged.rule}: expected {judged.expected}, got {judged.got}")
    if diffs is not None and injection.stored is not None:
        _same_when_rebuilt(injection.stored, diffs)
    result = 0 if outcome.after is None else outcome.after.size or 0
    agrees = after is not None and outcome.after is not None and outcome.after.text == state_of(after).text
    return (
        int(verdict), outcome.error, len(injection.stored or b""), len(diffs or b""), _GRADES.index(judged.verdict),
        int(injection.stored is None), result, int(agrees), number, _REFUSED.get(injection.name, 0),
    )  # fmt: skip


def _target(draw: Draw, target: str, source: bytes, size: int) -> bytes | None:
    if target == "sql-null":
        return None
    if target == "json-null":
        return encode(None)
    if target == "scalar":
        return encode(draw.choice((0, "text", True, 1.5)))
    if target == "other":
        return encode(document(draw, draw.choice(SHAPES), size).value)
    if target in ("updated", "rebuilt"):
        # By another update: a document with holes, and the same without them.
        stored = diverged.logged(draw.fork("updated"), source)[1]
        assert stored is not None
        return stored if target == "updated" else encode(decode(stored))
    return source


def _outcome(injection: Injection) -> InjectionOutcome:
    """The outcome of the reference's applier, in the form that a server would show."""
    before = state_of(injection.stored)
    predicted = predict(injection)
    after = before if predicted.error else predicted.state
    return InjectionOutcome(error=predicted.error, before=before, after=after)


def _same_when_rebuilt(stored: bytes, diffs: bytes) -> None:
    """Require the same result in place and on a tree, with holes and without: the same document, or two refusals."""
    results = []
    for document_ in (stored, encode(decode(stored))):
        try:
            made = apply_field(document_, diffs, _TAKES_ALL)
            results.append("NULL" if made is None else format_text(decode(made)))
        except MysqlError as error:
            results.append(f"error {error.number}")
    if results[0] != results[1]:
        raise Wrong(Code.DIVERGED, f"as stored {results[0][:200]}, rebuilt {results[1][:200]}")
