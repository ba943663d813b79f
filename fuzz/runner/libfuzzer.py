"""libFuzzer's output on stderr, and the meaning of its exit statuses (measured with atheris 3.0 and 3.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# INITED NEW REDUCE RELOAD pulse DONE; each of the figures after it may be missing.
_EVENT: Final = re.compile(r"^#(?P<runs>\d+)\t?\s*(?P<event>[A-Za-z]+)\s(?P<rest>.*)$")
_FIGURE: Final = re.compile(r"\b(?P<name>cov|ft|corp|exec/s): (?P<value>\d+)")
_FILE: Final = re.compile(r"Test unit written to (?P<path>.+)$")

_BEHIND_FIRST: Final = ("INITED", "NEW", "REDUCE", "DONE")

HANG: Final = 70
OUT_OF_MEMORY: Final = 71
CRASH: Final = 77
_KINDS: Final = {HANG: "hang", OUT_OF_MEMORY: "memory", CRASH: "death"}


@dataclass(slots=True)
class Figures:
    """Figures from the last lines. ``edges`` None: the lines showed no coverage."""

    edges: int | None = None
    features: int = 0
    corpus: int = 0
    artifact: str = ""
    read_all: bool = False  # all inputs that were there at the beginning were run

    def read(self, line: str) -> None:
        """Take one line of stderr."""
        event = _EVENT.match(line)
        if event is not None:
            found = {figure["name"]: int(figure["value"]) for figure in _FIGURE.finditer(event["rest"])}
            if "cov" in found:
                self.edges = max(self.edges or 0, found["cov"])
            self.features = max(self.features, found.get("ft", 0))
            self.corpus = found.get("corp", self.corpus)
            self.read_all = self.read_all or event["event"] in _BEHIND_FIRST
            return
        written = _FILE.search(line)
        if written is not None:
            self.artifact = written["path"]


def kind_of(status: int) -> str | None:
    """The kind of failure that a status reports for the last input: None if no failure."""
    if status == 0:
        return None
    return _KINDS.get(status, "death")


def words_of(status: int) -> str:
    """A status in words."""
    if status < 0:
        return f"ended by signal {-status}"
    known = {HANG: "did not end in time", OUT_OF_MEMORY: "used too much memory", CRASH: "ended by a deadly signal"}
    return known.get(status, f"ended with status {status}")


def dictionary(tokens: tuple[bytes, ...]) -> str:
    """Tokens in the form of ``-dict``."""
    lines = ('"' + "".join(f"\\x{byte:02X}" for byte in token) + '"' for token in dict.fromkeys(tokens) if token)
    return "".join(f"{line}\n" for line in lines)
