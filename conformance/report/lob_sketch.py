"""The sketch of an update in the data file: boxes for the pages of one document, as numbers for the template."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.stream import LobUpdate

WIDTH: Final = 340  # of a side, in pixels on a narrow screen
_HEAD, _BOX, _GAP, _INDENT = 22, 52, 8, 16
_THINNEST: Final = 4.0  # of a range, so that a few bytes of a page are seen


@dataclass(frozen=True, slots=True)
class Box:
    """One page. ``ranges``: left end and width of what was changed, inside the bar."""

    y: int
    x: int
    page: int
    type: str
    version: int
    length: int
    live: bool
    new: bool
    ranges: tuple[tuple[float, float], ...]
    words: str

    @property
    def width(self) -> int:
        return WIDTH - self.x

    @property
    def bar(self) -> int:
        """Width of the bar that stands for the bytes of the page."""
        return self.width - 20

    @property
    def state(self) -> str:
        """Whether readers of now use the page."""
        return "current" if self.live else "kept"


@dataclass(slots=True)
class Side:
    """One copy of the file."""

    title: str
    height: int = 0
    heads: list[tuple[int, str]] = field(default_factory=list)  # y and words, for each piece
    boxes: list[Box] = field(default_factory=list)

    @property
    def description(self) -> str:
        """The same for readers who do not see it."""
        return " ".join(f"{box.words}." for box in self.boxes)


def sides(update: LobUpdate) -> tuple[Side, Side]:
    """The file before the update and after it."""
    return _side("Before", update.before), _side("After", update.after)


def _side(title: str, pieces: Iterable[dict[str, Any]]) -> Side:
    side = Side(title)
    for piece in pieces:
        first = piece["pages"][0]
        last = piece["offset"] + first["length"] - 1
        side.heads.append((side.height + _HEAD - 7, f"Piece {piece['number']}: bytes {piece['offset']:,} to {last:,}"))
        side.height += _HEAD
        for page in piece["pages"]:
            side.boxes.append(_box(piece["number"], page, side.height))
            side.height += _BOX + _GAP
        side.height += _GAP
    return side


def _box(piece: int, page: dict[str, Any], y: int) -> Box:
    x = 0 if page["live"] else _INDENT
    scale = (WIDTH - x - 20) / page["length"]
    ranges = tuple(_scaled(page["changed"], scale, WIDTH - x - 20))
    count = sum(length for _, length in page["changed"])
    words = f"Piece {piece}, page {page['page']}, {page['type']}, version {page['version']}"
    words += ", current" if page["live"] else ", kept until purge"
    words += f", new, {count} bytes differ from the page that it is a copy of" if page["new"] else ""
    return Box(
        y, x, page["page"], page["type"], page["version"], page["length"], page["live"], page["new"], ranges, words
    )


def _scaled(changed: Iterable[list[int]], scale: float, width: float) -> Iterator[tuple[float, float]]:
    for offset, length in changed:
        wide = max(length * scale, _THINNEST)
        yield round(min(offset * scale, width - wide), 1), round(wide, 1)
