"""Requirements in the marks of a module of checks: those read from its source, beside those of the marks themselves."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import conformance.checks
from conformance.checks.marks import named_requirements

_CHECKS = Path(conformance.checks.__file__).parent
_MODULES = sorted({*_CHECKS.glob("*/check.py"), *_CHECKS.glob("*/check_*.py")})


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_read_is_what_the_marks_say(path: Path) -> None:
    names = named_requirements(path)
    if names is None:
        return  # it is always imported
    module = import_module(f"conformance.checks.{path.parent.name}.{path.stem}")
    marks = [mark for value in vars(module).values() for mark in getattr(value, "pytestmark", ())]
    assert names == {name for mark in marks if mark.name == "check" for name in mark.args[1:]}
    assert not [mark for mark in marks if mark.name == "parametrize" and "ParameterSet" in repr(mark)]


def test_most_modules_can_be_read() -> None:
    assert sum(named_requirements(path) is not None for path in _MODULES) >= 40


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('@mark.check("room/a", "FR1", "D2")\n@mark.check(\n    "room/b",\n    "FR3",\n)\n', {"FR1", "D2", "FR3"}),
        ('@pytest.mark.check("room/a")\n', set()),
        ('@pytest.mark.check("room/a", *NAMES)\n', None),
        ('@pytest.mark.check("room/a", NAME)\n@pytest.mark.check("room/b", "FR1")\n', None),
        ('@pytest.mark.check("room/a", *(n for n in names()))\n', None),
        ('mark = pytest.mark.check\n@mark("room/a", "FR1")\n', None),
        ("def test_without_a_mark() -> None: ...\n", None),
    ],
)  # fmt: skip
def test_a_mark_is_read_only_where_it_is_all_words(tmp_path: Path, text: str, names: set[str] | None) -> None:
    module = tmp_path / "check.py"
    module.write_text(text, "utf-8")
    assert named_requirements(module) == names
