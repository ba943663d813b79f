"""The server that the checks of transaction boundaries share, and the demands on its receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.judge.problem import Problem
from conformance.reference.binlog.header import MAGIC
from conformance.servers.errors import ServerUnavailable
from conformance.servers.source.scripted import FILE

if TYPE_CHECKING:
    from conformance.harness.check import Check
    from conformance.servers.roles.receiver import ReceivedStream, ReceiverTarget


def needed_target(check: Check) -> ReceiverTarget:
    """The server whose log, receiver and client the checks judge; skips where there can be none."""
    lab = check.lab
    check.needs_server("a server: its log, its replica's receiver and its mysqlbinlog are judged")
    try:
        target = lab.receiver()
    except ServerUnavailable as error:
        check.skip(f"needs a receiver that can read from the lab: {error}")
    if target is None:
        check.skip("needs a server that the lab starts beside the one under test")
    return target


def heard_problems(heard: ReceivedStream, end: tuple[str, int]) -> list[Problem]:
    """The problems of a receiver that did not read the stream from its beginning to its end."""
    got = f"at {heard.place}, error {heard.error}; dumps from {heard.asked}"
    problems = []
    if heard.asked[:1] != [(FILE, len(MAGIC))]:
        message = "the receiver does not ask for the beginning of the log"
        problems.append(Problem("receiver", f"the first dump from {(FILE, len(MAGIC))}", got, message))
    if heard.place != end or heard.error:
        message = "the receiver did not take the whole stream"
        problems.append(Problem("receiver", f"all read, to {end}", got, message))
    return problems
