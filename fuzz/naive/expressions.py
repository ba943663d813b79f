"""The right-hand side of an UPDATE, read as text and evaluated on plain values: calls of the JSON functions.

Beside them only what they take: the column ``j``, strings without quotes and backslashes inside, whole numbers, TRUE,
FALSE, NULL. Of everything else there is no opinion.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Final

from fuzz.naive.functions import FUNCTIONS
from fuzz.naive.pieces import Refused
from fuzz.naive.terms import NULL, NoOpinion, Term, document

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_TOKEN: Final = re.compile(
    r"\s*(?:'(?P<text>[^'\\]*)'|(?P<number>\d+)\b|(?P<word>[A-Za-z_]+)|(?P<sign>[(),]))", re.ASCII
)
_LONGEST_NUMBER: Final = 18  # digits that a BIGINT has room for


def evaluate(sql: str, column: JsonValue) -> Term:
    """Evaluate a right-hand side over the column: JSON or NULL. Raises :class:`Refused` and :class:`NoOpinion`."""
    reader = _Reader(sql, column)
    try:
        found = document(reader.term())
    except Refused:
        if "NULL" in sql.upper():  # which comes first decides: what stands behind NULL may not be looked at
            raise NoOpinion from None
        raise
    if reader.tokens:
        raise NoOpinion
    return found


class _Reader:
    """The tokens that are left."""

    def __init__(self, sql: str, column: JsonValue) -> None:
        self.column = column
        self.tokens: list[tuple[str, str]] = []
        at, text = 0, sql.rstrip()
        while at < len(text):
            token = _TOKEN.match(text, at) if text.isprintable() else None
            if token is None:
                raise NoOpinion
            self.tokens.append((str(token.lastgroup), str(token[str(token.lastgroup)])))
            at = token.end()
        self.tokens.reverse()

    def next(self) -> tuple[str, str]:
        if not self.tokens:
            raise NoOpinion
        return self.tokens.pop()

    def term(self) -> Term:
        kind, text = self.next()
        word = text.upper()
        if kind == "text":
            return Term("text", text)
        if kind == "number" and len(text) <= _LONGEST_NUMBER:
            return Term("plain", int(text))
        if kind != "word":
            raise NoOpinion
        if word in ("TRUE", "FALSE"):
            return Term("plain", word == "TRUE")
        if word == "NULL":
            return NULL
        if word == "J":
            return Term("json", deepcopy(self.column))  # so that no two parts of a result are one object
        if word not in FUNCTIONS or self.next() != ("sign", "("):
            raise NoOpinion
        given = [self.term()]
        while (sign := self.next()) == ("sign", ","):
            try:
                given.append(self.term())
            except Refused:  # a server may not come to it
                raise NoOpinion from None
        if sign != ("sign", ")"):
            raise NoOpinion
        return FUNCTIONS[word](given)
