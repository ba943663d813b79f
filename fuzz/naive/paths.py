"""JSON paths as lists of legs: (kind, value) with the kinds member, cell, last, and several (partial-update 4.1)."""

from __future__ import annotations

import json
import re
from typing import Final, TypeAlias

from fuzz.naive.pieces import Refused
from fuzz.naive.text import quoted

Leg: TypeAlias = "tuple[str, str | int]"

_SPACE: Final = r"[ \t\n\r\v\f]*"
_CELL: Final = rf"(?:last(?:{_SPACE}-{_SPACE}\d+)?|\d+)"
_TOKEN: Final = re.compile(
    rf"""\.{_SPACE}(?: (?P<members>\*)
                     | (?P<quoted>"(?:[^"\\]|\\.)*")
                     | (?P<bare>[^\ \t\n\r\v\f.\[*"][^\ \t\n\r\v\f.\[*]*) )
       | \[{_SPACE}(?: (?P<cells>\*)
                     | (?P<first>{_CELL})[ \t\n\r\v\f]+to[ \t\n\r\v\f]+(?P<to>{_CELL})
                     | (?P<cell>{_CELL}) ){_SPACE}\]
       | (?P<deep>\*\*)(?!\*)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_CONNECTORS: Final = frozenset((0x203F, 0x2040, 0x2054, 0xFE33, 0xFE34, 0xFE4D, 0xFE4E, 0xFE4F, 0xFF3F, 0x200C, 0x200D))


def read(data: bytes) -> list[Leg]:
    """The legs of a path. Raises :class:`Refused`."""
    text = data.decode("utf-8", "surrogateescape")
    at = _after_space(text, 0)
    if text[at : at + 1] != "$":
        raise Refused("no $")
    at = _after_space(text, at + 1)
    legs: list[Leg] = []
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Refused(f"no leg at {at}")
        legs.append(_leg(found))
        at = _after_space(text, found.end())
    if legs and legs[-1] == ("several", "**"):
        raise Refused("** at the end")
    return legs


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r\v\f":
        at += 1
    return at


def _leg(found: re.Match[str]) -> Leg:
    if found["bare"] is not None:
        if not is_identifier(found["bare"]):
            raise Refused("a name without quotes")
        return "member", found["bare"]
    if found["quoted"] is not None:
        try:
            name: str = json.loads(found["quoted"])
        except ValueError:
            raise Refused("no JSON string") from None
        if _surrogates(name) != _surrogates(found["quoted"]):
            raise Refused("half a pair")
        return "member", name
    if found["cell"] is not None:
        return _cell(found["cell"])
    if found["first"] is not None:
        first, last = _cell(found["first"]), _cell(found["to"])
        backwards = first[1] < last[1] if first[0] == "last" else first[1] > last[1]  # type: ignore[operator]
        if first[0] == last[0] and backwards:
            raise Refused("a range runs backwards")
        return "several", f"[{cell(first)} to {cell(last)}]"
    return "several", "**" if found["deep"] else ".*" if found["members"] else "[*]"


def _cell(text: str) -> Leg:
    digits = text.removeprefix("last").strip(" \t\n\r\v\f-") or "0"
    if len(digits.lstrip("0")) > 10 or int(digits) > 0xFFFF_FFFF:
        raise Refused("an index over 2^32-1")
    return "last" if text.startswith("last") else "cell", int(digits)


def _surrogates(text: str) -> list[str]:
    """Bytes that are not UTF-8, and halves of pairs that escapes made."""
    return [character for character in text if 0xD800 <= ord(character) <= 0xDFFF]


def write(legs: list[Leg]) -> str:
    """The canonical text."""
    text = "$"
    for leg in legs:
        text += _written(leg)
    return text


def _written(leg: Leg) -> str:
    kind, value = leg
    if kind == "member":
        return "." + (str(value) if is_identifier(str(value)) else quoted(str(value)))
    return str(value) if kind == "several" else f"[{cell(leg)}]"


def cell(leg: Leg) -> str:
    """The text between the brackets of a cell."""
    kind, value = leg
    return str(value) if kind == "cell" else f"last-{value}" if value else "last"


def is_identifier(name: str) -> bool:
    """Whether a name needs no quotes."""
    for place, character in enumerate(name):
        point = ord(character)
        if 0xDC80 <= point <= 0xDCFF:  # stands for a byte that is not UTF-8
            return False
        low, mark = point & 0xFF, 0x300 <= point <= 0x36F
        letter = not mark and (0x41 <= low <= 0x5A or 0x61 <= low <= 0x7A or 0x80 <= low <= 0xFE)
        later = mark or 0x30 <= low <= 0x39 or point in _CONNECTORS
        if not (letter or character in "$_" or (place and later)):
            return False
    return name != ""
