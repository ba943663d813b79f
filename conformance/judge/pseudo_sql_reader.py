"""Reading pseudo-SQL back: a strict parser of the ``###`` lines of ``mysqlbinlog -v`` (mysqlbinlog-output 3,
mysqlbinlog-output 4).

The reader is written from the grammar alone and independent of the reference's printer, so that it judges both client
and printer. It refuses a line that the grammar does not give, and names it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

_HEAD: Final = re.compile(rb"(INSERT INTO|UPDATE|DELETE FROM) (`(?:[^`]|``)*`)\.(`(?:[^`]|``)*`)")
_COLUMN: Final = re.compile(rb"  @([1-9][0-9]*)=")
_CALL: Final = re.compile(rb"(JSON_REPLACE|JSON_REMOVE|JSON_INSERT|JSON_ARRAY_INSERT)\(")
_REFERENCE: Final = re.compile(rb"@([1-9][0-9]*)")
# Escapes of the client (mysqlbinlog-output 3.2); any other byte below 0x20 would be one that it failed to escape.
_STRING: Final = re.compile(rb"'((?:[^'\\\x00-\x1f]++|\\[btnfr'\\]|\\x[01][0-9a-f])*+)'")
_ESCAPE: Final = re.compile(rb"\\(x..|.)")
_ESCAPED: Final = {b"b": b"\b", b"t": b"\t", b"n": b"\n", b"f": b"\f", b"r": b"\r", b"'": b"'", b"\\": b"\\"}
_CAST: Final = b"CAST("
_AS_JSON: Final = b" AS JSON)"
_JSON_BARE: Final = re.compile(rb"null|true|false|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_BITS: Final = re.compile(rb"b'[01]*'")
# Numbers of columns; an integer below zero also has its unsigned reading, FLOAT is padded with spaces.
_NUMBER: Final = re.compile(rb"(-?(?:[0-9][-+.0-9e]*|inf|nan))(?: \(([0-9]+)\)| *)")
_VECTOR: Final = re.compile(rb"\[[-+0-9.e,infa]*\]")
_COMMENT: Final = re.compile(rb" /\* ([A-Z][^*]*) meta=[0-9]+ nullable=[01] is_null=([01]) \*/")
_CONTINUED: Final = b"\n###      "
_LINE: Final = b"### "


class Bare(NamedTuple):
    """A value without quotes. ``unsigned``: the second reading of an integer below zero."""

    text: bytes
    unsigned: bytes = b""


class Quoted(NamedTuple):
    """A string, its escapes undone."""

    text: bytes


class CastJson(NamedTuple):
    """``CAST('…' AS JSON)``: the text between the quotes, escapes undone."""

    text: bytes


class PseudoSqlDiff(NamedTuple):
    """One path of one call; ``value`` is ``None`` for JSON_REMOVE."""

    function: bytes
    path: bytes
    value: Bare | Quoted | CastJson | None


class Calls(NamedTuple):
    """The calls around the column, as one list in the order of the diffs; empty for the column itself."""

    diffs: tuple[PseudoSqlDiff, ...]


PseudoValue: TypeAlias = "Bare | Quoted | Calls | None"
"""The value of a column; ``None`` is NULL."""


@dataclass(frozen=True, slots=True)
class PseudoSqlRow:
    """One block of rows. An image that the client did not print is ``None``.

    ``types``: what the comments of -vv say about the columns, such as ``VARSTRING(40)``.
    """

    verb: str  # INSERT, UPDATE, DELETE
    schema: str
    table: str
    where: dict[int, PseudoValue] | None
    changes: dict[int, PseudoValue] | None
    types: dict[int, str] = field(default_factory=dict, compare=False)


class PseudoSqlError(Exception):
    """The text does not follow the grammar."""

    def __init__(self, message: str, text: bytes, position: int) -> None:
        begin = text.rfind(b"\n", 0, position) + 1
        self.line = text[begin : position + 60].partition(b"\n")[0]
        self.row = text.count(b"\n", 0, position) + 1
        super().__init__(f"{message} in line {self.row}, column {position - begin + 1}: {self.line!r}")


def parse_rows(text: bytes) -> list[PseudoSqlRow]:
    """All blocks of a text that consists of ``###`` lines, each with its newline; with or without comments of -vv."""
    parser = _Parser(text)
    out: list[PseudoSqlRow] = []
    while parser.pos < len(text):
        out.append(parser.row())
    return out


