"""Substitutes for what depends on Python's version: values in messages, small letters, base64, JSON, deep calls.

Python's Unicode tables grow with every version, and so does what ``repr()`` shows and ``str.lower()`` changes. What
``base64`` takes for padding has changed as well, and how deep ``json`` reads depends on the stack.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LEVELS: Final = 100  # of JSON that no document of a table is: dictionary entries, keyrings
# These are compiled when they are used, which most commands do not.
_ESCAPE: Final = (
    r"""(?a)(?<![\w'"])b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|.)"""
)
# Controls, spaces and what has no form of its own, surrogates, and for private use: in no version will they be letters.
_HIDDEN: Final = (
    "[\x00-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\ud800-\uf8ff\ufeff\ufff0-\ufffb\ufffe\uffff]|[\U000e0000-\U0010ffff]"
)
# Letters that 9.7.4 takes for their small ones in names, asked for every one that Python 3.11 has a small one of.
_CAPITAL: Final = (
    "[A-Z\u00c0-\u012e\u0132-\u021e\u0222-\u0232\u0386-\u03ab\u03da-\u03ee\u0400-\u0480\u048c-\u04be\u04c1-\u04c3\u04c7"
    "\u04cb\u04d0-\u04f4\u04f8\u0531-\u0556\u1e00-\u1e94\u1ea0-\u1ef8\u1f08-\u1ffc\u2126\u212a\u212b\u2160-\u216f"
    "\u24b6-\u24cf\uff21-\uff3a]"
)
_BASE64: Final = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"


def shown(value: object) -> str:
    """As ``repr()``, but which characters are escaped depends on no table of Python's."""
    text = ascii(value)
    return text if "\\" not in text or isinstance(value, bytes) else re.sub(_ESCAPE, _as_it_is, text)


def _as_it_is(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return match[0]
    char = chr(int(digits, 16))
    return match[0] if re.match(_HIDDEN, char) else char


def folded(name: str) -> str:
    """A name of SQL in small letters: two that are equal then are one name to the server (observed on 9.7.4)."""
    return name.lower() if name.isascii() else re.sub(_CAPITAL, lambda match: match[0].lower(), name)


def capitals(text: str) -> str:
    """The text with capitals for the letters A to Z."""
    return text.upper() if text.isascii() else re.sub("[a-z]+", lambda match: match[0].upper(), text)


def base64_bytes(text: str) -> bytes | None:
    """The bytes of base64 text; ``None`` if it has anything else, or padding that is not needed.

    Line ends are permitted, as MySQL makes them.
    """
    from base64 import b64decode

    text = text.replace("\n", "")
    return b64decode(text) if re.fullmatch(_BASE64, text) else None


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text of other programs. Raises ``ValueError`` where there is none, or one too deep."""
    import json

    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if deeper_than(MAX_LEVELS, value):
        raise ValueError("too deep")
    return value


def deeper_than(levels: int, value: Any) -> bool:
    """Whether more lists and dictionaries than so many are inside each other. Needs no recursion."""
    layer: list[Any] = [value]
    for _ in range(levels + 1):
        below: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                below += [*item.values(), None]
            elif isinstance(item, list):
                below += [*item, None]
        layer = below
        if not layer:
            return False
    return True


def is_number(text: str) -> bool:
    """Whether a text has digits from 0 to 9, and nothing else."""
    return text.isascii() and text.isdigit()


def what_lacks(error: Exception) -> str:
    """The end of a message about data that are not complete: the name that is not there. Other words are Python's."""
    return f": {shown(error.args[0])} is missing" if isinstance(error, KeyError) and error.args else ""


_deep = Lock()
_limits: list[int] = []  # how it was before, and once for each that asked for more


@contextmanager
def room_for(frames: int) -> Iterator[None]:
    """So many calls of functions in Python inside each other, whatever the stack holds already.

    A reader with a limit of its own meets that one first. Calls of Python functions by Python functions take none of
    the stack of C, under 3.11 and all later versions.
    """
    used, frame = 0, sys._getframe()  # noqa: SLF001 - the only way to count them
    while frame.f_back is not None:
        frame, used = frame.f_back, used + 1
    with _deep:
        _limits.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_limits[-1], used + frames))
    try:
        yield
    finally:
        with _deep:
            before = _limits[0]
            _limits.pop()
            if not _limits:
                sys.setrecursionlimit(before)
