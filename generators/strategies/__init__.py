"""Hypothesis strategies: the generators of this package, searched and shrunk by Hypothesis.

Every strategy checks its arguments when it is called, gives well-formed values only (damage is in
:func:`~generators.strategies.malformed.damaged`), and shrinks toward small, shallow, ASCII values.
"""

from __future__ import annotations

from generators.strategies.documents import documents, keys, opaques, scalars, stored, texts
from generators.strategies.draw import HypothesisDraw, drawn
from generators.strategies.malformed import Damaged, damaged
from generators.strategies.updates import assignments, paths, sequences, tables

__all__ = [
    "Damaged",
    "HypothesisDraw",
    "assignments",
    "damaged",
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
