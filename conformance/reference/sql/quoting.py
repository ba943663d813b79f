"""Strings and names as SQL text, for the default sql_mode (no ANSI_QUOTES, no NO_BACKSLASH_ESCAPES)."""

from __future__ import annotations

from typing import Final

from conformance.reference.errors import EncodeError

_QUOTED: Final = tuple(
    {"\\": "\\\\", "'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z", "\t": "\\t", "\b": "\\b"}.items()
)


def quote_string(text: str) -> str:
    """A string literal. Refuses text that is not valid UTF-8, which no literal of a utf8mb4 connection makes."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise EncodeError(
                "bad-utf8", "no SQL literal makes a string of invalid UTF-8", offset=error.start
            ) from None
    for plain, escaped in _QUOTED:  # the backslash first; str.translate() takes up to eight hundred times as long
        if plain in text:
            text = text.replace(plain, escaped)
    return f"'{text}'"


def quote_identifier(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"
