"""The catalogue of planted faults: every change applies, survives other names of variables, and is killed."""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from tests.docs.citations import citations
from tests.faults.__main__ import Kept, Outcome, run_child, selected
from tests.faults.catalogue import FAULTS, LIVE_FAULTS, ORACLE_FAULTS, tree
from tests.faults.change import apply, local_names, parse_change, scope
from tests.faults.tools import Step, fuzz_steps, property_files, store_inputs, vector_steps

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path
    from types import CodeType

    from tests.faults.fault import Fault

pytestmark = pytest.mark.slow

# One of each kind, for every run of the tests; all of them at night.
SAMPLE: Final = (
    "decimal-seven-digits",
    "short-take",
    "catalog-without-its-zero",
    "year-zero-is-1900",
    "marker-over-the-old-one",
    "calls-from-outside",
    "true-is-2",
    "auto-wrap-order",
)
EVERY_FAULT: Final = (*FAULTS, *ORACLE_FAULTS, *LIVE_FAULTS)
# Nothing but a second implementation sees these.
UNSEEN_BEFORE: Final = ("array-insert-one-place-on", "third-diff-dropped", "bytes-behind-the-frame")


class Renamed(ast.NodeTransformer):
    """Other names for variables."""

    def __init__(self, names: AbstractSet[str]) -> None:
        self._names = {name: f"other_{name}" for name in names}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self._names.get(node.arg, node.arg), node.annotation)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._names.get(node.name or "")
        return self.generic_visit(node)


@cache
def changed(edit: Fault) -> ast.stmt:
    """The function or constant with its fault; nobody may change it."""
    place = deepcopy(scope(tree(edit.at), edit.run["where"]))
    apply(parse_change(edit.change), place)
    return place


def code_of(place: ast.stmt) -> CodeType:
    return compile(ast.unparse(place), "module", "exec")


@pytest.mark.sampled(250)
@pytest.mark.parametrize("edit", EVERY_FAULT, ids=lambda edit: edit.id)
def test_a_fault_makes_another_program_of_its_module(edit: Fault) -> None:
    assert code_of(changed(edit)) != code_of(scope(tree(edit.at), edit.run["where"]))


@pytest.mark.sampled(120)
@pytest.mark.parametrize("edit", EVERY_FAULT, ids=lambda edit: edit.id)
def test_a_fault_changes_the_same_where_every_variable_has_another_name(edit: Fault) -> None:
    place = scope(tree(edit.at), edit.run["where"])
    other = Renamed(local_names(place))
    renamed = other.visit(deepcopy(place))
    apply(parse_change(edit.change), renamed)
    assert ast.unparse(renamed) == ast.unparse(other.visit(deepcopy(changed(edit))))


@pytest.mark.parametrize("edit", EVERY_FAULT, ids=lambda edit: edit.id)
def test_a_fault_names_the_section_of_the_rule_that_it_breaks(edit: Fault) -> None:
    rule, _, words = edit.sentence.partition(": ")
    (cited,) = citations(edit.sentence)
    assert f"{cited.sheet} {cited.section}" == rule
    assert words


def test_faults_are_many_everywhere_and_counted_once() -> None:
    modules = Counter(fault.at for fault in FAULTS)
    assert len(FAULTS) >= 250
    assert len(modules) >= 50
    assert len({fault.id for fault in EVERY_FAULT}) == len(EVERY_FAULT)
    assert len(ORACLE_FAULTS) == 58
    assert len(LIVE_FAULTS) == 70


SOUND: Final = """
class Box:
    def measure(self, size, limit=3):
        for item in self.items:
            size += item
        if size < limit or size < 0:
            self.reset()
            return call(size, 1, limit)
        return "ab<cd"
SIZES = (1, 2, 3)
"""


@pytest.mark.parametrize(
    ("where", "change", "old", "new"),
    [
        ("Box.measure", "A < B -> A <= B", "size < limit", "size <= limit"),
        ("Box.measure", "A < B -> A <= B #2", "size < 0", "size <= 0"),
        ("Box.measure", "A < B or C -> C", "size < limit or size < 0", "size < 0"),
        ("Box.measure", "A < 0 -> A < ARG3", "size < 0", "size < limit"),
        ("Box.measure", "A.reset() -> pass", "self.reset()", "pass"),
        ("Box.measure", "A += B -> A -= B", "+=", "-="),
        ("Box.measure", "call(*A, B) -> call(B, *A)", "call(size, 1, limit)", "call(limit, size, 1)"),
        ("Box.measure", "'…<…' -> '…>…'", "ab<cd", "ab>cd"),
        ("SIZES", "(*A, 2, *B) -> (*B, *A)", "(1, 2, 3)", "(3, 1)"),
    ],
)
def test_a_change_is_found_by_its_form(where: str, change: str, old: str, new: str) -> None:
    module = ast.parse(SOUND)
    apply(parse_change(change), scope(module, where))
    assert SOUND.count(old) == 1
    assert ast.dump(module) == ast.dump(ast.parse(SOUND.replace(old, new)))


@pytest.mark.parametrize(
    ("where", "change", "message"),
    [
        ("Box.measure", "A < B -> A <= B #3", "nothing matches"),
        ("Box.measure", "A + A -> A", "nothing matches"),
        ("Box.other", "A < B -> A <= B", "defined 0 times"),
        ("SIZES", "1 => 2", "not a change"),
    ],
)
def test_a_change_of_what_is_not_there_is_an_error(where: str, change: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        apply(parse_change(change), scope(ast.parse(SOUND), where))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_of_each_kind_is_killed_in_a_process_of_its_own(name: str) -> None:
    (fault,) = selected([name])
    step = min(vector_steps(fault), key=lambda step: step.cost)
    assert run_child(fault.id, step).by, fault.sentence


@pytest.mark.nightly
def test_the_sound_reference_is_no_finding_and_a_faulty_one_is(tmp_path: Path) -> None:
    store_inputs(tmp_path)
    (fault,) = selected(["view-into-the-head"])
    (replay,) = fuzz_steps(fault, tmp_path, tmp_path, reached={}, runs=0, rng=1)
    assert run_child("-", replay).by is None
    assert run_child(fault.id, replay).by
    for name in UNSEEN_BEFORE:
        assert run_child(name, replay).by, name
    (slow,) = [path for path in property_files() if path.stem == "test_jsonb_properties"]
    assert run_child("-", Step("properties", "slow", 3, ("pytest", str(slow))), seconds=1).by == "slow: hangs"


def test_what_is_selected_must_exist() -> None:
    with pytest.raises(SystemExit, match="nothing"):
        selected(["nothing"])
    assert {fault.at for fault in selected(["partial.update"])} == {"partial.update"}


def test_a_run_goes_on_from_what_is_kept_of_the_same_text(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "results.json")
    first, second = selected(["decimal-seven-digits", "decimal-sign-bit"])
    kept.store(first, {"vectors": Outcome("a test", 1.5)})
    again = Kept(tmp_path / "results.json")
    assert again.of(first) == {"vectors": Outcome("a test", 1.5)}
    assert again.of(second) == {}
    assert again.of(replace(first, change="4 -> 2")) == {}
