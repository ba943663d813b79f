"""The judge of mysqlbinlog's text for a list of diffs whose frame is damaged (mysqlbinlog-output 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.damaged_log import BEHIND
from conformance.cases.by_hand.injection import TABLE
from conformance.judge.problem import Problem

if TYPE_CHECKING:
    from conformance.checks.mysqlbinlog_damage.generate import Damaged
    from conformance.servers.roles.mysqlbinlog import ClientEnd

_ROW: Final = f"### UPDATE `{TABLE.schema}`.`{TABLE.name}`\n### WHERE\n###   @1=1\n### SET\n###   @2="
_END: Final = b"PSEUDO_SLAVE_MODE=0*/;"


def judge(damage: Damaged, end: ClientEnd) -> Problem | None:
    """The text must name the damage in the row's place, print the good event behind it, and end well."""
    if end.status is None or end.status < 0:
        got = "no end" if end.status is None else f"signal {-end.status}"
        return Problem(field=damage.name, expected="a text to its end", got=got, message="mysqlbinlog died")
    rows = "\n".join(line for line in end.text.decode("utf-8", "replace").split("\n") if line.startswith("###"))
    said = _ROW + damage.printed
    if rows != said and not rows.startswith(f"{said}\n"):
        return Problem(damage.name, said, rows, "mysqlbinlog does not say that the event is damaged")
    expected = f"{said}\n{_ROW}JSON_REMOVE(@2, '{BEHIND}')"
    if rows != expected or not end.text.rstrip().endswith(_END):
        return Problem(damage.name, expected, rows, "mysqlbinlog does not print the event behind it, and only that")
    if end.status or end.errors:
        got = f"exit status {end.status}, {end.errors.decode('utf-8', 'replace')!r}"
        return Problem(damage.name, "exit status 0, ''", got, "mysqlbinlog fails behind a text to its end")
    return None
