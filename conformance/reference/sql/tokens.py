r"""The tokens of a SQL expression.

The kit has its own tokenizer because values must be exact. A general SQL tokenizer returns the *content* of a string or
number, and loses the details that decide its type in MySQL. Those are the digits as written, ``1.`` against ``1``,
``\%`` against ``%``, ``x'0a'`` against ``0x0a``, and the position for error messages. This tokenizer accepts only
tokens of predict's grammar and refuses the rest, comments included.

Everything here is for the default sql_mode (no ANSI_QUOTES, no NO_BACKSLASH_ESCAPES) and a utf8mb4 connection.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from conformance.reference.cursor import bitmap_size
from conformance.reference.errors import Unsupported
from conformance.reference.portable import shown


class TokenKind(Enum):
    """The kind of a token."""

    STRING = "a string"
    BINARY = "a hexadecimal or bit literal"
    INTEGER = "an integer"
    DECIMAL = "a decimal number"
    FLOAT = "a floating point number"
    WORD = "a name"
    QUOTED_NAME = "a name in backticks"
    SYMBOL = "a symbol"
    END = "the end"


class Token(NamedTuple):
    """``text`` is the content: a string without quotes and escapes, a name without backticks, a number as written."""

    kind: TokenKind
    text: str
    offset: int
    data: bytes = b""

    def __str__(self) -> str:
        if self.kind is TokenKind.END:
            return "the end"
        return shown(self.text if len(self.text) <= 40 else self.text[:37] + "...")


# Letters behind ASCII, U+0080 to U+FFFF: as that range they would take milliseconds of every start to compile.
_BEHIND_ASCII: Final = r"[^\x00-\x7f\U00010000-\U0010ffff]"
_TOKEN: Final = re.compile(
    rf"""[ \t\r\n\f\v]*(?:
      (?P<hex>[xX]'[^']*') | (?P<bit>[bB]'[^']*')
    | (?P<hexadecimal>0x[0-9a-fA-F]+(?![0-9A-Za-z_$]|{_BEHIND_ASCII}))
    | (?P<binary>0b[01]+(?![0-9A-Za-z_$]|{_BEHIND_ASCII}))
    | (?P<float>(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+)
    | (?P<decimal>[0-9]+\.[0-9]*|\.[0-9]+)
    | (?P<integer>[0-9]+)
    | (?P<string>'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+")
    | (?P<name>`(?:[^`]|``)*+`)
    | (?P<word>(?:[A-Za-z_$]++|{_BEHIND_ASCII}++)(?:[0-9A-Za-z_$]++|{_BEHIND_ASCII}++)*+)
    | (?P<symbol>->>?|-(?!-(?:\s|\Z))|/(?!\*)|[(),+*%])
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
_ESCAPES: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_WORD_END: Final = re.compile(rf"[0-9A-Za-z_$]++|{_BEHIND_ASCII}++")


def outside(message: str, *, offset: int | None = None, expected: object = None, got: object = None) -> Unsupported:
    """The error for text outside predict's grammar, whether or not MySQL would accept it."""
    return Unsupported("outside-grammar", message, offset=offset, expected=expected, got=got)


def tokenize(sql: str) -> list[Token]:
    """All tokens; the last is ``END``."""
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise outside("the text is not valid UTF-8", offset=error.start) from None
    tokens: list[Token] = []
    position = 0
    while True:
        match = _TOKEN.match(sql, position)
        if match is None:
            rest = sql[position:].lstrip(" \t\r\n\f\v")
            start = len(sql) - len(rest)
            what = "an unterminated string or name" if rest[:1] in "'\"`" else "a character outside the grammar"
            raise outside(what, offset=start, got=rest[:20])
        group = match.lastgroup
        assert group is not None
        token = _token(group, match[group], match.start(group))
        position = match.end()
        if token.kind in (TokenKind.INTEGER, TokenKind.DECIMAL, TokenKind.FLOAT) and _WORD_END.match(sql, position):
            raise outside("a number that runs into a name", offset=token.offset, got=sql[token.offset : position + 10])
        tokens.append(token)
        if token.kind is TokenKind.END:
            return tokens


def _token(group: str, text: str, offset: int) -> Token:
    if group == "string":
        return Token(TokenKind.STRING, _unescape(text), offset)
    if group == "name":
        return Token(TokenKind.QUOTED_NAME, text[1:-1].replace("``", "`"), offset)
    if group in ("hex", "hexadecimal"):
        digits = text[2:].strip("'")
        if group == "hex" and (len(digits) % 2 or re.fullmatch("[0-9a-fA-F]*", digits) is None):
            raise outside("a hexadecimal literal needs pairs of hexadecimal digits", offset=offset, got=text[:40])
        return Token(TokenKind.BINARY, text, offset, bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits))
    if group in ("bit", "binary"):
        digits = text[2:].strip("'")
        if digits.strip("01"):
            raise outside("a bit literal has only the digits 0 and 1", offset=offset, got=text[:40])
        return Token(TokenKind.BINARY, text, offset, int(digits or "0", 2).to_bytes(bitmap_size(len(digits)), "big"))
    kinds = {
        "float": TokenKind.FLOAT,
        "decimal": TokenKind.DECIMAL,
        "integer": TokenKind.INTEGER,
        "word": TokenKind.WORD,
        "end": TokenKind.END,
    }
    return Token(kinds.get(group, TokenKind.SYMBOL), text, offset)


def _unescape(quoted: str) -> str:
    quote, body = quoted[0], quoted[1:-1]
    if "\\" not in body and quote not in body:
        return body

    def plain(match: re.Match[str]) -> str:
        escaped = match[1]
        if escaped is None:
            return quote if quote in match[0] else match[0]
        return _ESCAPES.get(escaped, escaped)

    return _ESCAPE.sub(plain, body)
