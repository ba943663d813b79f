"""``python -m tests.faults --servers``: every faulty server under the checks of the requirement that it breaks.

A line for each fault, then a table by requirement. Exit status 1 if one is not caught, or not explained.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Final

from tests.faults.servers.bench import Bench
from tests.faults.servers.catalogue import SERVER_FAULTS, by_requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.faults.fault import Fault
    from tests.faults.servers.bench import Caught

_SHOWN: Final = 150


def selected(names: Sequence[str]) -> list[Fault]:
    """Faults by id or by requirement; without names all."""
    found = [fault for fault in SERVER_FAULTS if not names or {fault.id, *fault.requirements} & set(names)]
    if unknown := set(names) - {name for fault in found for name in (fault.id, *fault.requirements)}:
        raise SystemExit(f"no faulty server is called, or breaks, {', '.join(sorted(unknown))}")
    return found


def line(fault: Fault, caught: Caught) -> str:
    """A faulty server, and what the kit says of it."""
    verdict = "LIVES " if caught.problem else "caught"
    words = " ".join((caught.problem or caught.words).split())
    return f"{verdict} {','.join(fault.requirements):12} {fault.id:36} {caught.seconds:5.1f} s  {words[:_SHOWN]}"


def table(results: Mapping[str, Caught]) -> list[str]:
    """One line a requirement, then the sum."""
    lines = []
    for requirement, faults in by_requirement().items():
        known = [fault for fault in faults if fault.id in results]
        if known:
            well = [fault for fault in known if not results[fault.id].problem]
            lines.append(f"{requirement:8} {len(well)}/{len(known)} caught/planted")
    caught = sum(not one.problem for one in results.values())
    seconds = sum(one.seconds for one in results.values())
    return [*lines, f"{caught}/{len(results)} faulty servers caught, {len(lines)} requirements, {seconds:.0f} s of CPU"]


def main(names: Sequence[str], seed: str, record: Path | None) -> int:
    """Run them all, on one server. ``record`` keeps the last outcome of each, at once: the run may be broken off."""
    results: dict[str, Caught] = {}
    with closing(Bench(seed=seed)) as bench:
        for fault in selected(names):
            caught = results[fault.id] = bench.judge(fault)
            sys.stdout.write(f"{line(fault, caught)}\n")
            sys.stdout.flush()
            if record is not None:
                store(record, {fault.id: {"problem": caught.problem, "red": sorted(caught.red)}})
    sys.stdout.write("\n".join(["", *table(results), ""]))
    return int(any(caught.problem for caught in results.values()))


def store(record: Path, outcomes: Mapping[str, object]) -> None:
    """Fault -> why it is not caught (empty: it is), and the red rows. Other faults in the file keep theirs."""
    rows = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    lines = (f"{json.dumps(name)}: {json.dumps(outcome)}" for name, outcome in {**rows, **outcomes}.items())
    record.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")
