"""What mysqlbinlog must do with a list of diffs whose frame is damaged (mysqlbinlog-output 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem

if TYPE_CHECKING:
    from conformance.servers.roles.mysqlbinlog import ClientEnd

_MESSAGES: Final = (b"while printing JSON diff", b"Corrupted replication event was detected")


def judge(what: str, end: ClientEnd) -> Problem | None:
    """The text must name the damage, and go on with the good event."""
    status, text, _ = end
    if status is None or status < 0:
        got = "no end" if status is None else f"signal {-status}"
        return Problem(field=what, expected="a text to its end", got=got, message="mysqlbinlog died")
    if not any(message in text for message in _MESSAGES):
        return Problem(
            field=what,
            expected="words about the damage",
            got="\n".join(line for line in text.decode("utf-8", "replace").split("\n") if line.startswith("###")),
            message="mysqlbinlog does not say that the event is damaged",
        )
    if not text.rstrip().endswith(b"PSEUDO_SLAVE_MODE=0*/;") or b"'$.after'" not in text:
        return Problem(
            field=what, expected="the event behind it", got=f"exit status {status}", message="mysqlbinlog broke off"
        )
    return None
