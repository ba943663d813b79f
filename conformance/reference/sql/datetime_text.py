"""A date with a time in the forms that MySQL's programs take for their options (mysqlbinlog-output 8).

The numbers stand between punctuation of any kind, or without any: ``2026-11-20 06:01:12``, ``26.11.20T6:1``,
``20261120060112``. A date alone is refused, as mysqlbinlog refuses it. A fraction of a second is dropped.
"""

from __future__ import annotations

import re
from calendar import monthrange
from typing import Final

_APART: Final = r"[^\w\s]+"  # punctuation
_FRACTION: Final = r"(?:\.\d*)?\s*"
_PARTS: Final = re.compile(
    rf"\s*(\d{{4}}|\d\d){_APART}(\d{{1,9}}){_APART}(\d{{1,9}})(?:T|\s+|{_APART})(\d{{1,9}})(?:{_APART}(\d{{1,9}})(?:{_APART}(\d{{1,9}}){_FRACTION})?)?\s*",
    re.ASCII,
)
_DIGITS: Final = re.compile(rf"\s*(\d{{4}}|\d\d)(\d\d)(\d\d)T?(\d\d)(\d\d)(\d\d){_FRACTION}", re.ASCII)
_CENTURY: Final = 70  # years of two digits from here on are in the 20th century


def parse_datetime(text: str) -> tuple[int, int, int, int, int, int] | None:
    """Year, month, day, hour, minute and second; ``None`` if the text is no moment."""
    match = _DIGITS.fullmatch(text) or _PARTS.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    if len(match[1]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    if not (year and 1 <= month <= 12) or not 1 <= day <= monthrange(year, month)[1]:
        return None
    return (year, month, day, hour, minute, second) if hour < 24 and max(minute, second) < 60 else None
