"""JSON texts of which most are none: written by hand, and sound ones with a few characters changed.

The server's answers to the first of them are recorded: ``python -m tests.reference.jsonb.mutated_texts``.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.parse import parse_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.servers.wire.connection import Connection

RECORDED: Final = Path(__file__).parents[2] / "data" / "json-refusals-9.7.4.json"
COUNT: Final = 2000  # that are recorded
OPEN: Final = "[" * 100
Answer = list[int | None] | None  # the error's number and byte; None: it is read

BY_HAND: Final = (
    "", "  ", "\0", "\t\n\r x", "[1,]", "[1, ]", '["é", x, "and"]', "1 2", "[] x ", "[1]\x0b", '"é" "é"', '"\\ud800"',
    ' ["é", "\\ude00"]', '{"a": "\\ud83d\\ude00", "b": "\\ud83d"}', '"\\uD83Dx"', '"\\uDFFF"', '"x\\"\\udc00"',
    '{"\\ud800": 1, "b": 2}', '"\\ud83d\\u0041"', '"\\ud83d\\uzzzz"', '"\\udc00\\ud83d"', "NaN", "[-Infinity]", "nullx",
    "[nullx]", "nul", "[nul]", "tru", "tr\0ue", "truefalse", "True", "t", "1.", "[1.]", "-", "[-]", "-a", "1e", "1e+",
    "1e\0", "1.a", "01", "[01]", "-01", ".5", "+1", "1e400", "[1, 1e400, 2]", "1e400x", "[1e400", "0e309", "0.0e310",
    "1" * 310, "1" * 309, "1e99999999999", "[0e99999999999]", "1e-99999999999", '"a', '"a\\', '"a\\u', '"a\\u12',
    '"a\\u12g4"', '"a\\x"', '"a\nb"', '"a\x1fb"', '"\0"', "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}',
    '{"a":1 , }', '{"a" 1}', "{a:1}", "{1:2}", "{,}", "[", " [1", "[1 2]", "[1,", "[,]", '["a" "b"]', "[1}", '{"a":1]',
    "]", "}", '{"a":1 "b":2}', "'a'", "[1,\0]", "1\0 2", "[\0", "[1\0", "/* */1", "\ufeff1", OPEN + "[", OPEN + "{",
    OPEN + "[x", OPEN + "]" * 101, OPEN + "x", OPEN + "1] [", "[1e999, " + OPEN, '["\\ud800", ' + OPEN,
)  # fmt: skip
_SOUND: Final = (
    '{"a": [1, 2.5e3, -0.0, "x\\u00e9\\ud83d\\ude00\\n"], "b": {"c": null, "d": true, "e": 0}, "é文": "\U0001f600"}',
    '[[], {}, [[{"k": [1e308]}]], "\\\\\\"\\/\\b", -12, 0.5, 18446744073709551615]',
    '  [1 , 2 ,{"a" : "b"} ]  ', '"\\ud83d\\ude00\\u0041"', "-1.5e-10", '{"key": "value", "key": [null]}',
    OPEN + "1" + "]" * 100,
)  # fmt: skip
_PIECES: Final = (
    '"', "\\", "u", "d83d", "\\ud83d", "\\ude00", "{", "}", "[", "]", ",", ",", ":", "1", "0", "-", ".", "e", "E", "+",
    " ", "\n", "\t", "\0", "n", "t", "f", "null", "true", "x", "é", "\U0001f600", "\x01", "\\u12", "[[", "1e400", "/",
    "NaN", "\x7f", "\u0663", "\u00a0",
)  # fmt: skip


def mutated(count: int) -> Iterator[str]:
    """``count`` texts; the first of them are the same for every larger ``count``."""
    draw = random.Random("texts")
    for number in range(count):
        if number < len(BY_HAND):
            yield BY_HAND[number]
            continue
        text = draw.choice(_SOUND)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            place = draw.randrange(len(text) + 1)
            length = draw.choice((0, 0, 1, 1, 2, 5, len(text)))
            text = text[:place] + draw.choice(("", *_PIECES)) + text[place + length :]
        yield text


def said(text: str) -> Answer:
    """The reference's answer to a text."""
    try:
        parse_text(text)
    except MysqlError as error:
        return [error.number, error.offset]
    return None


def asked(connection: Connection, texts: Iterable[str]) -> list[Answer]:
    """A server's answers to the texts. It refuses an argument of a function as 3141, here 3140; 3157 comes without a
    place."""
    from conformance.servers.errors import SqlError

    answers: list[Answer] = []
    for text in texts:
        try:
            connection.execute(f"DO CAST(CONVERT(x'{text.encode().hex()}' USING utf8mb4) AS JSON)")
        except SqlError as error:
            place = error.message.rpartition("at position ")[2].partition(".")[0]
            answers.append([3140, int(place)] if error.number == 3141 else [error.number, None])
        else:
            answers.append(None)
    return answers


def main() -> None:
    """Ask a server of its own, and write the file."""
    from conformance.servers.auto import resolve

    server = resolve("process")
    assert server is not None
    with server, server.connect() as connection:
        answers = asked(connection, mutated(COUNT))
    RECORDED.write_text(json.dumps(answers, separators=(",", ":")).replace("],", "],\n") + "\n", "utf-8")


if __name__ == "__main__":
    main()
