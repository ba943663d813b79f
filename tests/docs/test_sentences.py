"""Sentences of the pages for users have at most 25 words; code counts as one word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from tests.docs.pages import PAGES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST: Final = 25
_CODE_BLOCK: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_FRONT: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page: of its paragraphs, the items of its lists, and the cells of its tables."""
    text = _CODE_BLOCK.sub("", _FRONT.sub("", text))
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\{code\}|!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for line in re.split(r"\n(?=\s*(?:[-#|:>]|\d+\.|\n))|\n\n|\n(?<=[.:]\n)", text):
        end = r"(?<=[.:;?!])\s+" if "|" in line else r"(?<=[.:?!])\s+"  # in a cell a semicolon parts items
        for cell in line.split("|"):
            yield from (part for part in re.split(end, " ".join(cell.split())) if part)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page: Path) -> None:
    long = [found for found in sentences(page.read_text("utf-8")) if len(found.split()) > LONGEST]
    assert not long


def test_a_long_sentence_is_seen_wherever_it_stands() -> None:
    words = " ".join(["word"] * 26)
    for text in (f"{words}.", f"- {words}", f"| a | {words} |", f"Short.\n{words}.\nShort.", f"[{words}](x.md)"):
        assert max(len(found.split()) for found in sentences(f"# Title\n\n{text}\n")) >= 26, text
    assert all(len(found.split()) < 5 for found in sentences(f"```text\n{words}\n```\nUse `{words}` here.\n"))
