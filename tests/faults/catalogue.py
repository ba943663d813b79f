"""The planted faults of the reference (``catalogue.toml``), and the text of a module with one of them.

Those of ``oracles.toml`` are for the fuzz targets alone, which must find them without the help of the unit tests.
Those of ``live.toml`` are for a run on a server alone.

Written from the sentences of the sheets, and from faults that were found (CHANGELOG), before the fuzz targets were
tuned. A fault that survives means a missing vector, property or target; it is no reason to take it out. What a mutant
of :mod:`tests.mutation` does as well is not in the catalogue.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.faults.change import apply, parse_change, scope

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = "conformance.reference"


class Fault(NamedTuple):
    """One change of a function or constant of a module. ``breaks``: the rule that no longer holds, with its section."""

    id: str
    module: str
    where: str
    change: str
    breaks: str


def _read(name: str) -> tuple[Fault, ...]:
    modules = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    return tuple(Fault(name, module, *row) for module, rows in modules.items() for name, row in rows.items())


FAULTS: Final = _read("catalogue.toml")
ORACLE_FAULTS: Final = _read("oracles.toml")
LIVE_FAULTS: Final = _read("live.toml")


def path_of(module: str) -> Path:
    """Where a module stands that is named as ``jsonb.encode``."""
    return ROOT.joinpath(*PACKAGE.split("."), *module.split(".")).with_suffix(".py")


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a module; nobody may change it."""
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def faulty_text(fault: Fault) -> str:
    """The source text of a module with its fault."""
    changed = ast.parse(path_of(fault.module).read_text(encoding="utf-8"))
    try:
        apply(parse_change(fault.change), scope(changed, fault.where))
    except ValueError as error:
        raise ValueError(f"{fault.id}: {fault.module}.{fault.where}: {error}") from None
    return ast.unparse(changed)
