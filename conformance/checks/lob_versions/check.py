"""LOB11 and LOB20 to LOB31: versions of large JSON documents, and the pages that updates in place change.

One campaign judges them all: each of its blocks has a record for each requirement.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.lob_versions import run
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.checks.lob_versions.tally import Tally
    from conformance.harness.check import Check

MIXED: Final = "small-changes-of-copied-lobs"  # the listed deviation
_FEW_ROWS, _ROWS = 6, 12  # of a block; each has two documents
_LEAST_BLOCKS = 2  # one without diffs and one with them, however many updates the first one has


@pytest.mark.check("versions")
def test_versions(check: Check) -> None:
    """Every version is one document for sessions, file and log, and the file changes in the predicted bytes only."""
    server = check.needs_own_server("a server: its data files are read while transactions hold snapshots")
    figures: Counter[str] = Counter()
    any_version = check.lab.dialect.server.small_lob_changes == "any"
    listed = check.lab.listed(name=MIXED)
    number = 0
    while figures["updates"] < check.size() or number < _LEAST_BLOCKS:
        tally = run.run_block(server, Stream("lob-versions", check.seed, number), _FEW_ROWS if check.quick else _ROWS,
                              partial_json=bool(number % 2), any_version=any_version,
                              mixed=None if listed is None else listed.id)  # fmt: skip
        _record(check, number, tally)
        if not tally.figures["updates"]:
            break  # the files of the rows cannot be read
        figures += tally.figures
        number += 1
        check.progress(figures["updates"], check.size(), "updates")
    for name, count in sorted(figures.items()):
        check.narrate(f"{name}: {count}")


def _record(check: Check, number: int, tally: Tally) -> None:
    for requirement in check.requirements:
        with check.block(number, cases=tally.cases[requirement], requirement=requirement) as block:
            block.differs(*tally.problems.get(requirement, ()))
