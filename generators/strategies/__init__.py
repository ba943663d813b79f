"""Hypothesis strategies: the generators of this package, searched and shrunk by Hypothesis.

Every strategy checks its arguments when it is called, gives well-formed values only (damage is in
:func:`~generators.strategies.malformed.damaged`), and shrinks toward small, shallow, ASCII values.
"""

from __future__ import annotations

from importlib.util import find_spec

from conformance.extras import to_install

if find_spec("hypothesis") is None:
    raise ModuleNotFoundError(
        f"generators.strategies needs Hypothesis, the extra strategies: {to_install('strategies')}",
        name="hypothesis",
    )

from generators.strategies.documents import documents, keys, opaques, scalars, stored, texts
from generators.strategies.draw import HypothesisDraw, drawn
from generators.strategies.malformed import Damaged, damaged
from generators.strategies.updates import advance, assignments, diffs, paths, sequences, tables

__all__ = [
    "Damaged",
    "HypothesisDraw",
    "advance",
    "assignments",
    "damaged",
    "diffs",
    "documents",
    "drawn",
    "keys",
    "opaques",
    "paths",
    "scalars",
    "sequences",
    "stored",
    "tables",
    "texts",
]
