"""The workload of one episode: what comes next, given what the server said so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.rules.definitions import AUDIT, alter, flush, learnt, objects, setting
from conformance.explore.rules.statements import DATA_RULES, insert
from conformance.explore.rules.tables import Table, draw_table
from conformance.explore.steps import SIDE, Step
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from generators.draw import Draw

_DATA: Final = mix(*DATA_RULES)
_KINDS: Final = mix(("data", 180), ("begin", 6), ("alter", 4), ("setting", 6), ("flush", 1))
_INSIDE: Final = mix(("data", 60), ("savepoint", 4), ("commit", 6), ("rollback", 3), ("setting", 1))


class Workload:
    """Draws the steps of an episode. The caller says with :meth:`told` how each of them ended."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.tables: list[Table] = []
        self._open = ""  # how a transaction ends: "", "transaction" or "xa"
        self._savepoints = 0
        self._xa = 0
        self._due: list[Step] = []
        self._altered: tuple[Table, str] | None = None

    def setup(self) -> Iterator[Step]:
        """The statements that make the tables, their objects, and the first rows."""
        draw = self._draw
        yield AUDIT
        if draw.chance(1, 6):
            yield Step("SET SESSION sql_generate_invisible_primary_key = ON", "setting/invisible-key")
        for number in range(draw.choice((1, 2, 2, 3))):
            table, step = draw_table(draw, f"t{number}", self.tables)
            self.tables.append(table)
            yield step
        for table in self.tables:
            yield from objects(draw, table, self.tables)
        yield Step("SET @v = 5, @w = 'w', @k = 2", "set-variable")
        for table in self.tables:
            for _ in range(draw.integer(2, 8)):
                yield insert(draw, table, self.tables)

    def told(self, step: Step, error: int) -> None:
        """Take the outcome of the last step: 0, or the number of its error."""
        if error and step.shape == "create-table":  # an index that this server does not make: nothing to work with
            self.tables = [table for table in self.tables if f"TABLE {table.name} " not in step.text]
        if not error and step.shape == "create-view":
            return
        if error and step.shape == "create-view":
            for table in self.tables:
                if f" {table.view} " in step.text:
                    table.view = ""
        if not error and self._altered is not None and step.text == self._altered[1]:
            learnt(*self._altered)
        self._altered = None

    def next(self) -> Step:
        """The next step."""
        if self._due:
            return self._due.pop(0)
        while True:
            step = self._inside() if self._open else self._outside()
            if step is not None:
                return step

    def end(self) -> Iterator[Step]:
        """The steps that leave no transaction open."""
        if self._open:
            yield self._closing("commit")
        while self._due:
            yield self._due.pop(0)

    def _outside(self) -> Step | None:
        draw = self._draw
        kind = draw.choice(_KINDS)
        if kind == "begin":
            return self._begin()
        if kind == "alter":
            table = draw.choice(self.tables)
            step = alter(draw, table)
            if step.text.startswith("ALTER"):
                self._altered = (table, step.text)
            return step
        if kind == "setting":
            return setting(draw)
        if kind == "flush":
            return flush(draw)
        return self._data()

    def _begin(self) -> Step:
        self._savepoints = 0
        if self._draw.chance(1, 4):
            self._xa += 1
            self._open = "xa"
            return Step(f"XA START '{SIDE}{self._xa}'", "xa-start")
        self._open = "transaction"
        return Step(
            self._draw.choice(("BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT")), "begin"
        )

    def _inside(self) -> Step | None:
        kind = self._draw.choice(_INSIDE)
        if kind == "savepoint":
            if self._open == "xa":
                return None
            if self._savepoints and self._draw.chance(1, 2):
                back = self._draw.integer(1, self._savepoints)
                self._savepoints = back
                return Step(f"ROLLBACK TO SAVEPOINT s{back}", "rollback-to-savepoint")
            self._savepoints += 1
            return Step(f"SAVEPOINT s{self._savepoints}", "savepoint")
        if kind in ("commit", "rollback"):
            return self._closing(kind)
        if kind == "setting":
            return setting(self._draw)
        return self._data()

    def _closing(self, kind: str) -> Step:
        was, self._open = self._open, ""
        if was != "xa":
            return Step(kind.upper(), kind)
        name = f"'{SIDE}{self._xa}'"
        if kind == "commit" and self._draw.chance(1, 3):
            self._due += [Step(f"XA COMMIT {name} ONE PHASE", "xa-commit-one-phase")]
        else:
            self._due += [Step(f"XA PREPARE {name}", "xa-prepare"), Step(f"XA {kind.upper()} {name}", f"xa-{kind}")]
        return Step(f"XA END {name}", "xa-end")

    def _data(self) -> Step | None:
        rule = self._draw.choice(_DATA)
        table = self._draw.choice(self.tables)
        step: Step | None = rule(self._draw, table, self.tables)
        return step
