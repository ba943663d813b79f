"""Every fuzz target, without a fuzzer: its shape, its seeds, and that it can fail."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fuzz.targets import load, target_names

NAMES = target_names()
FUZZ = Path(__file__).parents[2] / "fuzz"


@pytest.mark.parametrize("name", NAMES)
def test_a_target_says_what_holds_and_where_to_look(name: str) -> None:
    target = load(name)
    assert target.INVARIANT.endswith(".")
    assert target.MAX_LEN > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_invariant_holds_for_all_seeds(name: str) -> None:
    target = load(name)
    names = [seed for seed, _ in target.seeds()]
    assert len(names) == len(set(names)) > 0
    for _, data in target.seeds():
        target.check(data)


@pytest.mark.parametrize("name", NAMES)
def test_no_seed_is_cut_by_the_longest_input(name: str) -> None:
    target = load(name)
    assert max(len(data) for _, data in target.seeds()) <= target.MAX_LEN


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(load(name), "mutate")])
def test_a_mutator_keeps_to_its_size_and_repeats_itself(name: str) -> None:
    target = load(name)
    assert hasattr(target, "mutate")
    results = set()
    for _, data in target.seeds():
        for size in (0, 5, 30, target.MAX_LEN):
            for seed in range(5):
                result = target.mutate(data, size, seed)
                assert len(result) <= size
                assert result == target.mutate(data, size, seed)
                results.add(result)
                if seed == 0:
                    target.check(result)
    assert len(results) > 50


def test_an_unknown_target_is_named_with_all_that_there_are() -> None:
    with pytest.raises(KeyError, match="jsonb-decode"):
        load("nothing")


def test_nothing_but_the_child_process_needs_a_fuzzer() -> None:
    importers = {
        path.relative_to(FUZZ).as_posix()
        for path in FUZZ.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "atheris" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "atheris")
    }
    assert len(importers) <= 1


REGRESSIONS = sorted((Path(__file__).parents[1] / "regressions").glob("*/*.bin"))


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_was_found_once_stays_fixed(path: Path) -> None:
    load(path.parent.name).check(path.read_bytes())


def test_every_regression_says_what_was_wrong() -> None:
    told = (REGRESSIONS[0].parents[1] / "README.md").read_text(encoding="utf-8")
    assert [path for path in REGRESSIONS if f"`{path.parent.name}/{path.name}`" not in told] == []


@pytest.mark.parametrize("text", [b"0e308", b"0e309", b"0.0e309", b"0.0e310", b"-0e400", b"[0e00400]"])
def test_the_exponent_of_a_zero_has_the_servers_limit(text: bytes) -> None:
    load("json-text").check(text)
