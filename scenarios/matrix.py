"""Scenario matrices: data files that define scenarios and the rules that must hold for them.

A matrix is a TOML file. Its ``axes`` make the cells: their cross product, in the order of the file, the last axis
changing fastest. Its ``ranges`` are drawn anew for each scenario of a cell. ``scenarios`` gives the number of scenarios
and their spread. ``budgets`` are verdicts in SQL over the rows that the worker makes. The engine
(``scenarios.engines``) defines the names of axes and ranges, and their values.

A matrix has a digest over its content and the engine's revision: a scenario is a function of (digest, cell, index) and
of nothing else.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module, resources
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.messages import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

Setting: TypeAlias = "int | str"

ENGINES: Final = ("update", "equivalence", "safety")
MAX_CELLS: Final = 1000  # a cell is a directory of Parquet files; more make a run slow to list
MAX_PER_CELL: Final = 1 << 40


class MatrixError(ValueError):
    """A matrix is missing or invalid: the message says what, where, expected, got."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A rule over rows, in SQL: ``must`` holds wherever ``where`` does. The texts may name ``constants``.

    ``requirement``: the requirement that it judges. ``offender``: an expression whose largest values are the worst
    rows. ``distance``: an expression that is 0 for a good row at the border, and the larger the further away it is.
    ``rows``: ``right``, or ``all`` to judge rows with a wrong code too, which have no measures but the verdict.
    ``share``: so many per cent of the rows of every cell must keep the rule; 0: each row.
    """

    id: str
    requirement: str
    title: str
    where: str
    must: str
    constants: tuple[tuple[str, int], ...] = ()
    offender: str = "0"
    distance: str = ""
    rows: str = "right"
    share: int = 0
    least: int = 1  # rows the budget must meet, or it shows nothing


@dataclass(frozen=True)
class Matrix:
    """A loaded matrix. ``axes`` and ``ranges`` map names to values; ``weights`` one axis' values to shares."""

    name: str
    title: str
    engine: str
    total: int
    axes: Mapping[str, tuple[Setting, ...]]
    ranges: Mapping[str, tuple[Setting, ...]]
    weight_axis: str
    weights: tuple[float, ...]
    budgets: tuple[Budget, ...]
    content: str = field(repr=False)  # the canonical text, the digest's input

    @cached_property
    def digest(self) -> str:
        """The matrix's digest: sixteen hex digits."""
        revision = self.module.REVISION
        return hashlib.blake2b(f"{revision}\n{self.content}".encode(), digest_size=8).hexdigest()

    @property
    def module(self) -> ModuleType:
        """The engine's module."""
        return import_module(f"scenarios.engines.{self.engine}")

    @cached_property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(len(values) for values in self.axes.values())

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of a row, all of them 64-bit integers: identity, settings, measures."""
        return ("cell", "scenario", *self.axes, *self.ranges, *self.module.MEASURES)

    def cell(self, number: int) -> dict[str, Setting]:
        """The settings of a cell."""
        if not 0 <= number < self.cells:
            raise MatrixError(f"matrix {self.name}: no cell {number}; cells are 0 to {self.cells - 1}")
        out: dict[str, Setting] = {}
        for name, values in reversed(list(self.axes.items())):
            number, index = divmod(number, len(values))
            out[name] = values[index]
        return dict(reversed(out.items()))

    def code(self, name: str, value: Setting) -> int:
        """The integer for a setting in a row: an integer stands for itself, a word for its place in the matrix."""
        if isinstance(value, int):
            return value
        values = self.axes.get(name) or self.ranges[name]
        return list(dict.fromkeys(values)).index(value)

    def words(self, name: str) -> tuple[str, ...] | None:
        """The words behind the codes of a setting; ``None`` if the setting is a number."""
        values = tuple(dict.fromkeys(self.axes.get(name) or self.ranges[name]))
        return None if isinstance(values[0], int) else tuple(map(str, values))

    def share(self, scenarios: int) -> list[int]:
        """The number of scenarios of each cell for this total: by weight, at least one, with exactly this sum."""
        if not self.cells <= scenarios <= MAX_PER_CELL:
            raise MatrixError(
                f"matrix {self.name} has {self.cells} cells: --scenarios is {self.cells} or more, got {scenarios}"
            )
        weights = [self._weight(number) for number in range(self.cells)]
        spare, scale = scenarios - self.cells, sum(weights)
        counts = [1 + int(spare * weight / scale) for weight in weights]
        # The remainder of rounding goes to the heaviest cells, one each, in their order.
        order = sorted(range(self.cells), key=lambda number: (-weights[number], number))
        for step in range(scenarios - sum(counts)):
            counts[order[step % len(order)]] += 1
        return counts

    def _weight(self, number: int) -> float:
        if not self.weight_axis:
            return 1.0
        return self.weights[self.axes[self.weight_axis].index(self.cell(number)[self.weight_axis])]


def matrix_names() -> list[str]:
    """The names of the matrices in the package."""
    found = resources.files("scenarios.matrices").iterdir()
    return sorted(item.name.removesuffix(".toml") for item in found if item.name.endswith(".toml"))


def load_matrix(name: str) -> Matrix:
    """A matrix of the package by name."""
    if name not in matrix_names():
        known = matrix_names()
        raise MatrixError(f"no matrix {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}")
    text = resources.files("scenarios.matrices").joinpath(f"{name}.toml").read_text("utf-8")
    return parse_matrix(text, f"{name}.toml")


def parse_matrix(text: str, where: str) -> Matrix:
    """Parse a matrix from its TOML text; ``where`` names it in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MatrixError(f"{where}: not TOML: {error}") from error
    reader = _Reader(where, data)
    name, title = reader.text("name"), reader.text("title")
    engine = reader.text("engine")
    if engine not in ENGINES:
        raise reader.error("engine", f"one of {', '.join(ENGINES)}", engine)
    settings = import_module(f"scenarios.engines.{engine}").SETTINGS
    axes = reader.settings("axes", settings)
    ranges = reader.settings("ranges", settings)
    if not axes:
        raise reader.error("axes", "at least one axis", "none")
    twice = sorted(set(axes) & set(ranges))
    if twice:
        raise reader.error("ranges", "no name that is an axis too", ", ".join(twice))
    cells = prod(len(values) for values in axes.values())
    if cells > MAX_CELLS:
        raise reader.error("axes", f"at most {MAX_CELLS} cells (what is not to be told apart is a range)", cells)
    for axis, values in axes.items():
        if len(set(values)) != len(values):
            raise reader.error(f"axes.{axis}", "each value once", list(values))
    total, weight_axis, weights = reader.scenarios(axes)
    budgets = reader.budgets()
    unknown = sorted(set(data) - {"name", "title", "engine", "axes", "ranges", "scenarios", "budgets"})
    if unknown:
        raise reader.error(unknown[0], "no such key", "it")
    # Budgets judge rows and do not make them: a changed rule does not change a scenario.
    seeded = {key: value for key, value in data.items() if key in ("name", "engine", "axes", "ranges")}
    content = json.dumps(seeded, sort_keys=False, separators=(",", ":"))
    return Matrix(name, title, engine, total, axes, ranges, weight_axis, weights, budgets, content)


