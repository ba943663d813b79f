"""The library's face: every name of it is there, and the examples of its page run and print what the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from io import StringIO
from typing import TYPE_CHECKING, Final

import pytest

import conformance
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE: Final = ROOT / "docs" / "reference" / "library.md"
EXAMPLES: Final = sorted((ROOT / "docs" / "examples").glob("*.py"))
_BLOCKS: Final = re.compile(r"^```python\n(.*?)^```\n\n^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_page_has_the_examples_as_they_are() -> None:
    codes = [code for code, _ in _BLOCKS.findall(PAGE.read_text("utf-8"))]
    assert sorted(codes) == sorted(path.read_text("utf-8") for path in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_the_page_says(example: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "tutorials" / "orders.binlog", tmp_path)
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(_BLOCKS.findall(PAGE.read_text("utf-8")))
    assert done.stdout == said[example.read_text("utf-8")]


def test_every_name_of_the_face_is_there_with_a_docstring_and_on_the_page() -> None:
    listed = {name for _, names in conformance._HOMES.items() for name in names}
    assert listed == set(conformance.__all__) <= set(dir(conformance))
    page = PAGE.read_text("utf-8")
    for name in conformance.__all__:
        assert getattr(conformance, name).__doc__, name
        assert f"`{name}`" in page, name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = conformance.nothing


def test_the_face_imports_nothing_before_it_is_used() -> None:
    program = (
        "import sys, conformance; sys.exit(' '.join(n for n in sys.modules if n.startswith('conformance.')) or None)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: [*conformance.read_events(bytearray())], "binary stream, not bytearray"),  # type: ignore[arg-type]
        (lambda: [*conformance.read_rows(StringIO())], "binary stream, not StringIO"),  # type: ignore[arg-type]
        (lambda: [*conformance.read_rows(["a"])], "binary stream, not list"),  # type: ignore[arg-type]
        (lambda: conformance.predict({}, "j"), "JSON text or stored bytes, not dict"),  # type: ignore[arg-type]
        (lambda: conformance.predict("{}", ["j"]), "the text of a right-hand side, not ['j']"),  # type: ignore[arg-type]
        (lambda: conformance.predict("{}", dialect="8.0.45"), "a Dialect, .*, not '8.0.45'"),  # type: ignore[arg-type]
        (lambda: conformance.apply_diffs(b"", (), "8.0.45"), "a Dialect, .*, not '8.0.45'"),  # type: ignore[arg-type]
    ],
    ids=["bytearray", "text stream", "list", "dict", "updates", "version", "version of an applier"],
)
def test_the_face_says_what_it_takes(call: Callable[[], object], words: str) -> None:
    with pytest.raises(TypeError, match=words.replace("[", r"\[").replace("]", r"\]")):
        call()
