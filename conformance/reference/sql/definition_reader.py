"""A cursor over the words of a statement that defines tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from conformance.reference.errors import ReplayError
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reference.sql.statement_words import Word


TableName: TypeAlias = tuple[str, str]


class Reader:
    """A cursor over the words of one statement."""

    def __init__(self, words: Sequence[Word], schema: str) -> None:
        self.words = words
        self.schema = schema
        self.pos = 0

    def __bool__(self) -> bool:
        return self.pos < len(self.words)

    def at(self, *keywords: str) -> bool:
        return self.pos < len(self.words) and self.words[self.pos].among(*keywords)

    def take(self, *keywords: str) -> bool:
        """Pass over these keywords if all of them come next; returns whether they did."""
        words, pos = self.words, self.pos
        for keyword in keywords:
            if pos >= len(words) or not words[pos].among(keyword):
                return False
            pos += 1
        self.pos = pos
        return True

    def next(self) -> Word:
        if not self:
            raise self.refused("the statement ends too early")
        self.pos += 1
        return self.words[self.pos - 1]

    def name(self) -> str:
        word = self.next()
        if not word.is_name:
            raise self.refused(f"a name is expected, not {shown(word.text)}")
        return word.text

    def table(self) -> TableName:
        first = self.name()
        return (first, self.name()) if self.take(".") else (self.schema, first)

    def parenthesis(self) -> Sequence[Word]:
        """The words inside the parentheses that come next."""
        if not self.take("("):
            raise self.refused("an opening parenthesis is expected")
        start = self.pos
        level = 1
        while level:
            word = self.next()
            if not word.quoted and not word.string:
                level += (word.text == "(") - (word.text == ")")
        return self.words[start : self.pos - 1]

    def rest(self) -> Sequence[Word]:
        start, self.pos = self.pos, len(self.words)
        return self.words[start:]

    def refused(self, why: str) -> ReplayError:
        text = " ".join(word.text for word in self.words[:12])
        return ReplayError("statement", f"a statement that cannot be followed: {why}", got=text[:80])


def split_list(words: Iterable[Word]) -> Iterator[list[Word]]:
    """Split the words at the commas outside parentheses. Nothing between two commas is no part."""
    part: list[Word] = []
    level = 0
    for word in words:
        if not word.quoted and not word.string:
            level += (word.text == "(") - (word.text == ")")
            if word.text == "," and not level:
                if part:
                    yield part
                part = []
                continue
        part.append(word)
    if part:
        yield part