class _Parser:
    __slots__ = ("pos", "text", "types")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.pos = 0
        self.types: dict[int, str] = {}  # of the row

    def fail(self, message: str) -> PseudoSqlError:
        return PseudoSqlError(message, self.text, self.pos)

    def literal(self, expected: bytes) -> None:
        if not self.text.startswith(expected, self.pos):
            raise self.fail(f"expected {expected!r}")
        self.pos += len(expected)

    def follows(self, expected: bytes) -> bool:
        if self.text.startswith(expected, self.pos):
            self.pos += len(expected)
            return True
        return False

    def match(self, pattern: re.Pattern[bytes], what: str) -> re.Match[bytes]:
        found = pattern.match(self.text, self.pos)
        if found is None:
            raise self.fail(f"expected {what}")
        self.pos = found.end()
        return found

    def row(self) -> PseudoSqlRow:
        self.literal(_LINE)
        head = self.match(_HEAD, "INSERT INTO, UPDATE or DELETE FROM and a table")
        verb = head[1].split()[0].decode()
        schema, table = (_name(head[part]) for part in (2, 3))
        if verb == "INSERT" and self.follows(b" VALUES ()\n"):
            return PseudoSqlRow(verb, schema, table, None, {})
        self.literal(b"\n")
        self.types = {}
        where = changes = None
        if verb != "INSERT":
            self.literal(b"### WHERE\n")
            where = self.image()
        if verb != "DELETE":
            self.literal(b"### SET\n")
            changes = self.image()
        return PseudoSqlRow(verb, schema, table, where, changes, self.types)

    def image(self) -> dict[int, PseudoValue]:
        out: dict[int, PseudoValue] = {}
        last = 0
        while self.text.startswith(b"###   @", self.pos):
            self.literal(_LINE)
            number = int(self.match(_COLUMN, "a column")[1])
            if number <= last:
                raise self.fail(f"column {number} after column {last}")
            last = number
            value = self.value(number)
            comment = _COMMENT.match(self.text, self.pos)
            if comment is not None:
                if (comment[2] == b"1") != (value is None):
                    raise self.fail(f"is_null={comment[2].decode()} beside this value")
                self.types[number] = comment[1].decode("ascii")
                self.pos = comment.end()
            self.literal(b"\n")
            out[number] = value
        return out

    def value(self, number: int) -> PseudoValue:
        if self.follows(b"NULL"):
            return None
        if self.text.startswith((b"JSON_", b"@"), self.pos):
            return Calls(tuple(self.calls(number)))
        if self.text.startswith(b"'", self.pos):
            return Quoted(self.string())
        for pattern in (_BITS, _VECTOR):
            found = pattern.match(self.text, self.pos)
            if found is not None:
                self.pos = found.end()
                return Bare(found[0])
        found = self.match(_NUMBER, "a value")
        # FLOAT's padding and the space in front of a comment look alike.
        if self.text.startswith(b"/* ", self.pos):
            self.pos -= 1
        return Bare(found[1], found[2] or b"")

    def string(self) -> bytes:
        return _ESCAPE.sub(_unescape, self.match(_STRING, "a string")[1])

    def calls(self, number: int) -> list[PseudoSqlDiff]:
        names: list[bytes] = []
        while (call := _CALL.match(self.text, self.pos)) is not None:
            self.pos = call.end()
            if names and names[-1] == call[1]:
                raise self.fail("two runs of the same function")
            names.append(call[1])
            if _CALL.match(self.text, self.pos + len(_CONTINUED)):
                self.literal(_CONTINUED)
        if int(self.match(_REFERENCE, "the column")[1]) != number:
            raise self.fail(f"another column than @{number}")
        out: list[PseudoSqlDiff] = []
        if not names:
            return out
        self.literal(b", ")
        while True:
            name = names[-1]
            path = self.string()
            value = None
            if name != b"JSON_REMOVE":
                self.literal(b", ")
                value = self.argument()
            out.append(PseudoSqlDiff(name, path, value))
            if self.follows(b")"):
                names.pop()
                if not names:
                    return out
            self.literal(b"," + _CONTINUED)

    def argument(self) -> Bare | Quoted | CastJson:
        if self.follows(_CAST):
            text = self.string()
            self.literal(_AS_JSON)
            return CastJson(text)
        if self.text.startswith(b"'", self.pos):
            return Quoted(self.string())
        return Bare(self.match(_JSON_BARE, "a JSON value")[0])


def _name(quoted: bytes) -> str:
    return quoted[1:-1].replace(b"``", b"`").decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    word = match[1]
    return _ESCAPED[word] if len(word) == 1 else bytes((int(word[1:], 16),))
