"""Mutants: one change each, told from words for people, planted where they are called, explained only if they live."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mutmut")  # of the group nightly
pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]


def test_a_mutant_is_another_text_of_one_function() -> None:
    from tests.mutation.mutants import mutants_of

    mutants = mutants_of("partial.diffs")
    assert len({mutant.key for mutant in mutants}) == len(mutants) > 100
    for mutant in mutants:
        compile(mutant.text, mutant.function, "exec")
        assert mutant.lines[0] <= mutant.lines[1]


def test_the_head_of_a_statement_is_all_of_its_lines() -> None:
    from tests.mutation.mutants import mutants_of

    shown = ("if not (v1 in '$_' or", " => if v1 in '$_' or _is_letter")
    (mutant,) = [item for item in mutants_of("partial.paths") if all(part in item.change for part in shown)]
    assert mutant.lines[1] - mutant.lines[0] == 2


def test_words_for_people_are_told_apart_and_codes_are_not() -> None:
    from tests.mutation.mutants import mutants_of

    words = {mutant.change for mutant in mutants_of("partial.diffs") if mutant.words}
    assert any("XXunknown operationXX" in change for change in words)
    assert any("'0..2'" in change.split(" => ")[0] and "got=None" in change for change in words)
    assert not any("XXbad-operationXX" in change or "offset=None" in change for change in words)


def test_whoever_holds_a_function_has_its_mutant() -> None:
    code = """
from conformance.reference.partial import diffs
from conformance.reference.errors import DecodeError
from tests.mutation.mutants import mutants_of, plant
held = diffs.split_diffs
(mutant,) = [item for item in mutants_of("partial.diffs") if "XXbad-operationXX" in item.change]
plant(mutant, diffs)
try:
    list(held(bytes((9, 0))))
except DecodeError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "XXbad-operationXX\n"


def test_a_mutant_without_super_is_planted_like_any_other() -> None:
    code = """
from conformance.reference import cursor
from tests.mutation.mutants import mutants_of, plant
end = "super().take(v2, v1)) => self._noted(self.pos, v1, None)"
(mutant,) = [item for item in mutants_of("cursor") if item.key.startswith("Recorder.take:") and item.key.endswith(end)]
plant(mutant, cursor)
print(cursor.Recorder(b"ab").take(1, "field"))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_what_is_killed_or_lives_is_said_and_kept(tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "tests.mutation", "text.session", "--tests", "tests/reference/text/test_session.py",
        "--seconds", "1000", "--results", str(tmp_path / "kept.json"),
    ]  # fmt: skip
    first, again = (subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False) for _ in range(2))
    assert "text.session" in first.stdout, first.stderr
    assert first.stdout == again.stdout
    assert (tmp_path / "kept.json").exists()


def test_what_is_explained_is_a_mutant() -> None:
    from tests.mutation.explained import explained
    from tests.mutation.mutants import module_names, mutants_of

    for module in module_names():
        listed = explained(module)
        assert not listed or set(listed) <= {mutant.key for mutant in mutants_of(module)}, module
