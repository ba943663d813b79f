"""The defects that one answer of a decoder shows, with the judge of decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import Allowed
from conformance.harness.decoders import observed
from conformance.judge.decoding.difference import INVENTED, MISSING
from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.signatures import signature_of_text
from conformance.verdict import Verdict
from fuzz.peers.comparison.refusals import place_in
from fuzz.peers.comparison.row_changes import as_defect, counting
from fuzz.violation import PeerDefect

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.judge.decoding.judge import Judgement
    from conformance.subjects.answers import Answer
    from fuzz.peers.subjects.inputs import Input

SILENT: Final = "no error for a damaged log"
READ_DAMAGE: Final = "row changes read from a cut event"
_CALM: Final = (Verdict.PASS, Verdict.NOT_APPLICABLE)


def defects_of(
    given: Input, capabilities: Collection[str], answer: Answer, raised: Exception | None, packages: Sequence[str]
) -> list[PeerDefect]:
    """The defects, each with a rule that other inputs with it share.

    ``raised``: the exception behind a refusal, where it is known; its frames in ``packages`` name its place.
    """
    case = given.case
    judgement = judge(case, capabilities, observed(answer))
    if answer.failure is not None:
        return [PeerDefect(judgement.signature, answer.detail)]
    if given.edited:
        silent = case.allowed is Allowed.ERROR and not answer.error and not answer.marks
        return [PeerDefect(SILENT)] if silent else []
    if judgement.verdict in _CALM:
        return []
    if case.allowed is Allowed.ERROR:
        return _of_damage(case, judgement, capabilities)
    said = [PeerDefect(rule, answer.error)] if (rule := _refusal(judgement, answer, raised, packages)) else []
    return said + [
        as_defect(item, case)
        for item in counting(judgement, capabilities)
        if not (said and item.kind in MISSING)  # a refusal explains what did not arrive
    ]


def _of_damage(case: DecoderCase, judgement: Judgement, capabilities: Collection[str]) -> list[PeerDefect]:
    """Silence about damage, what was made of it, and what was wrong in front of it."""
    if judgement.verdict is Verdict.REFUSED:
        return []
    if judgement.verdict is Verdict.LENIENT:
        return [PeerDefect(SILENT, judgement.message)]
    return [
        PeerDefect(READ_DAMAGE, item.place, item.got) if item.kind in INVENTED else as_defect(item, case)
        for item in counting(judgement, capabilities)
        if item.kind not in MISSING
    ]


def _refusal(judgement: Judgement, answer: Answer, raised: Exception | None, packages: Sequence[str]) -> str:
    """The rule of a refusal: type and place of the exception, else its words; empty where nothing was refused."""
    if raised is not None:
        place = place_in(raised, *packages)
        return f"{type(raised).__name__} in {place}" if place else signature_of_text("refused", answer.error)
    if answer.error:
        return signature_of_text("refused", answer.error)
    return judgement.signature if judgement.verdict is Verdict.REFUSED else ""
