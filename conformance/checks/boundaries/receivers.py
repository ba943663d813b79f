"""What the checks of transaction boundaries share: their server, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.problem import Problem
from conformance.requirements.versions import dialect_of

if TYPE_CHECKING:
    from conformance.harness.lab import Lab
    from conformance.servers.roles.receiver import Heard, ReceiverTarget


def needed_target(lab: Lab) -> ReceiverTarget:
    """The server whose log, receiver and client are judged; skips where there can be none."""
    if lab.server is None:
        pytest.skip("needs a server: its log, its replica's receiver and its mysqlbinlog are judged")
    target = lab.receiver() if dialect_of(lab.version).words.change_source == "SOURCE" else None
    if target is None:
        pytest.skip("needs a server of 8.0.23 or newer that the lab starts as a process beside the one under test")
    return target


def heard_problems(heard: Heard, end: tuple[str, int]) -> list[Problem]:
    """Whether the receiver came to the end of what it was sent."""
    if heard.place == end and not heard.error:
        return []
    return [
        Problem(
            field="receiver",
            expected=f"all read, to {end}",
            got=f"at {heard.place}, error {heard.error}; dumps from {heard.asked}",
            message="the receiver did not take the whole stream",
        )
    ]


def conclude(failed: int, what: str) -> None:
    """Fail if something did."""
    if failed:
        pytest.fail(f"{failed} {what}; see the report", pytrace=False)
