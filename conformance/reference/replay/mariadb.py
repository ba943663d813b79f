"""The statements and types of MariaDB in a replay, where they differ from MySQL's (observed on 10.11.18).

What the replay does not follow is refused with the reason, and never guessed.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import ReplayError
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.replay.statements import ColumnDefinition
    from conformance.reference.sql.statement_words import Word

# MariaDB does not execute comments for MySQL 5.7 and later, and it alone executes its own and those for its versions.
_EXECUTED: Final = re.compile(rb"/\*(?:M!|!(\d{5,6}))")
_FIRST_OTHER: Final = 50700
_GROUPS: Final = 8  # of an IPv6 address


def followed(text: bytes, words: Sequence[Word]) -> tuple[list[Word], bool]:
    """The words of a statement as MySQL would write it, and whether it replaces the table that it makes.

    Raises for statements whose effect the replay does not follow.
    """
    kept = list(words)
    if not kept or not kept[0].among("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE"):
        return kept, False
    _check_comments(text)
    replaces = len(kept) > 2 and kept[1].among("OR") and kept[2].among("REPLACE")
    if replaces:
        del kept[1:3]
    at = 1
    while at < len(kept) and kept[at].among("TEMPORARY", "ONLINE", "IGNORE"):
        at += 1
    if at < len(kept) and kept[at].among("SEQUENCE") and not kept[0].among("DROP"):
        raise _refused("a sequence: its events change it in place, and are no rows of a table", kept)
    if at < len(kept) and kept[at].among("TABLE", "TABLES") and kept[0].among("CREATE", "ALTER", "RENAME"):
        if not kept[0].among("CREATE") and len(kept) > at + 2 and kept[at + 1].among("IF"):
            del kept[at + 1 : at + 3]  # IF EXISTS: a table that is not there is refused
        _check_table(kept, at)
    return kept, replaces


def _check_comments(text: bytes) -> None:
    for found in _EXECUTED.finditer(text):
        if found[1] is None or int(found[1]) >= _FIRST_OTHER:
            raise ReplayError(
                "statement", "a statement that cannot be followed: a comment that not every server executes",
                got=shown(text[:80]),
            )  # fmt: skip


def _check_table(words: Sequence[Word], start: int) -> None:
    for index in range(start, len(words) - 1):
        word, then = words[index], words[index + 1]
        if word.among("SYSTEM") and then.among("VERSIONING"):
            raise _refused("a system-versioned table: old rows stay in it, and SELECT does not show them", words)
        if word.among("PERIOD") and then.among("FOR"):
            raise _refused("a table with a period: a statement splits its rows", words)
        if words[0].among("ALTER") and index > start and word.among("IF") and then.among("EXISTS", "NOT"):
            raise _refused("ALTER TABLE ... IF [NOT] EXISTS for a part", words)


def _refused(why: str, words: Sequence[Word]) -> ReplayError:
    text = " ".join(word.text for word in words[:12])
    return ReplayError("statement", f"a statement that cannot be followed: {why}", got=text[:80])


# --- types that only the definition tells ----------------------------------------------------------------------------


def is_virtual(column: ColumnDefinition) -> bool:
    """Whether the column is computed and not stored: images that are not FULL leave it out."""
    return column.generated and not any(word.among("PERSISTENT", "STORED") for word in column.words)


def value_text(column: ColumnDefinition) -> Callable[[bytes], str] | None:
    """The text of a column that the log has as a plain binary string; ``None`` for all other types."""
    if column.words and not column.words[0].quoted:
        return _TEXTS.get(column.words[0].text.upper())
    return None


def _uuid(value: bytes) -> str:
    return str(uuid.UUID(bytes=value.ljust(16, b"\0")))


def _inet4(value: bytes) -> str:
    return ".".join(map(str, value.ljust(4, b"\0")))


def _inet6(value: bytes) -> str:
    """An address with its longest run of zeros left out; an IPv4 address inside in its own form."""
    value = value.ljust(16, b"\0")
    groups = [int.from_bytes(value[at : at + 2], "big") for at in range(0, 16, 2)]
    start, length = _longest_zeros(groups)
    if start == 0 and (length == 6 or (length == 5 and groups[5] == 0xFFFF)):
        return ("::" if length == 6 else "::ffff:") + _inet4(value[12:])
    if not length:
        return ":".join(f"{group:x}" for group in groups)
    before, behind = groups[:start], groups[start + length :]
    return ":".join(f"{group:x}" for group in before) + "::" + ":".join(f"{group:x}" for group in behind)


def _longest_zeros(groups: Sequence[int]) -> tuple[int, int]:
    best = (0, 0)
    at = 0
    while at < _GROUPS:
        end = at
        while end < _GROUPS and not groups[end]:
            end += 1
        if end - at > best[1]:
            best = (at, end - at)
        at = end + 1
    return best


_TEXTS: Final = {"UUID": _uuid, "INET4": _inet4, "INET6": _inet6}
