"""The runner: finds what is planted, survives what it finds, repeats itself, and leaves nothing behind."""

from __future__ import annotations

import io
import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import jsonschema
import pytest
from rich.console import Console

from conformance.exit_code import ExitCode
from fuzz.runner.alone import triage
from fuzz.runner.campaign import Campaign, Result, run
from fuzz.runner.display import Plain, living, print_table
from fuzz.runner.findings import read
from fuzz.runner.launch import ROOT, Child
from fuzz.runner.results import results
from fuzz.runner.run import Budget
from fuzz.runner.targets import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.runner.findings import Store
    from fuzz.runner.targets import Target

pytestmark = [pytest.mark.usefixtures("atheris"), pytest.mark.slow]
RUNS = 20_000


def fuzz(
    *targets: Target, store: Store, runs: int = RUNS, corpora: Path | None = None, shrink_seconds: float = 60.0
) -> Campaign:
    budget = Budget(runs=runs, timeout=1, shrink_seconds=shrink_seconds, corpora=corpora)
    return run(targets, budget, store, jobs=2, show=lambda _: None)


def test_a_target_that_holds_is_clean(toy: Callable[[str], Target], store: Store) -> None:
    campaign = fuzz(toy("clean"), store=store)
    (state,) = campaign.states
    assert (campaign.result(state), campaign.exit_code) == (Result.CLEAN, ExitCode.OK)
    assert state.executions == RUNS
    assert state.edges is not None
    assert state.edges > 8
    assert not list(store.directory.rglob("*"))


