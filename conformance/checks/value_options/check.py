"""NFR1: ``value_options`` is a bitmap in a packed integer, so that other kinds of partial values can come.

Events are put before a server by BINLOG statements. Numbers are written in every form that a packed integer has: the
longer forms of a known number are read, bits that nobody knows yet are refused (requirements NFR1).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conformance.cases.by_hand.injection import Injection, full_image, partial_image, predict
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.servers.roles.injector import Injector, launch_target, script
from conformance.servers.run.owned import OwnServer
from conformance.stream import Verdict
from generators.documents import value
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.by_hand.injection import InjectionOutcome
    from conformance.harness.lab import Lab

_CASES = {"quick": 90, "full": 1_200, "soak": 12_000}
_CORRUPT_EVENT = 1610
_FORMS = {1: (b"", 1), 2: (b"\xfc", 2), 3: (b"\xfd", 3), 8: (b"\xfe", 8)}  # bytes of the number -> first byte, size


class Form(NamedTuple):
    """One event: ``known`` is whether the number has known bits only."""

    injection: Injection
    known: bool


def packed(number: int, size: int) -> bytes:
    """A packed integer in the form with so many bytes for the number, needed or not."""
    first, width = _FORMS[size]
    return first + number.to_bytes(width, "little")


def make(draw: Stream, number: int) -> Form:
    """An event that gives a document another value at ``$.a``, with value_options in one of its forms."""
    document = encode({"a": "old", "b": value(draw)})
    diffs = encode_diff(Operation.REPLACE, parse_path("$.a"), encode(f"new {number}"))
    partial = draw.below(3) < 2
    image = partial_image(diffs) if partial else full_image(encode({"a": number}))
    known = draw.below(2) == 0
    if known:
        options = packed(int(partial), draw.choice((2, 3, 8)))
    else:
        bits = 1 << draw.integer(1, 63) | draw.choice((0, draw.bits(63) & ~1)) | int(partial)
        sizes = [size for size in _FORMS if bits < 1 << 8 * size and (size > 1 or bits < 251)]
        options = packed(bits, draw.choice(sizes))
    name = f"value_options {options.hex()}, {'diffs' if partial else 'whole document'}"
    return Form(Injection(name=name, stored=document, image=options + image[1:]), known)


@pytest.mark.requirement("NFR1")
def test_value_options(lab: Lab) -> None:
    """Longer forms of known numbers are read, by the reference as well; unknown bits are refused, nothing changes."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: events are put before it by BINLOG statements")
    if not isinstance(server, OwnServer):
        lab.not_applicable("value-options/forms", "NFR1", "events are injected only into a server that the lab starts")
        return
    begun = time.perf_counter()
    draw = Stream("value-options", lab.settings.seed)
    forms = [make(draw.fork(number), number) for number in range(_CASES[lab.settings.profile])]
    lab.narrate("starting a server without GTIDs for injected events")
    with Injector(launch_target(server.maker, keep=server.keep, narrate=lab.narrate)) as injector:
        outcomes = list(injector.run([form.injection for form in forms]))
    wrong: list[Problem] = []
    numbers: list[Problem] = []
    for form, outcome in zip(forms, outcomes, strict=True):
        problem = judge(form, outcome, server.version)
        if problem is not None:
            wrong.append(problem)
        elif not form.known and outcome.error != _CORRUPT_EVENT:
            numbers.append(_problem(form, str(_CORRUPT_EVENT), str(outcome.error), "another error", server.version))
    failed = 0
    for check, verdict, problems in (
        ("value-options/forms", Verdict.FAIL, wrong),
        ("value-options/error", Verdict.DIFFERS, numbers),
    ):
        failed += record(
            lab,
            Outcome(
                check=check,
                requirement="NFR1",
                block=0,
                cases=len(forms),
                problems=problems,
                verdict=verdict,
                seconds=(time.perf_counter() - begun) / 2,
            ),
        )
    if failed:
        pytest.fail(f"{failed} forms of value_options are not read as they must be; see the report", pytrace=False)


def judge(form: Form, outcome: InjectionOutcome, version: str) -> Problem | None:
    """What a server must do with a form, and the reference too."""
    predicted = predict(form.injection)
    if bool(predicted.error) == form.known:
        got = f"refused ({predicted.error})" if predicted.error else "read"
        return _problem(form, "read" if form.known else "refused", got, "the reference reads another number", version)
    if outcome.death or outcome.silent:
        return _problem(form, "an answer", outcome.death or "none", "the server does not go on", version)
    if not form.known:
        if not outcome.error:
            return _problem(form, "refused", "taken", "unknown bits are taken", version)
        if outcome.after != outcome.before:
            return _problem(form, str(outcome.before), str(outcome.after), "a refused event changes the row", version)
        return None
    if outcome.error:
        return _problem(form, "read", f"refused ({outcome.error})", "a longer form is refused", version)
    if outcome.after != predicted.state:
        return _problem(form, str(predicted.state), str(outcome.after), "another document", version)
    return None


def _problem(form: Form, expected: str, got: str, message: str, version: str) -> Problem:
    return Problem(
        field=form.injection.name,
        expected=expected,
        got=got,
        message=message,
        statements=script(form.injection, version),
    )
