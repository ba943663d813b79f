"""How much of the catalogue is judged: ``python -m conformance.requirements.coverage`` prints it by document.

Behind the documents it prints every row that is not judged on a server of today, with the reason.

A row is judged by checks of its own, or as part of such a row, or not at all; tests hold that every row without a
reason has a check. Verdicts about an old server, about an unreleased server, about the kit's own model and about
decoders are counted separately: they say nothing about the server under test.
"""

from __future__ import annotations

import sys
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from conformance.requirements.catalogue import DECODER, MODEL, OLD_SERVER, REQUIREMENTS, UNRELEASED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.requirements.catalogue import Requirement


class CoverageState(StrEnum):
    """The state of a row; the value heads its column."""

    JUDGED = "judged"
    WITHIN = "as part"
    OLD = "old server"
    UNRELEASED = "unreleased"
    MODEL = "model"
    DECODER = "decoder"
    NOT_JUDGED = "not judged"


_APART: Final = {
    OLD_SERVER: CoverageState.OLD,
    UNRELEASED: CoverageState.UNRELEASED,
    MODEL: CoverageState.MODEL,
    DECODER: CoverageState.DECODER,
}
_SAYS: Final = {
    CoverageState.OLD: "judged only beside an old server",
    CoverageState.UNRELEASED: "judged only on a server with the feature, of which none is released",
    CoverageState.MODEL: "judged on the kit's own model, not on the server",
    CoverageState.DECODER: "judged on decoders, which are subjects",
}


def state_of(row: Requirement) -> CoverageState:
    """The state of a row; a part goes with its whole where the whole is not judged on a server of today."""
    if row.reason is not None:
        return CoverageState.NOT_JUDGED
    return _APART.get(row.judged_on, CoverageState.WITHIN if row.within else CoverageState.JUDGED)


def judged_in_words(row: Requirement) -> str:
    """Say in which way a row is judged, or why it is not."""
    state = state_of(row)
    if state is CoverageState.NOT_JUDGED:
        return f"Not judged: {row.reason}"
    way = _SAYS.get(state, "judged on a server")
    part = f", as part of {row.within}" if row.within else ", by checks of its own"
    return f"{way[:1].upper()}{way[1:]}{part}."


def counts(rows: Iterable[Requirement] = tuple(REQUIREMENTS.values())) -> dict[CoverageState, int]:
    """How many rows there are of each state."""
    found = Counter(map(state_of, rows))
    return {state: found[state] for state in CoverageState}


def by_document(rows: Mapping[str, Requirement] = REQUIREMENTS) -> dict[str, dict[CoverageState, int]]:
    """The counts of each document, in the order of the catalogue."""
    documents = dict.fromkeys(row.document for row in rows.values())
    return {name: counts(row for row in rows.values() if row.document == name) for name in documents}


def sentences() -> list[str]:
    """The figures in sentences, as docs/coverage.md has them."""
    found = counts()
    model = found[CoverageState.MODEL] + found[CoverageState.UNRELEASED]
    return [
        f"The catalogue has {sum(found.values())} sentences.",
        (
            f"{found[CoverageState.JUDGED]} are judged on a server by checks of their own, "
            f"{found[CoverageState.WITHIN]} as part of these."
        ),
        f"{found[CoverageState.OLD]} are judged only beside an old server.",
        f"{model} are judged on the kit's own model, because no released server has the feature.",
        f"{found[CoverageState.DECODER]} are judged on decoders.",
        f"{found[CoverageState.NOT_JUDGED]} are not judged.",
    ]


def lines() -> list[str]:
    """The table of documents, and the other rows with their reasons."""
    width = max(map(len, by_document()))
    out = [f"{'':{width}} {'rows':>6} {' '.join(f'{state:>10}' for state in CoverageState)}"]
    for name, found in {**by_document(), "all": counts()}.items():
        cells = " ".join(f"{found[state]:>10}" for state in CoverageState)
        out.append(f"{name:{width}} {sum(found.values()):>6} {cells}")
    out.append("")
    for name, row in REQUIREMENTS.items():
        state = state_of(row)
        if state in _SAYS:
            part = f" (part of {row.within})" if row.within else ""
            out.append(f"{name:8} {_SAYS[state]}{part}")
        elif state is CoverageState.NOT_JUDGED:
            out.append(f"{name:8} not judged: {row.reason}")
    return [*out, "", *sentences()]


if __name__ == "__main__":
    sys.stdout.write("\n".join([*lines(), ""]))
