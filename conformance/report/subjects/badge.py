"""``subjects/NAME.svg`` and ``subjects/NAME.badge.json``: a decoder's result for its README, or shields.io."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from conformance.report.matrix import support_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

LABEL: Final = "binlog-lab"
RED, AMBER, GREEN, GREY = "#b3261e", "#8a5a00", "#1a7f37", "#57606a"
_WORDS: Final = (
    (Verdict.SILENT_LOSS, "loses"),
    (Verdict.CRASH, "crashes on"),
    (Verdict.TIMEOUT, "hangs on"),
    (Verdict.FAIL, "fails"),
    (Verdict.DIFFERS, "differs in"),
)
_CHARACTER: Final = 6.6  # pixels of an average character at 11 pixels


def badge(counts: Mapping[Verdict, int]) -> tuple[str, str]:
    """Words and colour: ``supports 260 of 280, loses 12``, where the worst verdict comes behind the Cases it reads.

    All Cases count, also those that do not apply: they are not supported.
    """
    support = support_of(counts)
    if not support.total or support.total == counts.get(Verdict.NOT_APPLICABLE, 0):
        return "no case applies", GREY
    said = f"supports {support.supported:,} of {support.total:,}"
    for verdict, words in _WORDS:
        if counts.get(verdict, 0):
            return f"{said}, {words} {counts[verdict]:,}", RED
    if support.undecided:
        return said, GREY
    return said, AMBER if counts.get(Verdict.REFUSED, 0) else GREEN


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
