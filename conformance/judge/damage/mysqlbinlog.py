"""The judge of mysqlbinlog on a file that holds a damaged value (P9).

The client may report the damage and go on. It must never die, hang, or grow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.damaged_log import BEHIND
from conformance.judge.damage.crashes import crash_of_client, damage_of_log
from conformance.requirements.crashes import VARIABLE_LENGTH
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.bytes_case import BytesCase
    from conformance.requirements.crashes import Crash

# Observed on 9.7.4, for damage in a diff and in a whole document.
_WORDS: Final = (
    b"while printing JSON diff",
    b"Corrupted replication event was detected",
    b"Failed to format JSON object as string",
    b"Invalid JSON",
)
_END: Final = b"PSEUDO_SLAVE_MODE=0*/;"
HUNG: Final = 1 << 16  # no exit status
MOST_MEMORY: Final = 1 << 30
"""Bytes for a file of a few kilobytes: the kit's figure. 9.7.4 takes some tens of megabytes for any of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLog:
    """One file and the client's result. Without ``message`` all is well."""

    case: BytesCase
    verdict: Verdict = Verdict.PASS
    message: str = ""
    expected: str = ""
    got: str = ""
    crash: Crash | None = None


def judge_survival(case: BytesCase, status: int, peak: int = 0) -> PrintedLog:
    """The client lives, comes to an end, and takes no memory that the file gives no reason for. ``peak``: bytes."""
    crash = crash_of_client(case.data, status)
    if crash is not None:
        return PrintedLog(
            case=case,
            verdict=Verdict.CRASH,
            message=f"mysqlbinlog dies ({crash})",
            expected="a text to its end",
            got=f"signal {crash.signal}",
            crash=crash,
        )
    if status == HUNG:
        return PrintedLog(
            case=case, verdict=Verdict.TIMEOUT, message="mysqlbinlog does not end", expected="an end", got="none"
        )
    if peak > MOST_MEMORY:
        return PrintedLog(
            case=case,
            verdict=Verdict.FAIL,
            message="mysqlbinlog takes memory beyond its input",
            expected=f"{MOST_MEMORY >> 20} MiB at most for {len(case.data)} bytes",
            got=f"{peak >> 20} MiB",
        )
    return PrintedLog(case=case)


def judge_print(case: BytesCase, status: int, text: bytes, peak: int = 0) -> PrintedLog:
    """The client lives, reports the damage, and goes on with the good event.

    The client of 9.7.4 does not notice a wrong key entry that does not kill it (observed: it prints the key as ""); the
    judge asks for no more there. Behind an event whose fields go beyond it the client may end (observed: with an error,
    for user variables of other types).
    """
    survived = judge_survival(case, status, peak)
    damage = damage_of_log(case.data)
    if survived.verdict is not Verdict.PASS or damage == VARIABLE_LENGTH:
        return survived
    lines = "\n".join(line for line in text.decode("utf-8", "replace").split("\n") if line.startswith("###"))
    if not text.rstrip().endswith(_END) or f"'{BEHIND}'".encode() not in text:
        message, expected = "mysqlbinlog broke off", "the event behind it"
    elif not damage and not any(words in text for words in _WORDS):
        message, expected = "mysqlbinlog does not say that the value is damaged", "words about the damage"
    else:
        return survived
    return PrintedLog(case=case, verdict=Verdict.DIFFERS, message=message, expected=expected, got=lines)
