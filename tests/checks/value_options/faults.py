"""Faults of a server that reads value_options in another form, as an InjectionOutcome: from requirements NFR1."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.faults.fault import Fault

FORMAT_FAULTS: Final = [
    Fault("format/unknown-bit", "NFR1", "Bits of value_options that the server does not know are refused.",
          lambda outcome: replace(outcome, error=0)),
    Fault("format/longer-form", "NFR1", "A longer form of the packed integer is the same number.",
          lambda outcome: replace(outcome, error=1610, after=outcome.before)),
    Fault("format/changed", "NFR1",
          "A refused event changes nothing, an accepted one makes the document that it describes.",
          lambda outcome: replace(outcome, after=replace(outcome.after, text=b"{}"))),
]  # fmt: skip
