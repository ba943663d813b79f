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
from typing import Final

from tests.faults.change import apply, parse_change, scope
from tests.faults.fault import Fault

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = "conformance.reference"


def _read(name: str) -> tuple[Fault, ...]:
    """Changes of one function or constant (``where``) of a module (``at``); the sentence is the rule that no longer
    holds, with its section."""
    modules = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    return tuple(
        Fault(name, "", rule, change, at=module, run={"where": where})
        for module, rows in modules.items()
        for name, (where, change, rule) in rows.items()
    )


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
    changed = ast.parse(path_of(fault.at).read_text(encoding="utf-8"))
    try:
        apply(parse_change(fault.change), scope(changed, fault.run["where"]))
    except ValueError as error:
        raise ValueError(f"{fault.id}: {fault.at}.{fault.run['where']}: {error}") from None
    return ast.unparse(changed)
