"""Docstrings begin with a verb or a noun, and their sentences have at most 25 words."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests import house
from tests.docs.test_sentences import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
TOPS: Final = (*house.SOURCE, "tests")
RIDDLES: Final = ("What", "That", "Those", "Of")  # first words after which the noun has still to come
_NO_NOUN: Final = re.compile(r"``\w+``: of [^.;]*")  # of a parameter: "``rows``: of all tables" hides what is counted
_PLAIN: Final = re.compile(r" {4}|[-*|] ")  # blocks of code, lists and tables


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Each docstring of a module, with its line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found = ast.get_docstring(node)
            if found:
                yield getattr(node, "lineno", 1), found


def read_twice(docstring: str) -> Iterator[str]:
    """The sentences of a docstring that are too long, a summary and a parameter that do not name their noun."""
    if docstring.split(maxsplit=1)[0].rstrip(",.:") in RIDDLES:
        yield docstring.splitlines()[0]
    yield from _NO_NOUN.findall(" ".join(docstring.split()))
    for paragraph in re.split(r"\n\s*\n", docstring):
        if "::" not in paragraph and not _PLAIN.match(paragraph):
            for sentence in re.split(r"(?<=[.!?;:])\s+", " ".join(paragraph.split())):
                if len(sentence.split()) > LONGEST:
                    yield sentence


@pytest.mark.parametrize("top", TOPS)
def test_docstrings_are_read_once(top: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}: {sentence}"
        for path in house.modules(ROOT, (top,))
        for line, docstring in docstrings(path.read_text("utf-8"))
        for sentence in read_twice(docstring)
    }
    assert not found


def test_a_riddle_and_a_long_sentence_are_seen() -> None:
    words = " ".join(["word"] * 26)
    assert [*read_twice("What it gives.")] == ["What it gives."]
    assert [*read_twice("All rows. ``rows``: of\nall tables. ``size``: bytes of one.")] == ["``rows``: of all tables"]
    assert [*read_twice(f"A summary.\n\nFurther: {words}.")] == [f"{words}."]
    assert [*read_twice(f"A summary.\n\n    {words}\n\n- {words}")] == []
    module = f'"""Of all."""\n\nclass A:\n    """Those."""\n\n    def f(self):\n        """{words}"""\n'
    assert len([sentence for _, docstring in docstrings(module) for sentence in read_twice(docstring)]) == 3
