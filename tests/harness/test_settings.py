"""A run as the user asked for it: which servers may keep their data in memory."""

from __future__ import annotations

from conformance.harness.profiles import PROFILES
from conformance.harness.settings import Settings


def test_the_servers_of_a_quick_run_fit_into_memory() -> None:
    assert Settings().small
    assert Settings(updates=1).small


def test_servers_of_larger_runs_and_those_that_are_kept_do_not() -> None:
    assert not Settings(updates=PROFILES["quick"] + 1).small
    assert not Settings(profile="full", updates=1).small
    assert not Settings(keep=True).small
