"""Pictures of a matrix run as SVG inside the page: no scripts, no files, colours from the page's style.

Every picture has a text alternative, and classes for colours, so that it follows light and dark.
"""

from __future__ import annotations

from html import escape
from math import log10
from typing import TYPE_CHECKING, Final

from scenarios.overview import SHARES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.matrix import Setting

WIDTH: Final = 720
_LEFT: Final = 84
_BOTTOM: Final = 46
_FEW: Final = 25  # columns
_KEY: Final = (
    *(("none", "no scenario"), ("cost", "costs bytes"), ("save0", "saves < 10 %")),
    *(("save5", "50 to 60 %"), ("save9", "≥ 90 %")),
)


def _svg(height: int, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="figure" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, css: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{css}">{escape(text)}</text>'


def size_word(number: int) -> str:
    """A size in its shortest form: 100 B, 4 KB, 1 MB."""
    for unit, word in ((1 << 20, "MB"), (1 << 10, "KB")):
        if number >= unit:
            return f"{number / unit:.3g} {word}"
    return f"{number} B"


def percent(share: float) -> str:
    """A share in whole per cent, near zero with a decimal; never "-0"."""
    number = round(share * 100, 1)
    if abs(number) >= 1:
        number = round(share * 100)
    return f"{number:g} %" if number else "0 %"


def share_words() -> list[str]:
    """The names of the classes of the update share."""
    names = [f"{border / 10:g} %" for border in SHARES]
    return [*(f"< {name}" for name in names), f"≥ {names[-1]}"]


def heat_map(heat: Mapping[tuple[Setting, int], tuple[int, int, int]]) -> str:
    """Saving by size of the document and by the diffs' share of it; each field shows its percentage."""
    sizes = sorted({int(size) for size, _ in heat})
    words = share_words()
    across = (WIDTH - _LEFT - 8) / len(words)
    high = 34
    height = high * len(sizes) + _BOTTOM + 14
    parts = [_key(height)]
    for row, size in enumerate(reversed(sizes)):
        top = 6 + row * high
        parts.append(_text(_LEFT - 8, top + high / 2 + 4, size_word(size), "end"))
        for share in range(len(words)):
            rows, on, off = heat.get((size, share), (0, 0, 0))
            x = _LEFT + share * across
            if not rows:
                parts.append(f'<rect class="none" x="{x:.1f}" y="{top}" width="{across - 2:.1f}" height="{high - 2}"/>')
                continue
            saving = 1 - on / off
            shown = percent(saving)
            said = (
                f"{size_word(size)}, share {words[share]}: {shown} saved,"
                f" {on:,} bytes instead of {off:,} in {rows:,} scenarios"
            )
            css = "cost" if shown.startswith("-") else f"save{min(9, int(max(saving, 0) * 10))}"
            parts.append(
                f'<rect class="{css}" x="{x:.1f}" y="{top}" width="{across - 2:.1f}" height="{high - 2}">'
                f"<title>{escape(said)}</title></rect>"
            )
            ink = "middle over" if saving >= 0.5 else "middle"
            parts.append(_text(x + across / 2 - 1, top + high / 2 + 4, shown, ink))
    for number, border in enumerate(SHARES, 1):  # labels at the lines between the classes, where they have room
        parts.append(_text(_LEFT + number * across - 1, height - 28, f"{border / 10:g} %", "middle"))
    parts.append(_text((WIDTH + _LEFT) / 2, height - 8, "diffs, as a share of the document", "middle soft"))
    return _svg(height + 26, "Heat map: bytes saved by size of the document and share of the update", parts)


def _key(top: int) -> str:
    """A line that says what the colours of a heat map mean."""
    across = (WIDTH - _LEFT - 8) / len(_KEY)
    parts = []
    for number, (css, word) in enumerate(_KEY):
        left = _LEFT + number * across
        parts.append(f'<rect class="{css}" x="{left:.1f}" y="{top + 2}" width="16" height="16"/>')
        parts.append(_text(left + 22, top + 15, word, "many"))
    return "".join(parts)


def scatter(points: Sequence[tuple[int, int, int]]) -> str:
    """Diffs against the whole document, both logarithmic, and the line where they are equal."""
    height = 430
    low, high = 0.0, 6.4

    def x(value: float) -> float:
        return _LEFT + (log10(max(value, 1)) - low) / (high - low) * (WIDTH - _LEFT - 12)

    def y(value: float) -> float:
        return height - _BOTTOM - (log10(max(value, 1)) - low) / (high - low) * (height - _BOTTOM - 12)

    parts = []
    for power in range(7):
        at = 10**power
        word = f"{at:,} B" if power < 3 else f"{at // 1000:,} kB" if power < 6 else "1 MB"
        parts.append(f'<path class="grid" d="M{x(at):.1f} {y(1):.1f}V12M{_LEFT} {y(at):.1f}H{WIDTH - 12}"/>')
        parts += [_text(x(at), height - 28, word, "middle"), _text(_LEFT - 6, y(at) + 4, word, "end")]
    for css, wanted in (("partial", 1), ("full", 0)):
        marks = [f"M{x(full):.0f} {y(diffs):.0f}h0" for full, diffs, partial in points if partial == wanted]
        parts.append(f'<path class="dots {css}" d="{"".join(marks)}"/>')
    line = [f"{x(10 ** (step / 20)):.1f} {y(10 ** (step / 20) - 4):.1f}" for step in range(15, 128)]
    parts.append(f'<path class="even" d="M{"L".join(line)}"/>')
    parts.append(_text((WIDTH + _LEFT) / 2, height - 8, "whole document, bytes", "middle soft"))
    parts.append(_text(_LEFT + 8, 26, "diffs, bytes", "soft"))
    return _svg(height, "Diffs against whole documents on logarithmic axes, with the break-even line 4 + D = F", parts)


def histogram(counts: Mapping[int, int], words: Mapping[int, str], label: str, axis: str) -> str:
    """Columns with their numbers above them. A histogram of few columns has one for each number between them too."""
    keys = sorted(counts)
    if keys and keys[-1] - keys[0] < _FEW:
        keys = list(range(keys[0], keys[-1] + 1))
    height = 230
    most = max(counts.values(), default=1)
    across = (WIDTH - 24) / max(1, len(keys))
    ink = "middle many" if len(keys) > 12 else "middle"
    parts = []
    for number, key in enumerate(keys):
        count = counts.get(key, 0)
        bar = (height - _BOTTOM - 30) * count / most
        left = 12 + number * across
        top = height - _BOTTOM - bar
        parts.append(
            f'<rect class="bar" x="{left + across * 0.1:.1f}" y="{top:.1f}" width="{across * 0.8:.1f}"'
            f' height="{max(bar, 1) if count else 0:.1f}"/>'
        )
        parts.append(_text(left + across / 2, top - 5, _short(count), ink))
        parts.append(_text(left + across / 2, height - 28, words.get(key, str(key)), ink))
    parts.append(_text(WIDTH / 2, height - 8, axis, "middle soft"))
    return _svg(height, label, parts)


def _short(number: int) -> str:
    """A number in at most four characters, as columns are narrow on a phone."""
    for unit, word in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            part = number / unit
            return f"{part:.1f}{word}" if part < 9.95 else f"{part:.0f}{word}"
    return str(number)


def short_size(number: int) -> str:
    """A size in at most four characters: 512, 4K, 1M."""
    for unit, word in ((1 << 20, "M"), (1 << 10, "K")):
        if number >= unit:
            return f"{number // unit}{word}"
    return str(number)
