"""The page about the scenarios of the server's own test-suite names checks that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/server-test-suite.md"


def named() -> list[tuple[str, str]]:
    """Module and function of every check on the page; a name without its module belongs to the one before it."""
    found: list[tuple[str, str]] = []
    module = ""
    for match in re.finditer(r"`(test_\w+\.py)?::(test_\w+)`", PAGE.read_text("utf-8")):
        module = match[1] or module
        found.append((module, match[2]))
    return found


def test_every_check_on_the_page_exists() -> None:
    assert len(named()) > 30
    for module, function in named():
        text = (ROOT / "conformance/checks" / module).read_text("utf-8")
        assert re.search(rf"^def {function}\(", text, re.MULTILINE), f"{module}::{function}"
