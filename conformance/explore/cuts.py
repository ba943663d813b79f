"""Shorter forms of a statement: without a list member, a clause or a call around an argument; simpler literals."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from conformance.explore.steps import json_literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD: Final = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|[A-Za-z_@][\w@.]*|\d+(?:\.\d+)?(?:e\d+)?|->>|->|\s+|.",
    re.DOTALL,
)
_CLAUSES: Final = frozenset(
    "WHERE ORDER LIMIT ON PARTITION SUBPARTITION ROW_FORMAT COMPRESSION ENGINE CHECK CONSTRAINT FOREIGN DEFAULT "  # noqa: SIM905
    "VIRTUAL STORED INVISIBLE NOT AND OR IGNORE UNIQUE AUTO_INCREMENT WITH DESC ASC GROUP HAVING".split()
)


def words_of(text: str) -> list[str]:
    """The statement in words, strings, numbers, blanks and signs."""
    return _WORD.findall(text)


def cuts(text: str) -> Iterator[str]:
    """Statements that say less, the boldest cuts first."""
    words = words_of(text)
    groups = _groups(words)
    if text[:7].upper() in ("INSERT ", "REPLACE"):
        yield from _without_column(words, groups)
    for start, end in groups:
        members = _members(words, start, end)
        if len(members) > 1:
            for at, (first, last) in enumerate(members):
                comma = (first - 1, last) if at else (first, last + 1)
                yield "".join(words[: comma[0]] + words[comma[1] :])
        if len(members) > 2:
            for at in range(1, len(members) - 1):  # a path and its value
                yield "".join(words[: members[at][0] - 1] + words[members[at + 1][1] :])
        if start and re.fullmatch(r"[A-Za-z_]\w*", words[start - 1]):
            for first, last in members:  # a call gives way to an argument
                yield "".join(words[: start - 1] + words[first:last] + words[end + 1 :])
    top = _members(words, -1, len(words))
    for at, (first, last) in enumerate(top):
        if len(top) > 1:
            comma = (first - 1, last) if at else (first, last + 1)
            yield "".join(words[: comma[0]] + words[comma[1] :])
    yield from _without_clause(words)
    for at, word in enumerate(words):
        if word in ("⟦", "⟧"):
            continue
        if word[0] == "'" and len(word) > 3 and not word.startswith("'$"):
            for simple in ("'a'", "'{}'", "'1'", *_smaller_documents(word)):
                if simple != word:
                    yield "".join([*words[:at], simple, *words[at + 1 :]])
        elif word.isdigit() and len(word) > 1:
            yield "".join([*words[:at], str(int(word) // 2), *words[at + 1 :]])


def _groups(words: list[str]) -> list[tuple[int, int]]:
    """Pairs of parentheses, the outer ones first."""
    open_, found = [], []
    for at, word in enumerate(words):
        if word == "(":
            open_.append(at)
        elif word == ")" and open_:
            found.append((open_.pop(), at))
    return sorted(found, key=lambda pair: pair[0] - pair[1])


def _members(words: list[str], start: int, end: int) -> list[tuple[int, int]]:
    """The ranges between the commas of one level."""
    depth, first, found = 0, start + 1, []
    for at in range(start + 1, end):
        word = words[at]
        depth += (word in ("(", "⟦")) - (word in (")", "⟧"))
        if word == "," and not depth:
            found.append((first, at))
            first = at + 1
    return [*found, (first, end)]


def _without_column(words: list[str], groups: list[tuple[int, int]]) -> Iterator[str]:
    """An INSERT without one of its columns, in the names and in every row."""
    tops = [pair for pair in groups if not any(other[0] < pair[0] and pair[1] < other[1] for other in groups)]
    tops.sort()
    if len(tops) < 2:
        return
    lists = [_members(words, *pair) for pair in tops]
    rows = [members for members in lists if len(members) == len(lists[0])]
    for column in range(len(lists[0]) if len(lists[0]) > 1 else 0):
        kept = list(words)
        for members in reversed(rows):
            first, last = members[column]
            cut = (first - 1, last) if column else (first, last + 1)
            kept[cut[0] : cut[1]] = []
        yield "".join(kept)


def _without_clause(words: list[str]) -> Iterator[str]:
    """From a keyword up to the next one, a comma or a parenthesis of the level, or the end."""
    for start, word in enumerate(words):
        if word.upper() not in _CLAUSES:
            continue
        depth = 0
        for end in range(start + 1, len(words) + 1):
            last = end == len(words)
            if not last:
                depth += (words[end] in ("(", "⟦")) - (words[end] in (")", "⟧"))
            if depth < 0 or last or (not depth and (words[end] == "," or words[end].upper() in _CLAUSES)):
                yield "".join(words[:start] + words[end:])
                if depth < 0 or last or words[end] == ",":
                    break


def _smaller_documents(literal: str) -> Iterator[str]:
    """A literal of a document without one of its members, or with a text of half the length."""
    try:
        document = json.loads(literal[1:-1].replace("''", "'").replace("\\\\", "\\"))
    except ValueError:
        return
    keys = list(document) if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        value = document[key]
        yield json_literal(
            {other: each for other, each in document.items() if other != key}
            if isinstance(document, dict)
            else document[:key] + document[key + 1 :]
        )
        if isinstance(value, str) and len(value) > 1:
            smaller = document.copy()
            smaller[key] = value[: len(value) // 2]
            yield json_literal(smaller)
