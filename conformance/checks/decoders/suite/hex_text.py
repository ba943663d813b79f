"""Bytes as people write them: hexadecimal text with blanks, and with comments behind ``#``."""

from __future__ import annotations

import re
from typing import Final

_COMMENT: Final = re.compile(r"#[^\n]*")


class WrongHex(ValueError):
    """Text that has other characters than hexadecimal digits, blanks and comments."""


def bytes_in(text: str) -> bytes:
    """The bytes of such text."""
    try:
        return bytes.fromhex(_COMMENT.sub("", text))
    except ValueError as problem:
        raise WrongHex(f"hex: {problem}: {text[:60]!r}") from None
