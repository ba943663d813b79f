"""JSON paths: parsed as MySQL parses them, and their canonical text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError
from conformance.reference.partial.paths import Cell, CellRange, Member, Wildcard, is_identifier, parse_path
from fuzz.naive import paths as naive
from fuzz.naive.pieces import Refused
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.partial.paths import Path
    from fuzz.naive.paths import Leg

INVARIANT: Final = (
    "The naive reader reads the same legs, or refuses the path too; the canonical text is the naive writer's, parses to"
    " the same path for both readers and is its own canonical text; indexes have 32 bits; errors point into the text."
)
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.partial.paths",)
MAX_LEN: Final = 256
DICTIONARY: Final = (
    b"$", b"$.", b"$[", b"[last-", b"last", b" to ", b"**", b".*", b"[*]", b'."', b'\\"', b"\\u0041", b"\\ud83d\\ude00",
    b"4294967295", b"4294967296", b"\xc3\xa9", b"\xc4\x81", b"\xe2\x80\xbf", b"\xcc\x81", b"\xff",
)  # fmt: skip


def check(data: bytes) -> None:
    """Check the bytes of a path."""
    text = data.decode("utf-8", "surrogateescape")
    require(is_identifier(text) == naive.is_identifier(text), "both know the same identifiers", text)
    path, refused = attempt(parse_path, text)
    _compare(data, path)
    if path is None:
        require(isinstance(refused, MysqlError) and refused.number == 3143, "a bad path is error 3143", str(refused))
        offset = refused.offset if refused is not None else None
        require(offset is None or 0 <= offset <= len(data), "an error is inside its path", offset)
        return
    canonical = str(path)
    if "****" in canonical and any(leg.text == "**" for leg in path.legs if isinstance(leg, Wildcard)):
        return  # MySQL too splits "** **" at its space, and prints four stars that it would not parse
    again, unread = attempt(parse_path, canonical)
    require(again == path, "the canonical text is the same path", canonical, str(unread))
    require(str(again) == canonical, "the canonical text is canonical", canonical, str(again))
    _compare(canonical.encode("utf-8", "surrogateescape"), path)
    exact = True
    for leg in path.legs:
        cells = (leg,) if isinstance(leg, Cell) else (leg.first, leg.last) if isinstance(leg, CellRange) else ()
        for cell in cells:
            require(0 <= cell.index < 1 << 32, "an index has 32 bits", cell)
            for count in (0, 1, 5):
                place, found = cell.position(count)
                require(0 <= place < count if found else place in (0, count), "a place is in its array", cell, count)
        exact = exact and isinstance(leg, (Cell, Member))
    require(path.is_exact == exact, "a path without wildcards and ranges is exact", canonical)


def _compare(data: bytes, path: Path | None) -> None:
    """Read the path a second time, and write it."""
    try:
        legs = naive.read(data)
    except Refused as reason:
        require(path is None, "the naive reader reads what the reference reads", data, str(reason))
        return
    require(path is not None, "the reference reads what the naive reader reads", data, legs)
    if path is not None:
        require(len(path.legs) == len(legs), "both read as many legs", path, legs)
        same = all(leg_of(one) == other for one, other in zip(path.legs, legs, strict=True))
        require(same, "both read the same legs", path, legs)
        require(str(path) == naive.write(legs), "both write the same canonical text", str(path), legs)


def leg_of(leg: Member | Cell | CellRange | Wildcard) -> Leg:
    """The leg as the naive reader gives it."""
    match leg:
        case Member(name):
            return "member", name
        case CellRange(first, last):
            return "several", f"[{naive.cell(leg_of(first))} to {naive.cell(leg_of(last))}]"
        case Cell(index, from_end):
            return "last" if from_end else "cell", index
        case Wildcard(text):
            return "several", text


_PATHS: Final = (
    "$", "$.a", '$."a b"', "$[0]", "$[last]", "$[last-1]", "$[1 to last-2]", "$.*", "$[*]", "$**.a", "$**[1]", "$ . a",
    "$[ 007 ]", '$."\\u00e9"', "$.é", "$.ā", '$."ā"', "$.Ł", "$.a1_$", '$.""', '$."\\"\\\\"', "$[4294967295]",
    "$[4294967296]", "$.a.b[0].c", "", "a", "$x", "$.", "$[", "$[-1]", "$.1a", "$**", '$."', "$.a ", " $", "$.a\u0301",
    "$.文", '$."\\ud83d\\ude00"', "$[last - 1]", "$[0 TO 1]", "$.last", "$..a", "$" + ".a" * 100,
    '$."1a"', "$.a1", '$."\\udc80"', "$** **.a", "$.***.a", "$[last-1 to last]", "$[1 to 0]", "$.$", "$.ÿ",
    "$.\u0341", "$[1 to]", "$[1 to2]", "$[0to 1]",
)  # fmt: skip


def seeds() -> Iterator[tuple[str, bytes]]:
    """Every kind of leg, quoting at its borders, and paths that do not parse."""
    for number, path in enumerate(_PATHS):
        yield f"path-{number}", path.encode()
    yield "not-utf8", b'$."\xff"'
    yield "not-utf8-bare", b"$.\xff"
