"""Reasons why a target cannot be fuzzed; the messages are for the user."""

from __future__ import annotations

from conformance.extras import to_install


class Unfit(Exception):
    """A target, or this machine, is unfit for fuzzing."""


class NoAtheris(Unfit):
    """atheris is not installed."""

    def __init__(self) -> None:
        super().__init__(f"fuzzing needs atheris: {to_install('fuzz')} (Linux on x86-64)")


class UnknownTarget(Exception):
    """There is no target of that name."""
