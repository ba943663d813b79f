"""The statements of one packet."""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(r"""(?:[^;'"`]|'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`[^`]*+`)+""", re.DOTALL)
_BODY: Final = re.compile(r"\s*CREATE\b.*\bBEGIN\b", re.DOTALL | re.IGNORECASE)


def split(text: str) -> list[str]:
    """The statements between semicolons; the body of a program stays with it."""
    out: list[str] = []
    for piece in (match[0].strip() for match in _PIECE.finditer(text)):
        if out and _BODY.match(out[-1]) and not out[-1].upper().endswith("END"):
            out[-1] += f"; {piece}"
        elif piece:
            out.append(piece)
    return out
