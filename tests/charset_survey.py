"""How a real server converts between its character sets and Unicode, every character of them.

``python -m tests.charset_survey`` asks one and writes the digests that ``tests/data/charsets-9.7.4.json`` holds.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.reference.tables.charsets import COLLATIONS, DEFAULT_COLLATIONS, bytes_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.servers.wire.connection import Connection

FILE: Final = Path(__file__).parent / "data" / "charsets-9.7.4.json"
CHARSETS: Final = tuple(sorted({item.charset for item in COLLATIONS.values()} - {"binary"}))
_UNICODE: Final = ("ucs2", "utf16", "utf16le", "utf32", "utf8mb3", "utf8mb4")
_BYTES: Final = [bytes((byte,)) for byte in range(256)]
_PLANE: Final = [chr(number) for number in range(0x10000) if not 0xD800 <= number < 0xE000]
# Of characters beyond the basic plane every so many are asked for: they follow rules in all character sets.
_BEYOND: Final = [chr(number) for number in range(0x10000, 0x110000, 977)]


def sequences(charset: str) -> Iterator[bytes]:
    """Everything that may be one character of a character set of bytes; for the forms of Unicode nothing."""
    if charset in _UNICODE:
        return
    yield from _BYTES
    size = COLLATIONS[DEFAULT_COLLATIONS[charset]].max_bytes
    if size > 1:
        yield from (a + b for a in _BYTES for b in _BYTES)
    if size == 3:
        yield from (b"\x8f" + a + b for a in _BYTES for b in _BYTES)
    if size == 4:
        digits = [b"%d" % digit for digit in range(10)]
        yield from (a + b + c + d for a in _BYTES[0x81:0x85] for b in digits for c in _BYTES[0x81:0xFF] for d in digits)


@cache
def ours(charset: str) -> tuple[dict[bytes, str], dict[str, bytes]]:
    """The reference's conversions: code -> character, character -> code."""
    collation = DEFAULT_COLLATIONS[charset]
    single = {code for code in _BYTES if text_of(code, collation) is not None}
    read = {}
    for code in sequences(charset):
        if len(code) > 1 and code[:1] in single:
            continue
        text = text_of(code, collation)
        if text is not None:
            read[code] = text
    codes = {text: bytes_of(text, collation) for text in (*_PLANE, *_BEYOND)}
    written = {text: code for text, code in codes.items() if code is not None}
    return read, written


def theirs(connection: Connection, charset: str) -> tuple[dict[bytes, str], dict[str, bytes]]:
    """The same as a server converts. A question mark for anything else stands for no character, and so does nothing."""
    read = {}
    single: set[bytes] = set()
    for code, unicode in _ask(connection, sequences(charset), charset, "utf32"):
        if len(code) > 1 and code[:1] in single:
            continue
        text = unicode.decode("utf-32-be")
        if len(text) == 1 and (text != "?" or code == b"?"):
            read[code] = text
            if len(code) == 1:
                single.add(code)
    written = {}
    # To tis620 the server converts U+50E10 as if it were U+0E10; the reference does not copy that.
    asked = _PLANE if charset == "tis620" else (*_PLANE, *_BEYOND)
    question = bytes_of("?", DEFAULT_COLLATIONS[charset])
    points = [text.encode("utf-32-be") for text in asked]
    for point, code in _ask(connection, points, "utf32", charset):
        text = point.decode("utf-32-be")
        if code != question or text == "?":
            written[text] = code
    return read, written


def _ask(connection: Connection, values: Iterable[bytes], middle: str, end: str) -> Iterator[tuple[bytes, bytes]]:
    """Each value, and what it becomes; those that are not valid in ``middle`` are left out."""
    values = list(values)
    for first in range(0, len(values), 20_000):
        rows = ", ".join(f"ROW(x'{value.hex()}')" for value in values[first : first + 20_000])
        answer = connection.execute(
            f"SELECT HEX(b), HEX(CONVERT(CONVERT(b USING {middle}) USING {end})) FROM (VALUES {rows}) AS t(b)"
            f" WHERE CONVERT(b USING {middle}) IS NOT NULL AND CHAR_LENGTH(CONVERT(b USING {middle})) = 1"
        )
        for value, converted in answer.rows:
            yield bytes.fromhex((value or b"").decode()), bytes.fromhex((converted or b"").decode())


def digests(read: Mapping[bytes, str], written: Mapping[str, bytes]) -> dict[str, object]:
    """Counts, and digests of both directions."""
    lines = "\n".join(f"{code.hex()} {ord(text):x}" for code, text in sorted(read.items()))
    back = "\n".join(f"{ord(text):x} {code.hex()}" for text, code in sorted(written.items()))
    return {
        "read": [len(read), blake2b(lines.encode(), digest_size=12).hexdigest()],
        "written": [len(written), blake2b(back.encode(), digest_size=12).hexdigest()],
    }


def main() -> None:
    """Ask a server that the lab starts."""
    from conformance.servers.auto import find_installation
    from conformance.servers.run.process import launch
    from conformance.servers.specs import parse_spec

    with launch(find_installation(parse_spec("process"))) as server, server.connect() as connection:
        found = {charset: digests(*theirs(connection, charset)) for charset in CHARSETS}
    FILE.write_text(json.dumps({"version": "9.7.4", "charsets": found}, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} character sets\n")


if __name__ == "__main__":
    main()
