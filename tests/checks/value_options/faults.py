"""Faults of a server that reads value_options in another form, as an InjectionOutcome: from requirements NFR1."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.checks.fault import Fault

FORMAT_FAULTS: Final = [
    Fault(
        id="format/unknown-bit",
        requirement="NFR1",
        sentence="Bits of value_options that the server does not know are refused.",
        change=lambda outcome: replace(outcome, error=0),
    ),
    Fault(
        id="format/longer-form",
        requirement="NFR1",
        sentence="A longer form of the packed integer is the same number.",
        change=lambda outcome: replace(outcome, error=1610, after=outcome.before),
    ),
    Fault(
        id="format/changed",
        requirement="NFR1",
        sentence="A refused event changes nothing, an accepted one makes the document that it describes.",
        change=lambda outcome: replace(outcome, after=replace(outcome.after, text=b"{}")),
    ),
]
