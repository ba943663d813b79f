"""Reasons why a target cannot be fuzzed; the messages are for the user."""

from __future__ import annotations


class Unfit(Exception):
    """A target, or this machine, is unfit for fuzzing."""


class NoAtheris(Unfit):
    """atheris is not installed."""

    def __init__(self) -> None:
        super().__init__("fuzzing needs atheris: pip install 'binlog-lab[fuzz]' (Linux on x86-64)")


class UnknownTarget(Exception):
    """There is no target of that name."""
