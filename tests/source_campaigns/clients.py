"""Clients before the lab's source and before a MySQL server that serves the same logs: the answers must be equal.

Nothing of the kit says what a client should answer: the same client says it with the real server.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.archive import load_suite
from conformance.subjects.specs import open_subject, parse_subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.cases.decoder_case import DecoderCase
    from conformance.subjects.answers import Answer

CLIENTS: Final = ("python-mysql-replication-stream", "zongji", "powersync-zongji", "go-mysql", "rivet")
_NUMBERS: Final = "0123456789"


@dataclass(slots=True)
class Comparison:
    """The counts of what was compared for one client. ``different``: id of the Case and both answers."""

    counts: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)


def compare(client: str, cases: Iterable[DecoderCase], narrate: Callable[[str], None] = lambda _: None) -> Comparison:
    """Let a client read the Cases from both."""
    found = Comparison()
    lab = open_subject(parse_subject(f"{client}?source=lab"))
    mysql = open_subject(parse_subject(f"{client}?source=mysql"))
    try:
        for case in cases:
            there = mysql.decode(case, "/nowhere")
            here = lab.decode(case, "/nowhere")
            if there.inapplicable:
                found.counts["not served by MySQL"] += 1
                found.counts["of these, read from the lab"] += not here.inapplicable
                continue
            found.counts["compared"] += 1
            found.counts["changes"] += len(there.changes)
            if (mine := _kind(here)) == (other := _kind(there)):
                found.counts["with an error"] += bool(there.error or there.failure)
                continue
            found.different.append(f"{case.id}: {mine!r:.400} and {other!r:.400}")
            narrate(f"{client} {found.different[-1]}")
    finally:
        lab.close()
        mysql.close()
    return found


def _kind(answer: Answer) -> tuple[object, ...]:
    """An answer without what names a position, a port, or a file: numbers in messages."""
    if answer.inapplicable:
        return ("not served", answer.inapplicable)
    error = "".join(letter for letter in answer.error if letter not in _NUMBERS)
    return (answer.changes, bool(answer.marks), error, answer.failure)


def suite_cases(step: int = 1) -> list[DecoderCase]:
    """Cases of the suite, one in ``step``."""
    return [entry.case for entry in load_suite().entries][::step]
