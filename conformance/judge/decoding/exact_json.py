"""JSON text as Python data without loss: no number is rounded, and no repeated member disappears."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from conformance.reference.portable import deeper_than

_MAX_DIGITS: Final = 4000  # Python refuses to convert longer integers
_MAX_LEVELS: Final = 400  # a document's 100 may take three each, where objects have repeated members
_TOO_DEEP: Final = "the document is nested too deeply"
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def parse(text: str | bytes) -> Any:
    """The value of a JSON text. Raises :class:`ValueError` for text that is no JSON.

    A number with a fraction or an exponent becomes a Decimal with all its digits, and so does ``-0``. An object with a
    repeated member becomes ``{"$object": [[key, value], ...]}``. Half of a surrogate pair is no character: it stays the
    escape that it was written as, so that every text can be stored and printed.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    if _HALF.search(text):
        text = _ESCAPE.sub(_kept, text)
    try:
        value = json.loads(
            text, parse_int=_integer, parse_float=_fraction, parse_constant=_no_number, object_pairs_hook=_members
        )
    except json.JSONDecodeError:  # whose words and place are those of one version of Python
        raise ValueError("the text is no JSON") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if deeper_than(_MAX_LEVELS, value):
        raise ValueError(_TOO_DEEP)
    return value


def _kept(escape: re.Match[str]) -> str:
    return f"\\\\u{escape['half']}" if escape["half"] else escape[0]


def _integer(text: str) -> int | Decimal:
    return Decimal(text) if text == "-0" or len(text) > _MAX_DIGITS else int(text)


def _fraction(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent is beyond every number
        raise ValueError(f"{text[:40]} is beyond the range of numbers") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else {"$object": [list(pair) for pair in pairs]}
