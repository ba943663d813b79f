"""JSON text as Python data without loss: no number is rounded, and no repeated member disappears."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any, Final

_MAX_DIGITS: Final = 4000  # Python refuses to convert longer integers


def parse(text: str | bytes) -> Any:
    """The value of a JSON text. Raises :class:`ValueError` for text that is no JSON.

    A number with a fraction or an exponent becomes a Decimal with all its digits, and so does ``-0``. An object with a
    repeated member becomes ``{"$object": [[key, value], ...]}``.
    """
    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_fraction, parse_constant=_no_number, object_pairs_hook=_members
        )
    except RecursionError:
        raise ValueError("the document is nested too deeply") from None


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
