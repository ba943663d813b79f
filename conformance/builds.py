"""Compiled or pure: a wheel may have the inner loops of the decoders in both forms.

Python takes a compiled module where it lies beside its source. With ``BINLOG_LAB_PURE=1`` the sources are taken.
"""

from __future__ import annotations

import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

PURE: Final = "BINLOG_LAB_PURE"
_PACKAGE: Final = "conformance."


class _Sources:
    """Finds the modules of this package by their sources alone."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module of this package; ``None`` for others."""
        if not name.startswith(_PACKAGE):
            return None
        finders = [FileFinder(place, (SourceFileLoader, SOURCE_SUFFIXES)) for place in path or ()]
        return next((spec for finder in finders if (spec := finder.find_spec(name)) is not None), None)


def take_sources() -> None:
    """Import the sources, also where compiled modules lie beside them."""
    sys.meta_path.insert(0, _Sources)


def build() -> str:
    """``compiled`` or ``pure``: what runs in this process."""
    from conformance.reference.jsonb import leaves

    return "pure" if str(leaves.__file__).endswith(tuple(SOURCE_SUFFIXES)) else "compiled"