class _Reader:
    """Reads the parts of a matrix file; every error names the place."""

    def __init__(self, where: str, data: dict[str, Any]) -> None:
        self.where = where
        self.data = data

    def error(self, key: str, expected: str, got: object) -> MatrixError:
        return MatrixError(f"{self.where}: {key}: expected {expected}, got {got}")

    def text(self, key: str) -> str:
        value = self.data.get(key)
        if not isinstance(value, str) or not value:
            raise self.error(key, "a text", repr(value))
        return value

    def settings(self, key: str, known: Mapping[str, Any]) -> dict[str, tuple[Setting, ...]]:
        table = self.data.get(key, {})
        if not isinstance(table, dict):
            raise self.error(key, "a table", repr(table))
        out: dict[str, tuple[Setting, ...]] = {}
        for name, values in table.items():
            place = f"{key}.{name}"
            if name not in known:
                raise self.error(place, f"one of {', '.join(sorted(known))}", name)
            if not isinstance(values, list) or not values:
                raise self.error(place, "a list of values", repr(values))
            allowed = known[name]
            for value in values:
                if isinstance(value, bool) or value not in allowed:
                    raise self.error(place, _say(allowed), repr(value))
            out[name] = tuple(values)
        return out

    def scenarios(self, axes: Mapping[str, tuple[Setting, ...]]) -> tuple[int, str, tuple[float, ...]]:
        table = self.data.get("scenarios")
        if not isinstance(table, dict):
            raise self.error("scenarios", "a table", repr(table))
        total = table.get("total")
        if not isinstance(total, int) or isinstance(total, bool) or total < 1:
            raise self.error("scenarios.total", "a number of scenarios", repr(total))
        others = [key for key in table if key != "total"]
        if not others:
            return total, "", ()
        axis = others[0]
        if len(others) > 1 or axis not in axes:
            raise self.error("scenarios", "total, and the weights of one axis", ", ".join(others))
        given = table[axis]
        if not isinstance(given, list) or len(given) != len(axes[axis]):
            raise self.error(f"scenarios.{axis}", f"{len(axes[axis])} weights, one for each value", repr(given))
        for weight in given:
            if isinstance(weight, bool) or not isinstance(weight, int | float) or weight <= 0:
                raise self.error(f"scenarios.{axis}", "weights over 0", repr(weight))
        return total, axis, tuple(map(float, given))

    def budgets(self) -> tuple[Budget, ...]:
        found = self.data.get("budgets", [])
        if not isinstance(found, list) or not found:
            raise self.error("budgets", "at least one budget", repr(found))
        out: list[Budget] = []
        for number, table in enumerate(found):
            place = f"budgets[{number}]"
            if not isinstance(table, dict):
                raise self.error(place, "a table", repr(table))
            for key in ("id", "requirement", "title", "where", "must"):
                if not isinstance(table.get(key), str) or not table[key]:
                    raise self.error(f"{place}.{key}", "a text", repr(table.get(key)))
            unknown = sorted(set(table) - set(Budget.__dataclass_fields__))
            if unknown:
                raise self.error(f"{place}.{unknown[0]}", "no such key", "it")
            if table.get("rows", "right") not in ("right", "all"):
                raise self.error(f"{place}.rows", "right or all", repr(table["rows"]))
            share = table.get("share", 0)
            if isinstance(share, bool) or not isinstance(share, int) or not 0 <= share <= 100:
                raise self.error(f"{place}.share", "a number of per cent", repr(share))
            constants = table.get("constants", {})
            for name, value in constants.items():
                if isinstance(value, bool) or not isinstance(value, int):
                    raise self.error(f"{place}.constants.{name}", "an integer", repr(value))
            texts = {key: value for key, value in table.items() if key != "constants"}
            out.append(Budget(**texts, constants=tuple(sorted(constants.items()))))
        ids = [budget.id for budget in out]
        if len(set(ids)) != len(ids):
            raise self.error("budgets", "each id once", ids)
        return tuple(out)


def _say(allowed: Any) -> str:
    return f"{allowed.start} to {allowed.stop - 1}" if isinstance(allowed, range) else f"one of {', '.join(allowed)}"
