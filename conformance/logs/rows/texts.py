"""Text of a log as UTF-8 bytes, in the command's form."""

from __future__ import annotations


def utf8(value: str) -> bytes:
    """Text as bytes: those that are not valid UTF-8 become escapes."""
    return value.encode("utf-8", "backslashreplace")


def utf8_or_none(value: str | None) -> bytes | None:
    """The same, where there may be none."""
    return None if value is None else value.encode("utf-8", "backslashreplace")
