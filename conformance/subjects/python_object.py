"""The Python entry point, ``py:MODULE:OBJECT``: an object that a process of its own hosts as a conversation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.subjects.conversation import Conversation

if TYPE_CHECKING:
    from conformance.subjects.child import Limits

_HOST = Path(__file__).with_name("python_host.py")


def python_object(
    name: str,
    *,
    python: str = sys.executable,
    capabilities: tuple[str, ...] | None = None,
    called: str = "",
    limits: Limits | None = None,
) -> Conversation:
    """The conversation with a Python object; ``python`` may belong to another virtual environment."""
    return Conversation([python, str(_HOST), name], capabilities=capabilities, name=called, limits=limits)
