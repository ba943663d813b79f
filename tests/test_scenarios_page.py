"""The page about the scenarios of the server's own test-suite names checks that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/server-test-suite.md"


def named() -> list[tuple[str, str]]:
    """Module and function of every check on the page; a name without its module belongs to the one before it."""
    found: list[tuple[str, str]] = []
    module = ""
    for match in re.finditer(r"`(\w+/check\w*\.py)?::(test_\w+)`", PAGE.read_text("utf-8")):
        module = match[1] or module
        found.append((module, match[2]))
    return found


def test_every_check_on_the_page_exists() -> None:
    assert len(named()) > 30
    for module, function in named():
        text = (ROOT / "conformance/checks" / module).read_text("utf-8")
        assert re.search(rf"^def {function}\(", text, re.MULTILINE), f"{module}::{function}"


def test_no_row_is_without_a_check_or_a_reason() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 25
    for row in rows:
        assert len(row) == 4, row
        assert row[2].strip() or row[3].strip(), f"{row[0].strip()}: neither a check nor why there is none"


def test_a_check_that_is_missing_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8").replace("::test_table_maps`", "::test_table_mops`"), "utf-8")
    monkeypatch.setattr(sys.modules[__name__], "PAGE", page)
    with pytest.raises(AssertionError, match="test_table_mops"):
        test_every_check_on_the_page_exists()
