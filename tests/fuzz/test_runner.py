"""The runner: finds what is planted, survives what it finds, repeats itself, and leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.stream import ExitCode
from fuzz.runner.campaign import Campaign, Result, run
from fuzz.runner.findings import read
from fuzz.runner.run import Budget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.runner.findings import Store
    from fuzz.runner.targets import Target

pytestmark = pytest.mark.usefixtures("atheris")
RUNS = 150_000


def fuzz(*targets: Target, store: Store, runs: int = RUNS, corpora: Path | None = None) -> Campaign:
    budget = Budget(runs=runs, timeout=1, shrink_seconds=2.0, corpora=corpora)
    return run(targets, budget, store, jobs=2, show=lambda _: None)


def test_a_target_that_holds_is_clean(toy: Callable[[str], Target], store: Store) -> None:
    campaign = fuzz(toy("clean"), store=store)
    (state,) = campaign.states
    assert (campaign.result(state), campaign.exit_code) == (Result.CLEAN, ExitCode.OK)
    assert state.executions == RUNS
    assert state.edges is not None
    assert state.edges > 10
    assert not list(store.directory.rglob("*"))


@pytest.mark.parametrize(
    ("name", "kind", "signature", "size"),
    [
        ("bug", "error", "AssertionError in toy_bug.check: assert kind != 66", 6),
        ("hang", "hang", "hang in toy_hang.check", 5),
        ("memory", "memory", "MemoryError in toy_memory.check: bytearray(", 5),
        ("death", "death", "signal SIGSEGV in toy_death.check: os.kill(", 5),
        ("exit", "death", "death: ended with status 3", 0),
    ],
)
def test_what_is_planted_is_found_stored_and_made_small(
    toy: Callable[[str], Target], store: Store, name: str, kind: str, signature: str, size: int
) -> None:
    campaign = fuzz(toy(name), store=store)
    (state,) = campaign.states
    (finding,) = state.findings
    assert (finding.kind, finding.size) == (kind, size)
    assert finding.signature.startswith(signature)
    assert campaign.exit_code == ExitCode.NONCONFORMANT
    assert read(finding.path) == finding
    assert finding.path.read_bytes()[:3] == (b"TOY" if size else b"")


def test_the_same_seed_and_number_of_executions_reach_the_same(toy: Callable[[str], Target], store: Store) -> None:
    figures = []
    for _ in range(2):
        (state,) = fuzz(toy("bug"), store=store).states
        figures.append((state.executions, state.edges, state.features, state.corpus))
    assert figures[0] == figures[1]


def test_a_target_that_nobody_sees_into_fails_the_run(toy: Callable[[str], Target], store: Store) -> None:
    campaign = fuzz(toy("blind"), store=store)
    (state,) = campaign.states
    assert state.trouble.startswith("no coverage")
    assert campaign.exit_code == ExitCode.COULD_NOT_RUN
    assert campaign.result(state) is Result.NOT_RUN
