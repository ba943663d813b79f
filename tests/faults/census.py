"""Every planted fault of the project, by kind and by requirement: the one count that ``python -m tests.faults`` prints
and of which the page ``docs/planted-faults.md`` is made.

Some kinds have a bench of their own. All others are planted by tests: the folder of a test says which kind it plants.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.faults.catalogue import FAULTS, LIVE_FAULTS, ORACLE_FAULTS, ROOT
from tests.faults.servers.catalogue import SERVER_FAULTS
from tests.faults.spark.catalogue import BROKEN_BY
from tests.planted import Planted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLLECT: Final = """
import contextlib, json, sys, pytest
from tests.planted import EVERY_NIGHT, Tally
found = Tally()
with contextlib.redirect_stdout(sys.stderr):
    code = pytest.main(["--collect-only", "-q", *EVERY_NIGHT, "-p", "no:cacheprovider", "tests"], plugins=[found])
if code:
    sys.exit(f"pytest could not collect the tests: {code!r}")
print(json.dumps([(test, fault.name, fault.requirements) for test, fault in found.faults.items()]))
"""


class Kind(NamedTuple):
    """A kind of planted faults. ``tests``: beginnings of the paths of the tests that plant them; none: it has a bench
    of its own. ``command`` plants them all."""

    id: str
    what: str
    command: str
    tests: tuple[str, ...] = ()


_TESTS: Final = "python -m tests.planted"
# The first kind whose paths fit has a test's faults.
KINDS: Final = (
    Kind("reference", "a changed function of the reference, under its tests", "python -m tests.faults --reference"),
    Kind("oracles", "a changed function of the reference, under fuzz targets", "python -m tests.faults --oracles"),
    Kind("live", "a changed function of the reference, under the main job", "python -m tests.faults --live"),
    Kind("servers", "a faulty server, or model, under the kit's own checks", "python -m tests.faults --servers"),
    Kind("spark", "a changed model or applier in Spark's workers, under a budget", "python -m tests.faults --spark"),
    Kind("subjects", "a decoder or data file reader with one defect, under its suite", _TESTS, ("tests/subjects/",)),
    Kind("parts", "what breaks one part of a requirement, under its judge", _TESTS, ("tests/requirements/test_parts",)),
    Kind("doubles", "an older version that is played wrongly, under the kit's own checks", _TESTS, ("tests/doubles/",)),
    Kind("versions", "a wrong cell of the table of versions, under its tests", _TESTS, ("tests/requirements/",)),
    Kind("observations", "a doctored observation, under its judge", _TESTS, ("tests/judge/", "tests/harness/")),
    Kind("checks", "an altered answer, file, text or log, under one experiment", _TESTS, ("tests/checks/",)),
    Kind("fuzzing", "what a target, campaign or peer must find", _TESTS, ("tests/fuzz/",)),
    Kind("explore", "an altered server, answer, file or log, under an oracle", _TESTS, ("tests/explore/",)),
    Kind("matrices", "a changed worker, budget or aggregation, under a matrix", _TESTS, ("tests/scenarios/",)),
    Kind("others", "what other tests plant", _TESTS, ("tests/",)),
)  # fmt: skip


def kind_of(test: str) -> str:
    """The kind of what a test plants."""
    return next(kind.id for kind in KINDS if test.startswith(kind.tests))


def benches() -> list[Planted]:
    """The faults with a bench of their own."""
    return [
        *(Planted(fault.id, (), "reference") for fault in FAULTS),
        *(Planted(fault.id, (), "oracles") for fault in ORACLE_FAULTS),
        *(Planted(fault.id, (), "live") for fault in LIVE_FAULTS),
        *(Planted(fault.id, fault.requirements, "servers") for fault in SERVER_FAULTS),
        *_of_budgets(),
    ]


def _of_budgets() -> list[Planted]:
    """The faults of budgets, which break the requirements that the budgets judge."""
    from scenarios.matrix import load_matrix

    broken: dict[str, set[str]] = defaultdict(set)
    for name, budgets in BROKEN_BY.items():
        judged = {budget.id: budget.requirement for budget in load_matrix(name).budgets}
        for budget, faults in budgets.items():
            for fault in faults:
                broken[fault].add(judged[budget])
    return [Planted(name, tuple(sorted(names)), "spark") for name, names in broken.items()]


def by_tests() -> list[Planted]:
    """The faults that tests plant, as pytest collects them in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _COLLECT], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stderr[-3000:]}\n")
    return by_kinds(json.loads(done.stdout.rstrip().rpartition("\n")[2]))


def by_kinds(collected: Iterable[tuple[str, str, Sequence[str]]]) -> list[Planted]:
    """Faults from tests, their names and requirements; what several tests of a kind plant counts once."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for test, name, requirements in collected:
        found[kind_of(test), name] |= {*requirements}
    return [Planted(name, tuple(sorted(broken)), kind) for (kind, name), broken in found.items()]


def by_kind(faults: Iterable[Planted]) -> dict[str, int]:
    """Kind -> how many."""
    counts = Counter(fault.kind for fault in faults)
    return {kind.id: counts[kind.id] for kind in KINDS if counts[kind.id]}


def by_requirement(faults: Iterable[Planted]) -> dict[str, Counter[str]]:
    """Requirement -> kind -> how many, in the order of the catalogue of requirements."""
    from conformance.requirements.catalogue import REQUIREMENTS

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for fault in faults:
        for name in fault.requirements:
            counts[name][fault.kind] += 1
    return {name: counts[name] for name in (*REQUIREMENTS, *sorted({*counts} - {*REQUIREMENTS})) if name in counts}


def table(faults: Sequence[Planted]) -> list[str]:
    """The whole count in lines: each requirement with its kinds, then the kinds."""
    lines = []
    for name, counts in by_requirement(faults).items():
        kinds = ", ".join(f"{counts[kind.id]} {kind.id}" for kind in KINDS if counts[kind.id])
        lines.append(f"{name:8} {counts.total():4}  {kinds}")
    lines.append("")
    commands = {kind.id: kind.command for kind in KINDS}
    lines += [f"{kind:14} {count:5}  {commands[kind]}" for kind, count in by_kind(faults).items()]
    return [*lines, f"{'together':14} {len(faults):5}"]
