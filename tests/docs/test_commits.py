"""Commits say what they do in a subject of at most 72 characters, and why in a body."""

from __future__ import annotations

import shutil
import subprocess
from typing import Final

import pytest

from tests.docs.pages import ROOT

BEGINNING: Final = "7734fade5070e8dd5945fa15d1817776f0a6c2be"  # older subjects are as they are
LONGEST: Final = 72
_BETWEEN: Final = "\x1e"


def wrong(message: str) -> str | None:
    """Say what is wrong with a commit message."""
    subject, _, body = message.strip().partition("\n\n")
    if len(subject) > LONGEST or "\n" in subject:
        return f"the subject has {len(subject)} characters: {subject}"
    if subject.endswith(".") or not subject[:1].isupper():
        return f"the subject is no imperative with a capital letter and without a full stop: {subject}"
    return None if body.strip() else f"no body says why: {subject}"


def test_messages_say_what_and_why() -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not on this machine")
    git = ["git", "-C", str(ROOT)]
    known = subprocess.run([*git, "merge-base", "--is-ancestor", BEGINNING, "HEAD"], capture_output=True, check=False)
    if known.returncode != 0:
        pytest.skip("no clone with the history since this rule")
    command = [*git, "log", "--no-merges", f"--format=%B{_BETWEEN}", f"{BEGINNING}..HEAD"]
    messages = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(_BETWEEN)
    assert [said for message in messages if message.strip() and (said := wrong(message))] == []


@pytest.mark.parametrize(
    "message",
    ["Say it", "say it\n\nBecause.", "Say it.\n\nBecause.", f"Say {'it' * 40}\n\nBecause.", "Say\nit\n\nBecause."],
)
def test_a_message_that_says_too_little_or_too_much_is_seen(message: str) -> None:
    assert wrong(message)
    assert wrong("Say it\n\nBecause.") is None
