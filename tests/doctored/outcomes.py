"""The outcomes of changed answers, and the table of kinds by outcome."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.doctored.plan import Planned

OUTCOMES: Final = ("red", "not run", "undecided", "trusted", "not asked", "unseen", "ended")
"""``red``: a row has failures; ``not run``: a check ended alone; ``undecided``: a row says so, or leaves out what it
judged; ``trusted``: nothing says so, for a listed reason; ``not asked``: no check read the answer; ``unseen``: nothing
says so; ``ended``: the run ended early."""
TRUST: Final = Path(__file__).parent / "trust.toml"


@cache
def _trusted() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads(TRUST.read_text("utf-8"))["trusted"]) if TRUST.exists() else ()


def reason(**change: str) -> str:
    """Why a change that nothing shows may stay so, by ``kind``, ``tape``, ``what`` and ``asked``; empty: nothing says
    so."""
    for entry in _trusted():
        if all(re.search(entry.get(name, ""), text) for name, text in change.items()):
            return str(entry["reason"])
    return ""


def outcome(planned: Planned, what: str, behind: dict[int, dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    """The outcome of one change, with what the run said. ``behind``: the rows as recorded, behind each check."""
    told = {name: row[name] for name in ("asked", "words", "traces", "alone", "lab") if row.get(name)}
    if row.get("hang") or "raised" in row or row.get("lab"):
        return {"outcome": "ended", "why": row.get("raised") or row.get("lab") or "hang", **told}
    rows, before = row["rows"], behind[row["last"]]
    red = sorted(name for name, found in rows.items() if found[2] > before.get(name, (0, 0, 0))[2])
    if red:
        return {"outcome": "red", "red": red, **told}
    if row["alone"] or any(found[0] == "not-run" != before.get(name, ("",))[0] for name, found in rows.items()):
        return {"outcome": "not run", **told}
    changed = sorted(name for name, found in rows.items() if found != before.get(name))
    if changed or rows.keys() != before.keys():
        return {"outcome": "undecided", "red": changed, **told}
    if row.get("asked") is None:
        return {"outcome": "not asked", **told}
    why = reason(kind=planned.kind, tape=planned.tape, what=what, asked=row["asked"])
    return {"outcome": "trusted" if why else "unseen", **({"why": why} if why else {}), **told}


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Kinds by outcomes, as Markdown."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row["kind"]][row["outcome"]] += 1
        counts["all"][row["outcome"]] += 1
    lines = [f"| kind | changes | {' | '.join(OUTCOMES)} |", f"|---|{'---|' * (1 + len(OUTCOMES))}"]
    for kind in sorted(counts, key=lambda name: (name == "all", name)):
        cells = [f"{counts[kind][name] or '':}" for name in OUTCOMES]
        lines.append(f"| {kind} | {counts[kind].total()} | {' | '.join(cells)} |")
    return "\n".join(lines)
