"""The words of a SQL statement in a QUERY event: enough to follow table definitions, for every statement.

Unlike predict's tokenizer, this one never refuses text: an unknown character is a symbol, and the reader of the words
decides. Comments are left out; comments with a version are code. An unclosed quote or comment ends with the text:
searching for its end behind every quote would take quadratic time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.sql.quoting import quote_identifier, quote_string

if TYPE_CHECKING:
    from collections.abc import Sequence

ANSI_QUOTES: Final = 4
NO_BACKSLASH_ESCAPES: Final = 1 << 20


class Word(NamedTuple):
    """``quoted``: a name in backticks (never a keyword), or a string."""

    text: str
    quoted: bool = False
    string: bool = False

    def among(self, *keywords: str) -> bool:
        """Whether the word is one of these keywords, given in upper case."""
        return not self.quoted and not self.string and self.text.upper() in keywords

    @property
    def is_name(self) -> bool:
        """Whether the word can name something; an empty name cannot (errors 1103 and 1166)."""
        return not self.string and bool(self.text) and (self.quoted or _NAME.fullmatch(self.text) is not None)


_SHARED: Final = 4096  # words of a statement that are kept once each
_SHORT: Final = 16  # characters of such a word at most
_LETTERS: Final = r"(?:[0-9A-Za-z_$]++|[^\x00-\x7f]++)++"  # ranges beyond Latin 1 would take long to compile
_NAME: Final = re.compile(_LETTERS)
# The first group may give back what it took, and never does: what follows fits everywhere. One that gives nothing back
# would lose two dashes that begin no comment under Python 3.11.2 (its issue 106052).
_PLAIN: Final = re.compile(
    rf"""(?:\s++|--(?=\s|$)[^\n]*+|\#[^\n]*+)*
    (?:(?P<word>{_LETTERS})
    | (?:/\*!\d*|/\*.*?(?:\*/|\Z)|\*/|\Z)
    | `(?P<name>(?:[^`]|``)*+)(?:`|\Z)
    | '(?P<single>(?:[^'\\]|\\.|'')*+)(?:'|\\?\Z)
    | "(?P<double>(?:[^"\\]|\\.|"")*+)(?:"|\\?\Z)
    | (?P<symbol>.))""",
    re.VERBOSE | re.DOTALL,
)
_NO_ESCAPES: Final = re.compile(
    _PLAIN.pattern.replace(r"[^'\\]|\\.|", "[^']|").replace(r'[^"\\]|\\.|', '[^"]|'), _PLAIN.flags
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_CLOSE: Final = frozenset(("->", "->>", "<=", ">=", "<>", "!=", "||", "&&"))  # two symbols that are one operator
_PREFIXES: Final = frozenset("xXbBnN")
# % and _ keep their backslash, which has a meaning in patterns only (manual, String Literals).
_ESCAPES: Final = {
    "0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_",
}  # fmt: skip


def split_words(sql: str, sql_mode: int = 0) -> list[Word]:
    """All words of a statement."""
    escapes = not sql_mode & NO_BACKSLASH_ESCAPES
    words: list[Word] = []
    plain: dict[str, Word] = {}  # a megabyte of brackets is a million words
    strings: dict[str, Word] = {}
    for match in (_PLAIN if escapes else _NO_ESCAPES).finditer(sql):
        kind = match.lastgroup
        if kind is None:  # a comment, or the end
            continue
        text: str = match[kind]
        if kind in {"word", "symbol"}:
            words.append(plain.get(text) or _shared(plain, text, string=False))
        elif kind == "name":
            words.append(Word(text.replace("``", "`"), quoted=True))
        elif kind == "double" and sql_mode & ANSI_QUOTES:
            words.append(Word(text.replace('""', '"'), quoted=True))
        else:
            quote = "'" if kind == "single" else '"'
            text = text.replace(quote * 2, quote)
            if escapes and "\\" in text:
                text = _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)
            words.append(strings.get(text) or _shared(strings, text, string=True))
    return words


class Placed(NamedTuple):
    """A word, and where it stands in its statement."""

    word: Word
    start: int
    end: int


def placed_words(sql: str) -> list[Placed]:
    """The words of :func:`split_words` with the characters that they take, for the default sql_mode."""
    matches = [match for match in _PLAIN.finditer(sql) if match.lastgroup is not None]
    places = []
    for match, word in zip(matches, split_words(sql), strict=True):
        kind = match.lastgroup or ""
        quote = kind not in ("word", "symbol")
        places.append(Placed(word, match.start(kind) - quote, match.end()))
    return places


def sql_text(words: Sequence[Word]) -> str:
    """The words as a text that has them again, without the comments that stood between them."""
    text, last = "", ""
    for word in words:
        piece = quote_identifier(word.text) if word.quoted else quote_string(word.text) if word.string else word.text
        close = "." in (last, piece) or piece == "(" or last + piece in _CLOSE or (word.string and last in _PREFIXES)
        text += piece if close or not text else f" {piece}"
        last = "->" if last == "-" and piece == ">" else piece
    return text


def _shared(shared: dict[str, Word], text: str, *, string: bool) -> Word:
    """A new word, kept for the next time where it is short."""
    word = Word(text, string=string)
    if len(text) <= _SHORT and len(shared) < _SHARED:
        shared[text] = word
    return word
