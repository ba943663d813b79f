"""NFR1: ``value_options`` is a bitmap in a packed integer, so that later versions can add kinds of partial values.

BINLOG statements give the events to a server. The number comes in every form of a packed integer: servers read the
longer forms of a known number, and refuse undefined bits (requirements NFR1).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conformance.cases.by_hand.injection import Injection, full_image, partial_image, predict
from conformance.judge.damage import listed
from conformance.judge.damage.crashes import crash_of
from conformance.judge.damage.diverged import show
from conformance.judge.problem import Problem
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.servers.roles.injector import Injector, launch_target, script
from conformance.verdict import Verdict
from generators.documents import value
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.by_hand.injection import InjectionOutcome
    from conformance.harness.check import Check

_CORRUPT_EVENT = 1610
_FORMS = {1: (b"", 1), 2: (b"\xfc", 2), 3: (b"\xfd", 3), 8: (b"\xfe", 8)}  # bytes of the number -> first byte, size


class Form(NamedTuple):
    """One event. ``known``: the number has defined bits only."""

    injection: Injection
    known: bool


def packed(number: int, size: int) -> bytes:
    """A packed integer in the form with this many bytes for the number, needed or not."""
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


@pytest.mark.check("forms")
def test_value_options(check: Check) -> None:
    """Server and reference read the longer forms of known numbers; they refuse unknown bits and change nothing."""
    server = check.needs_own_server(
        "a server: events are put before it by BINLOG statements",
        "needs a server that the lab starts: events are injected",
    )
    draw = Stream("value-options", check.seed)
    forms = [make(draw.fork(number), number) for number in check.blocks()]
    check.narrate("starting a server without GTIDs for injected events")
    error = check.part("error")
    with (
        check.block(cases=len(forms)) as read,
        error.block(cases=len(forms), verdict=Verdict.DIFFERS, seconds=0.0) as numbers,
    ):
        with Injector(launch_target(server.maker, keep=server.keep, narrate=check.narrate)) as injector:
            outcomes = list(injector.run([form.injection for form in forms]))
        for form, outcome in zip(forms, outcomes, strict=True):
            problem = judge(form, outcome, server.version, check.lab.dialect)
            if problem is not None and (crash := crash_of(form.injection, outcome)) is not None:
                entry = listed.explaining(check.lab.deviations, check.lab.version, crash=crash)
                problem = replace(problem, deviation=None if entry is None else entry.id)
            if problem is not None:
                read.differs(problem)
            elif not form.known and outcome.error != _CORRUPT_EVENT:
                numbers.differs(
                    _problem(form, str(_CORRUPT_EVENT), str(outcome.error), "another error", server.version)
                )


def judge(form: Form, outcome: InjectionOutcome, version: str, dialect: Dialect = MYSQL) -> Problem | None:
    """Judge whether server and reference do with a form what they must."""
    predicted = predict(form.injection, dialect)
    if bool(predicted.error) == form.known:
        got = f"refused ({predicted.error})" if predicted.error else "read"
        return _problem(form, "read" if form.known else "refused", got, "the reference reads another number", version)
    if outcome.death or outcome.silent:
        return _problem(form, "an answer", outcome.death or "none", "the server does not go on", version)
    if not form.known:
        if not outcome.error:
            return _problem(form, "refused", "taken", "unknown bits are taken", version)
        if outcome.after != outcome.before:
            return _problem(form, show(outcome.before), show(outcome.after), "a refused event changes the row", version)
        return None
    if outcome.error:
        return _problem(form, "read", f"refused ({outcome.error})", "a longer form is refused", version)
    if outcome.after != predicted.state:
        return _problem(form, show(predicted.state), show(outcome.after), "another document", version)
    return None


def _problem(form: Form, expected: str, got: str, message: str, version: str) -> Problem:
    return Problem(form.injection.name, expected, got, message, statements=script(form.injection, version))
