"""The README's two blocks, as a newcomer pastes them, and what a run of one said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
MAIN_JOB: Final = "main job"
TESTS: Final = "tests"
COMPILED_TESTS: Final = ".venv/bin/python -m tests.builds.compiled\n"
_BLOCK: Final = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CLOSING: Final = re.compile(r"^=*\s*((?:\d+ \w+,? )+)in [\d.]+s", re.MULTILINE)
_HEADLINE: Final = re.compile(r"^.*\b(?:NON)?CONFORMANT\b.*$|^.*\b(?:INCOMPLETE|COULD NOT RUN)\b.*$", re.MULTILINE)


def blocks(readme: str) -> dict[str, str]:
    """The shell lines of the first two fenced blocks. Raises ValueError where they are not the two commands."""
    found = _BLOCK.findall(readme)[:2]
    if len(found) < 2 or "conformance" not in found[0] or "/pytest" not in found[1]:
        raise ValueError("README.md: the first two code blocks are not the main job and the tests")
    return dict(zip((MAIN_JOB, TESTS), found, strict=True))


def with_options(block: str, options: str) -> str:
    """The block with more options behind its call of pytest."""
    return re.sub(r"^(\S*/pytest .*)$", lambda call: f"{call[1]} {options}", block, flags=re.MULTILINE)


def outcome(block: str, output: str) -> str:
    """The outcome of a block's run in a few words of its output: pytest's counts, or the verdict of the main job."""
    if block == TESTS:
        counts = _CLOSING.findall(output)
        return "; ".join(each.strip(" ,") for each in counts) if counts else "no closing line of pytest"
    lines = _HEADLINE.findall(output)
    return re.sub(r"\x1b\[[\d;]*m", "", lines[-1]).strip() if lines else "no verdict"
