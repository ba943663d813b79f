"""Classes of differences between texts."""

from __future__ import annotations

from typing import Final

_CODECS: Final = ("latin-1", "cp1252", "utf-8", "utf-16-be", "ascii")


def text_cause(expected: str, got: str) -> str:
    """The class of a difference between two texts."""
    if not got:
        return "empty"
    if "\ufffd" in got and "\ufffd" not in expected:
        return "replaced characters"
    if got in (expected.rstrip(" "), expected.rstrip("\0")):
        return "cut filling"
    if expected.startswith(got):
        return "cut"
    if _reinterpreted(expected, got):
        return "character set"
    return "longer" if got.startswith(expected) else ""


def _reinterpreted(expected: str, got: str) -> bool:
    """Whether the bytes of one text, read in another character set, give the other."""
    for written in _CODECS:
        for read in _CODECS:
            try:
                if written != read and got.encode(read) == expected.encode(written):
                    return True
            except UnicodeError:
                continue
    return False
