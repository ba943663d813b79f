"""Shorter forms of one statement: without a list member, a clause or a call around an argument, with simpler literals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|[A-Za-z_@][\w@.]*|\d+(?:\.\d+)?(?:e\d+)?|->>|->|\s+|.",
    re.DOTALL,
)
_CLAUSES: Final = frozenset(
    [
        "WHERE",
        "ORDER",
        "LIMIT",
        "ON",
        "PARTITION",
        "SUBPARTITION",
        "ROW_FORMAT",
        "COMPRESSION",
        "ENGINE",
        "CHECK",
        "CONSTRAINT",
        "FOREIGN",
        "DEFAULT",
        "VIRTUAL",
        "STORED",
        "INVISIBLE",
        "NOT",
        "AND",
        "OR",
        "IGNORE",
        "UNIQUE",
        "AUTO_INCREMENT",
        "WITH",
        "DESC",
        "ASC",
        "GROUP",
        "HAVING",
    ]
)


def tokens_of(text: str) -> list[str]:
    """The statement in words, strings, numbers, blanks and signs."""
    return _TOKEN.findall(text)


def cuts(text: str) -> Iterator[str]:
    """Statements that say less, the boldest cuts first."""
    tokens = tokens_of(text)
    groups = _groups(tokens)
    if text[:7].upper() in ("INSERT ", "REPLACE"):
        yield from _without_column(tokens, groups)
    for start, end in groups:
        members = _members(tokens, start, end)
        if len(members) > 1:
            for at, (first, last) in enumerate(members):
                comma = (first - 1, last) if at else (first, last + 1)
                yield "".join(tokens[: comma[0]] + tokens[comma[1] :])
        if len(members) > 2:
            for at in range(1, len(members) - 1):  # a path and its value
                yield "".join(tokens[: members[at][0] - 1] + tokens[members[at + 1][1] :])
        if start and re.fullmatch(r"[A-Za-z_]\w*", tokens[start - 1]):
            for first, last in members:  # a call gives way to an argument
                yield "".join(tokens[: start - 1] + tokens[first:last] + tokens[end + 1 :])
    top = _members(tokens, -1, len(tokens))
    for at, (first, last) in enumerate(top):
        if len(top) > 1:
            comma = (first - 1, last) if at else (first, last + 1)
            yield "".join(tokens[: comma[0]] + tokens[comma[1] :])
    yield from _without_clause(tokens)
    for at, token in enumerate(tokens):
        if token in ("⟦", "⟧"):
            continue
        if token[0] == "'" and len(token) > 3 and not token.startswith("'$"):
            for simple in ("'a'", "'{}'", "'1'"):
                if simple != token:
                    yield "".join([*tokens[:at], simple, *tokens[at + 1 :]])
        elif token.isdigit() and len(token) > 1:
            yield "".join([*tokens[:at], str(int(token) // 2), *tokens[at + 1 :]])


def _groups(tokens: list[str]) -> list[tuple[int, int]]:
    """Pairs of parentheses, the outer ones first."""
    open_, found = [], []
    for at, token in enumerate(tokens):
        if token == "(":
            open_.append(at)
        elif token == ")" and open_:
            found.append((open_.pop(), at))
    return sorted(found, key=lambda pair: pair[0] - pair[1])


def _members(tokens: list[str], start: int, end: int) -> list[tuple[int, int]]:
    """The ranges between the commas of one level."""
    depth, first, found = 0, start + 1, []
    for at in range(start + 1, end):
        token = tokens[at]
        depth += (token in ("(", "⟦")) - (token in (")", "⟧"))
        if token == "," and not depth:
            found.append((first, at))
            first = at + 1
    return [*found, (first, end)]


def _without_column(tokens: list[str], groups: list[tuple[int, int]]) -> Iterator[str]:
    """An INSERT without one of its columns, in the names and in every row."""
    tops = [pair for pair in groups if not any(other[0] < pair[0] and pair[1] < other[1] for other in groups)]
    tops.sort()
    if len(tops) < 2:
        return
    lists = [_members(tokens, *pair) for pair in tops]
    rows = [members for members in lists if len(members) == len(lists[0])]
    for column in range(len(lists[0]) if len(lists[0]) > 1 else 0):
        kept = list(tokens)
        for members in reversed(rows):
            first, last = members[column]
            cut = (first - 1, last) if column else (first, last + 1)
            kept[cut[0] : cut[1]] = []
        yield "".join(kept)


def _without_clause(tokens: list[str]) -> Iterator[str]:
    """From a keyword up to the next one, a comma or a parenthesis of the level, or the end."""
    for start, token in enumerate(tokens):
        if token.upper() not in _CLAUSES:
            continue
        depth = 0
        for end in range(start + 1, len(tokens) + 1):
            last = end == len(tokens)
            if not last:
                depth += (tokens[end] in ("(", "⟦")) - (tokens[end] in (")", "⟧"))
            if depth < 0 or last or (not depth and (tokens[end] == "," or tokens[end].upper() in _CLAUSES)):
                yield "".join(tokens[:start] + tokens[end:])
                if depth < 0 or last or tokens[end] == ",":
                    break
