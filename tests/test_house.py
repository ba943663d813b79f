"""The house stays in order: no crowded folder, no circle of imports; and the figures see what they are meant to see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import house

ROOT = Path(__file__).parents[1]

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_no_folder_of_the_source_is_crowded() -> None:
    counts = house.folders(ROOT)
    assert {name for name, count in counts.items() if count > house.MANY} <= set(house.SIBLINGS)
    assert sum(counts.values()) > 500


def test_nothing_imports_in_a_circle() -> None:
    graph = house.imports(ROOT)
    assert house.circles(graph) == []
    assert [ring for package in house.between_neighbours(graph) for ring in house.circles(package)] == []


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, [["a", "b"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [["a", "b", "c"]]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"c"}}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(graph: Mapping[str, set[str]], found: list[list[str]]) -> None:
    assert house.circles(graph) == found


def test_packages_in_a_ring_are_seen_where_their_modules_are_in_none() -> None:
    graph = {"top.a.x": {"top.b.y"}, "top.b.z": {"top.a.w"}}
    assert house.circles(graph) == []
    assert [ring for package in house.between_neighbours(graph) for ring in house.circles(package)] == [
        ["top.a", "top.b"]
    ]


def test_an_import_inside_a_function_counts(tmp_path: Path) -> None:
    for top in ("conformance", "fuzz", "generators", "scenarios"):
        (tmp_path / top).mkdir()
        (tmp_path / top / "__init__.py").write_text("", "utf-8")
    (tmp_path / "fuzz" / "one.py").write_text("from fuzz import two\n", "utf-8")
    (tmp_path / "fuzz" / "two.py").write_text("def f() -> None:\n    from fuzz import one\n    one\n", "utf-8")
    # In a process of its own: what is imported here already would be found instead.
    script = (
        "import sys, pathlib; from tests import house; print(house.circles(house.imports(pathlib.Path(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[['fuzz.one', 'fuzz.two']]"


def test_a_longer_run_of_equal_lines_is_one_pair(tmp_path: Path) -> None:
    run = "".join(f"value_{number} = {number}\n" for number in range(9))
    (tmp_path / "a.py").write_text(f"first = 1\n{run}", "utf-8")
    (tmp_path / "b.py").write_text(f"{run}last = 1\n", "utf-8")
    (tmp_path / "c.py").write_text(run.replace("4", "7"), "utf-8")
    assert house.repeated(sorted(tmp_path.glob("*.py"))) == 1


def test_lines_of_code_are_neither_prose_nor_empty(tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    text = '"""A module.\n\nMore.\n"""\n\n# why\nx = 1  # one\ny = """\n2"""\n'
    (tmp_path / "top" / "a.py").write_text(text, "utf-8")
    assert house.lines(tmp_path, ["top"]) == 9
    assert house.lines_of_code(tmp_path, ["top"]) == 3
