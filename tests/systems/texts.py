"""Kinds of inputs that are text: JSON, paths, identifiers, SQL."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final

from conformance.judge.decoding import moments, numbers
from conformance.judge.pseudo_sql_reader import parse_rows
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.dialect import JsonForms
from conformance.reference.innodb.sdi_views.ibd2sdi_output import pretty
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_pretty, format_text
from conformance.reference.partial.paths import is_identifier, parse_path
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.sql.row_expressions import RowFacts, read_expression
from conformance.reference.sql.statement_words import split_words
from conformance.reference.sql.tokens import tokenize
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.text.annotated_hex import as_text
from tests.prediction.odd_answers import RECORDED, _made, foretold_sum, sums
from tests.reference.jsonb.mutated_texts import mutated

if TYPE_CHECKING:
    from collections.abc import Iterator

from tests.systems.said import changed, said

_POINTS: Final = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def json_texts(full: bool) -> Iterator[str]:
    """Mutated JSON texts: value, bytes and text, or the refusal; read as new and old versions do."""
    old = JsonForms(text_double="fast")

    def every(text: str) -> tuple[object, ...]:
        value = parse_text(text)
        return value, encode(value).hex(), format_text(value), format_pretty(value)

    for text in mutated(60_000 if full else 6000):
        yield f"{said(every, text)} {said(parse_text, text, old)}"


def paths(full: bool) -> Iterator[str]:
    """Mutated JSON paths: legs and text, or the refusal."""
    draw = random.Random("paths")
    pieces = ("$", ".", "[", "]", "*", "**", "last", "-", " to ", " ", "0", "12", "4294967296", "a", "é", "\u0663", '"',
              "\\", '"b c"', '"\\u0041"', '"\\ud83d"', "\u00a0", "\u0897", "\U0001f600", "\n", "_", "$x", "'", "\ud800",
              "\udc80", "[1 to last]", "[last-1]", ".k", ".k", "[0]")  # fmt: skip
    for _ in range(20_000 if full else 3000):
        text = "$" + "".join(draw.choice(pieces) for _ in range(draw.randrange(7)))
        yield f"{said(parse_path, text)} {said(lambda each: str(parse_path(each)), text)}"


def identifiers(full: bool) -> Iterator[str]:
    """Code points as names in a path: alone, and behind a letter."""
    for point in _POINTS if full else _POINTS[::17]:
        yield f"{is_identifier(chr(point))}{is_identifier('a' + chr(point))}"


def code_points(full: bool) -> Iterator[str]:
    """Code points where text is read or shown: names of SQL in two cases, numbers, white space, words of errors."""
    row = RowFacts({"j": encode({"a": 1})}, {})
    for point in [*_POINTS[:: 11 if full else 401], *_SPECIAL]:
        char = chr(point)
        other = _OTHER_CASE.get(char, char)
        yield " ".join(
            (
                said(split_words, f"a{char}1 {char} 'x'"),
                said(parse_expression, f"JSON_SET(j, '$.a', {char}, 1)"),
                said(parse_expression, f"JSON_SET(j, '$.a', 0x41{char})"),
                said(read_expression, f"JSON_SET({char}, '$.a{char}', '{char}1')", row),
                said(
                    parse_definition,
                    f"CREATE TABLE t ({char}A INT, {other}b CHAR({char}), KEY ({other}a))",
                ),
                said(parse_definition, f"CREATE TABLE t (a{char} INT DEFAULT {char})"),
                said(PreviousGtids.parse, f"3e11fa47-71ca-11e1-9e33-c80aa9429562:{char}:{char}"),
                as_text(char.encode()).encode("ascii", "backslashreplace").decode(),
                said(numbers.number_in, char),
                said(moments.moment_of, "DATE", f"202{char}-01-01"),
            )
        )


_OTHER_CASE: Final = {
    "\xe9": "\xc9", "\xdf": "\u1e9e", "\u017f": "S", "\u0264": "\ua7cb", "\u019b": "\ua7dc", "\u1c8a": "\u1c89",
    "\u03c3": "\u03a3",
}  # fmt: skip
# Code points whose case, digits or printing came with Unicode 15 and 16, and some of the oldest.
_SPECIAL: Final = [
    *range(0x250), 0x264, 0x19B, 0x660, 0x663, 0x897, 0x1C89, 0x1C8A, 0x2126, 0x212A, 0x2028, 0x3000, 0xA7CB, 0xA7CC,
    0xA7DA, 0xA7DC, 0xFEFF, 0xFF21, 0x10D40, 0x10D50, 0x11F50, 0x16D70, 0x1CCF0, 0x1E4F0, 0x1E5F1, 0x1F600,
    0x1FAE9, 0x31350,
]  # fmt: skip


def expressions(full: bool) -> Iterator[str]:
    """The recorded odd expressions and sums, and mutated ones: the document that is predicted, or the refusal."""
    recorded = list(json.loads(RECORDED.read_text("utf-8"))["odd"])
    for sql in recorded if full else recorded[::3]:
        yield said(_made, sql)
        for form in changed(sql.encode(), 5 if full else 1, "sql"):
            yield said(_made, form.decode("utf-8", "replace"))
    for number, sql in enumerate(sums()):
        if full or not number % 10:
            yield said(foretold_sum, sql)


def definitions(full: bool) -> Iterator[str]:
    """Mutated CREATE TABLE statements: the table, or the refusal."""
    for sql in _DEFINITIONS:
        yield said(parse_definition, sql)
        for form in changed(sql.encode(), 2000 if full else 200, "definition"):
            yield said(parse_definition, form.decode("utf-8", "replace"))


_DEFINITIONS: Final = (
    """CREATE TABLE `t` (`id` int NOT NULL AUTO_INCREMENT, `Ä` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin
    DEFAULT 'x', `j` json DEFAULT NULL, `d` decimal(10,2), PRIMARY KEY (`id`), KEY `k` (`ä`)) CHARSET=utf8mb4""",
    """create table if not exists s.t (a enum('x','y''z') not null, b bit(7), c datetime(6) default now(6),
    d set('1','2'), e year, f int unsigned generated always as (a + 1) virtual, g vector(3), unique (a, b(1)))""",
)


def words(full: bool) -> Iterator[str]:
    """Short texts of quotes, comments and brackets, as the readers of words, tokens, rows and JSON take them apart."""
    draw = random.Random("words")
    for _ in range(100_000 if full else 5000):
        text = "".join(draw.choice("''\"\"``\\\\---#*/! \n\tax0x1e+.,:{}[]$\xe9") for _ in range(draw.randrange(10)))
        data = text.encode()
        readers = (said(split_words, text), said(split_words, text, 1 << 20), said(tokenize, text))
        yield " ".join((*readers, said(pretty, data), said(parse_rows, b"### INSERT INTO `a`.`b`\n###   @1=" + data)))
