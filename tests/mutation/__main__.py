"""mutmut's mutants of the reference against its tests, module by module.

``python -m tests.mutation [MODULE...]`` (from the repository's root; package ``mutmut``, group ``nightly``). For each
module, named as ``jsonb.encode`` (without a name: all of them): how many mutants there are, how many the tests kill,
and those that live, as ``function: old => new`` (:mod:`tests.mutation.form`).

Two rates: of all mutants, and of those that :mod:`tests.mutation.explained` does not list; the second must be 90 %.
Mutants of nothing but the words of an error are counted apart and not tried. Exit status 1 if a module is below, or if
what is explained is killed after all or is no mutant any more.

``--seconds`` is how long the tests of one mutant take on the sound reference before it is left alone; hence a survivor
may say that tests are left. With ``--results FILE`` a mutant that was killed before is not tried again: for a run that
goes on, or for new tests against old survivors.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.mutation.bench import TESTS, Bench, Verdict, run
from tests.mutation.explained import by_rule, explained
from tests.mutation.mutants import Mutant, module_names, mutants_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEAST: Final = 0.9


class Result(NamedTuple):
    """One module. ``words``: mutants that were not tried; ``told``: the class of each survivor that is explained;
    ``wrong``: what is explained and should not be."""

    module: str
    killed: int
    survivors: list[tuple[Mutant, Verdict]]
    words: int
    told: dict[str, str]
    wrong: list[str]

    @property
    def tried(self) -> int:
        return self.killed + len(self.survivors)

    @property
    def counted(self) -> int:
        return self.tried - len(self.told)

    @property
    def good(self) -> bool:
        return not self.wrong and self.killed >= LEAST * self.counted


class Kept:
    """Verdicts by module and mutant, in a file if one was named."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self.rows: dict[str, dict[str, str]] = {}
        if place is not None and place.exists():
            self.rows = json.loads(place.read_text(encoding="utf-8"))

    def store(self, module: str, killers: dict[str, str]) -> None:
        self.rows.setdefault(module, {}).update(killers)
        if self._place is not None:
            self._place.write_text(json.dumps(self.rows, indent=1), encoding="utf-8")


def judge(bench: Bench, module: str, kept: Kept, *, jobs: int) -> Result:
    """All mutants of one module."""
    mutants = mutants_of(module)
    known = kept.rows.get(module, {})
    tried = [mutant for mutant in mutants if not mutant.words]
    killers = {mutant.key: known[mutant.key] for mutant in tried if mutant.key in known}
    survivors = []
    for mutant, verdict in bench.judge([mutant for mutant in tried if mutant.key not in killers], jobs):
        if verdict.by is None:
            survivors.append((mutant, verdict))
        else:
            killers[mutant.key] = verdict.by
            if len(killers) % 50 == 0:
                kept.store(module, killers)
    kept.store(module, killers)
    order = [mutant.key for mutant in mutants]
    survivors.sort(key=lambda pair: order.index(pair[0].key))
    listed = explained(module)
    told = {mutant.key: listed.get(mutant.key) or by_rule(mutant.key) for mutant, _ in survivors}
    wrong = [
        f"{key}: explained as {name}, and killed by {killers[key]}" for key, name in listed.items() if key in killers
    ]
    wrong += [f"{key}: explained as {name}, and no mutant" for key, name in listed.items() if key not in order]
    explained_ones = {key: name for key, name in told.items() if name}
    return Result(module, len(killers), survivors, len(mutants) - len(tried), explained_ones, wrong)


def lines(result: Result, *, quiet: bool) -> Iterator[str]:
    """Yield the lines that are printed of a module."""
    for mutant, verdict in () if quiet else result.survivors:
        name = result.told.get(mutant.key, "")
        tests = f"{verdict.tests} tests" + (f", {verdict.left} left" if verdict.left else "")
        yield f"  {name or 'LIVES':10} {mutant.key} ({tests if verdict.tests else 'no test'})"
    yield from (f"  WRONG      {text}" for text in result.wrong)
    untested = sum(not verdict.tests for _, verdict in result.survivors)
    yield (
        f"{result.module:28} {result.killed}/{result.tried} killed ({_rate(result.killed, result.tried)}), without "
        f"{len(result.told)} explained {result.killed}/{result.counted} ({_rate(result.killed, result.counted)}); "
        f"{untested} without a test, {result.words} of words not tried"
    )


def _rate(killed: int, tried: int) -> str:
    return f"{killed / tried:.1%}" if tried else "nothing"


def total(results: Sequence[Result]) -> str:
    """The last line."""
    killed = sum(result.killed for result in results)
    tried = sum(result.tried for result in results)
    counted = sum(result.counted for result in results)
    low = [result.module for result in results if not result.good]
    return (
        f"{len(results)} modules: {killed}/{tried} killed ({_rate(killed, tried)}), without those explained "
        f"{killed}/{counted} ({_rate(killed, counted)}); "
        + (f"below {LEAST:.0%} or wrong: {', '.join(low)}" if low else f"each at {LEAST:.0%} or more")
    )


def main(arguments: Sequence[str]) -> int:
    """Module by module."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--seconds", type=float, default=5.0, help="of tests for one mutant")
    parser.add_argument("--results", type=Path, metavar="FILE", help="go on from what is kept there, and keep it there")
    parser.add_argument("--tests", action="append", metavar="PATH", help="only these test files or folders")
    parser.add_argument("--quiet", action="store_true", help="do not show the survivors")
    options = parser.parse_args(arguments)
    unknown = set(options.modules) - set(module_names())
    if unknown:
        parser.error(f"the reference has no module called {', '.join(sorted(unknown))}")
    place = options.results and options.results.resolve()
    results: list[Result] = []

    def work(bench: Bench) -> None:
        kept = Kept(place)
        for module in options.modules or module_names():
            results.append(judge(bench, module, kept, jobs=options.jobs))
            sys.stdout.write("".join(f"{line}\n" for line in lines(results[-1], quiet=options.quiet)))
            sys.stdout.flush()

    run(work, tests=options.tests or TESTS, seconds=options.seconds)
    sys.stdout.write(f"{total(results)}\n")
    return int(not all(result.good for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
