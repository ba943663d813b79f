"""``subjects/NAME.svg`` and ``subjects/NAME.badge.json``: a decoder's result for its README, or shields.io."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

LABEL: Final = "binlog-lab"
RED, AMBER, GREEN, GREY = "#b3261e", "#8a5a00", "#1a7f37", "#57606a"
_WORDS: Final = (
    (Verdict.SILENT_LOSS, "loses", RED),
    (Verdict.CRASH, "crashes on", RED),
    (Verdict.TIMEOUT, "hangs on", RED),
    (Verdict.FAIL, "fails", RED),
    (Verdict.REFUSED, "refuses", AMBER),
    (Verdict.LENIENT, "passes", GREEN),
)
_CHARACTER: Final = 6.6  # pixels of an average character at 11 pixels


def badge(counts: Mapping[Verdict, int]) -> tuple[str, str]:
    """Words and colour of the worst verdict: ``loses 12 of 280``. Cases that do not apply are not counted."""
    applicable = sum(counts.values()) - counts.get(Verdict.NOT_APPLICABLE, 0)
    if not applicable:
        return "no case applies", GREY
    for verdict, words, colour in _WORDS:
        if counts.get(verdict, 0):
            shown = counts.get(Verdict.PASS, 0) if verdict is Verdict.LENIENT else counts[verdict]
            return f"{words} {shown:,} of {applicable:,}", colour
    passed = counts.get(Verdict.PASS, 0)
    return f"passes {passed:,} of {applicable:,}", GREEN if passed == applicable else GREY


def endpoint(counts: Mapping[Verdict, int]) -> str:
    """The JSON that shields.io reads from an endpoint."""
    words, colour = badge(counts)
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": words, "color": colour}) + "\n"


def svg(counts: Mapping[Verdict, int]) -> str:
    """The badge as a picture that needs no network."""
    words, colour = badge(counts)
    left, right = (round(len(text) * _CHARACTER) + 12 for text in (LABEL, words))
    title = escape(f"{LABEL}: {words}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#3d434a"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14" textLength="{left - 12}" lengthAdjust="spacingAndGlyphs">{LABEL}</text>'
        f'<text x="{left + right / 2}" y="14" textLength="{right - 12}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(words)}</text></g></svg>\n"
    )