def test_no_process_begins_while_the_program_of_another_is_open(
    toy: Callable[[str], Target], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would have it open too, and the other could not be executed: Text file busy."""
    being_written: list[Path] = []
    begun: list[int] = []
    write = Child._program

    def slowly(self: Child, *, dies_with_us: bool) -> Path:
        being_written.append(self.directory)
        time.sleep(0.05)
        program = write(self, dies_with_us=dies_with_us)
        being_written.remove(self.directory)
        return program

    monkeypatch.setattr(Child, "_program", slowly)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: begun.append(len(being_written)))
    children = [Child(toy("clean"), tmp_path / str(number)) for number in range(4)]
    with ThreadPoolExecutor(len(children)) as threads:
        list(threads.map(lambda child: child.start(()), children))
    assert begun == [0] * len(children)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "kind", "signature", "size"),
    [
        ("bug", "error", "AssertionError in toy_bug.check: assert kind != 66", 5),
        ("hang", "hang", "hang in toy_hang.check", 5),
        ("memory", "memory", "MemoryError in toy_memory.check: bytearray(", 5),
        ("death", "death", "signal SIGSEGV in toy_death.check: os.kill(", 5),
        ("exit", "death", "death: ended with status 3", 0),
    ],
)
def test_what_is_planted_is_found_stored_and_made_small(
    toy: Callable[[str], Target],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kind: str,
    signature: str,
    size: int,
) -> None:
    monkeypatch.setattr("fuzz.runner.run.DEATHS", 2)
    campaign = fuzz(toy(name), store=store, shrink_seconds=0.5 if kind == "hang" else 60.0)
    (state,) = campaign.states
    (finding,) = state.findings
    assert finding.kind == kind
    assert finding.size == size or (kind == "hang" and size <= finding.size <= 64)  # hangs are slow to make small
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


def test_a_run_with_kept_corpora_goes_on_where_the_last_one_was(
    toy: Callable[[str], Target], store: Store, tmp_path: Path
) -> None:
    first = fuzz(toy("clean"), store=store, corpora=tmp_path / "corpora").states[0]
    (kept,) = (tmp_path / "corpora").iterdir()
    assert list(kept.iterdir())
    again = fuzz(toy("clean"), store=store, runs=20, corpora=tmp_path / "corpora").states[0]
    assert again.edges == first.edges


def test_a_target_of_the_reference_runs_the_same_twice(store: Store) -> None:
    figures = []
    for _ in range(2):
        (state,) = fuzz(*find(["jsonb-differential"]), store=store, runs=3000).states
        assert not state.findings
        figures.append((state.executions, state.edges, state.features, state.corpus))
    assert figures[0] == figures[1]
    assert figures[0][0] == 3000


def test_a_seed_that_would_be_cut_is_refused(
    toy: Callable[[str], Target], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = toy("clean")
    monkeypatch.setattr(target.module(), "MAX_LEN", 6)
    campaign = fuzz(target, store=store)
    assert campaign.states[0].trouble == "toy-clean: seed well has 7 bytes, more than MAX_LEN 6"
    assert campaign.exit_code == ExitCode.COULD_NOT_RUN


def test_a_package_that_is_missing_is_named(
    toy: Callable[[str], Target], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = toy("peer")
    monkeypatch.setattr(target.module(), "PACKAGE", "a-peer", raising=False)
    monkeypatch.setattr(target.module(), "INSTRUMENT", ("a_peer",))
    campaign = fuzz(target, store=store)
    assert campaign.states[0].trouble == "a-peer is not installed: pip install a-peer"
    assert campaign.exit_code == ExitCode.COULD_NOT_RUN
    assert not list(store.directory.rglob("*"))


def test_every_display_says_the_same_words(toy: Callable[[str], Target], store: Store) -> None:
    campaign = fuzz(toy("bug"), toy("blind"), store=store, runs=RUNS)
    text = io.StringIO()
    plain = Plain(text)
    plain(campaign)
    print_table(campaign, text)
    said = text.getvalue()
    assert "toy-bug: done, 20,000 executions" in said
    assert "toy-blind: could not run: no coverage" in said
    assert campaign.states[0].findings[0].replay in said
    console = Console(file=text, width=120)
    console.print(living(campaign, 30))
    assert "0 targets wait" in text.getvalue()


def test_results_have_the_frame_of_every_run(toy: Callable[[str], Target], store: Store) -> None:
    campaign = fuzz(toy("bug"), toy("clean"), store=store, runs=RUNS)
    data = results(campaign, "binlog-lab fuzz run")
    schema = json.loads((ROOT / "conformance" / "report" / "schemas" / "results.schema.json").read_text("utf-8"))
    jsonschema.validate(data, schema)
    bug, clean = data["targets"]
    assert (bug["result"], bug["findings"], clean["result"], clean["findings"]) == ("findings", 1, "clean", 0)
    assert clean["executions"] == RUNS
    assert data["run"]["exit_code"] == 1
    assert data["failures"][0]["signature"] == campaign.states[0].findings[0].signature


def test_an_input_that_is_only_slow_under_the_fuzzer_is_no_hang(toy: Callable[[str], Target], store: Store) -> None:
    seen = triage.unseen("hang", "did not end in time")
    assert triage.confirm(toy("hang"), b"TOYC", seen, timeout=4) == (seen, False)
    outcome, again = triage.confirm(toy("hang"), b"TOYHx", seen, timeout=4)
    assert again
    assert (outcome.kind, outcome.signature, outcome.message) == (
        "hang",
        "hang in toy_hang.check",
        "no end within 1 s of the processor",
    )


@pytest.mark.nightly
def test_many_defects_that_name_themselves_are_all_kept(toy: Callable[[str], Target], store: Store) -> None:
    campaign = run([toy("peer")], Budget(runs=300, shrink_seconds=0.0), store, jobs=1, show=lambda _: None)
    assert len(campaign.states[0].findings) == 30


@pytest.mark.nightly
def test_a_defect_with_many_names_does_not_fill_the_disk(toy: Callable[[str], Target], store: Store) -> None:
    budget = Budget(runs=RUNS, shrink_seconds=0.0)
    campaign = run([toy("many")], budget, store, jobs=1, show=lambda _: None)
    assert 10 < len(campaign.states[0].findings) <= 20
    assert campaign.states[0].executions == RUNS
