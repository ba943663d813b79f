"""The workload of one episode: what comes next, given what the server said so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.explore.rules.definitions import AUDIT, alter, exchange, learnt, locked, objects, server, setting
from conformance.explore.rules.statements import DATA_RULES, insert
from conformance.explore.rules.tables import Table, draw_table
from conformance.explore.steps import DISCONNECT, KILL_REPLICA, KILL_SESSION, KILL_SOURCE, SIDE, Step
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from generators.draw import Draw

_DATA: Final = mix(*DATA_RULES)
_KINDS: Final = mix(("data", 180), ("begin", 6), ("alter", 4), ("setting", 6), ("server", 4), ("steps", 2))
_INSIDE: Final = mix(("data", 60), ("savepoint", 4), ("commit", 6), ("rollback", 3), ("setting", 1), ("kill", 1))
_SESSIONS: Final = mix((1, 18), (2, 1), (3, 1))  # a statement that meets a lock waits a whole second
LOCK_WAIT: Final = 1205
_MOST_WAITS: Final = 4  # in an episode: each takes a second on both sides
VARIABLES: Final = Step("SET @v = 5, @w = 'w', @k = 2, @p = '$.a'", "set-variable")


@dataclass(slots=True)
class _Session:
    """A session: its open transaction (``""``, ``transaction`` or ``xa``), savepoints, and what must follow."""

    number: int
    open: str = ""
    savepoints: int = 0
    xa: int = 0
    due: list[Step] = field(default_factory=list)


def _decides(due: list[Step], step: Step) -> bool:
    """Whether a statement ends a transaction that is prepared: it outlives its session."""
    return step.shape in ("xa-commit", "xa-rollback") and all(other.shape != "xa-prepare" for other in due)


class Workload:
    """Draws the steps of an episode. The caller says with :meth:`told` how each of them ended."""

    def __init__(self, draw: Draw, *, kills: bool = False, restarts: bool = False) -> None:
        self._draw = draw
        self._kills = kills  # whether the servers may be killed
        self._restarts = restarts  # whether replicas may be stopped and started
        self.tables: list[Table] = []
        self._sessions = [_Session(number) for number in range(draw.choice(_SESSIONS))]
        self._xa = 0
        self._altered: tuple[Table, str] | None = None
        self._groups = 0
        self._waits = 0
        self._holders: list[_Session] = []

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
        for session in self._sessions:
            yield replace(VARIABLES, session=session.number)
        for table in self.tables:
            for _ in range(draw.integer(2, 8)):
                yield insert(draw, table, self.tables)

    @property
    def tables_locked(self) -> bool:
        """Whether a session holds tables by LOCK TABLES: nobody else can look at them."""
        return any(step.shape == "unlock-tables" for session in self._sessions for step in session.due)

    def draw_from(self, draw: Draw) -> None:
        """Let another source decide from now on."""
        self._draw = draw

    def told(self, step: Step, error: int) -> None:
        """Take the outcome of a step: 0, or the number of its error; below 0 if it was not run."""
        if error and step.shape == "create-table":  # an index that this server does not make: nothing to work with
            self.tables = [table for table in self.tables if f"TABLE {table.name} " not in step.text]
        elif error and step.shape == "create-view":
            for table in self.tables:
                if table.view and f" {table.view} " in step.text:
                    table.view = ""
        elif error and step.shape == "create-joined-view":
            for table in self.tables:
                table.joined = "" if table.joined in step.text else table.joined
        elif not error and self._altered is not None and step.text == self._altered[1]:
            learnt(*self._altered)
        self._altered = None
        if error == LOCK_WAIT:
            self._waits += 1
            self._holders = [one for one in self._sessions if one.open and one.number != step.session]
        if error < 0 and step.shape in ("begin", "xa-start"):
            self._sessions[step.session].open = ""

    def next(self) -> Step:
        """The next step, of one of the sessions."""
        session = self._draw.choice(self._sessions)
        while self._holders:  # whoever holds what another session waited for ends its transaction
            holder = self._holders.pop()
            if holder.open:
                return replace(self._closing(holder, "commit"), session=holder.number)
        if self._kills and self._draw.chance(1, 40):
            return self._kill()
        while True:
            if session.due:
                step: Step | None = session.due.pop(0)
            else:
                step = self._inside(session) if session.open else self._outside(session)
            if step is not None:
                return replace(step, session=session.number)

    def together(self) -> list[Step]:
        """Statements of some sessions to run at the same time, each in a transaction or alone."""
        self._groups += 1
        steps: list[Step] = []
        for number in range(3):
            inside = self._draw.chance(1, 2)
            data = [step for step in (self._data() for _ in range(self._draw.integer(3, 12))) if step is not None]
            if inside:
                data = [
                    Step("BEGIN", "begin"),
                    *data,
                    Step(self._draw.choice(("COMMIT", "COMMIT", "ROLLBACK")), "commit"),
                ]
            steps += [replace(step, session=number, together=self._groups) for step in data]
        return steps

    def end(self) -> Iterator[Step]:
        """The steps that leave no transaction open."""
        for session in self._sessions:
            if session.open:
                yield replace(self._closing(session, "commit"), session=session.number)
            while session.due:
                yield replace(session.due.pop(0), session=session.number)

    def _kill(self) -> Step:
        """Kill a server. With the source, all sessions end and begin anew: what they had open is gone."""
        if self._draw.chance(1, 2):
            return Step(KILL_REPLICA, "kill-replica", alone=True)
        self._sessions = [
            _Session(session.number, xa=session.xa, due=[step for step in session.due if _decides(session.due, step)])
            for session in self._sessions
        ]
        return Step(KILL_SOURCE, "kill-source", alone=True)

    def _outside(self, session: _Session) -> Step | None:
        draw = self._draw
        kind = draw.choice(_KINDS)
        if kind == "begin":
            return self._begin(session) if self._waits < _MOST_WAITS else None
        if kind == "alter":
            table = draw.choice(self.tables)
            step = alter(draw, table)
            if step.text.startswith("ALTER"):
                self._altered = (table, step.text)
            return step
        if kind == "steps":
            rule = draw.choice((exchange, locked)) if len(self._sessions) == 1 else exchange  # nobody waits for locks
            session.due += rule(draw, draw.choice(self.tables))
            return session.due.pop(0) if session.due else None
        if kind == "setting":
            return setting(draw)
        if kind == "server":
            return server(draw, restarts=self._restarts)
        return self._data()

    def _begin(self, session: _Session) -> Step:
        session.savepoints = 0
        if self._draw.chance(1, 4):
            self._xa += 1
            session.xa, session.open = self._xa, "xa"
            return Step(f"XA START '{SIDE}{self._xa}'", "xa-start")
        session.open = "transaction"
        words = ("BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT")
        return Step(self._draw.choice(words), "begin")

    def _inside(self, session: _Session) -> Step | None:
        kind = self._draw.choice(_INSIDE)
        if kind == "savepoint":
            if session.open == "xa":
                return None
            if session.savepoints and self._draw.chance(1, 2):
                session.savepoints = back = self._draw.integer(1, session.savepoints)
                return Step(f"ROLLBACK TO SAVEPOINT s{back}", "rollback-to-savepoint")
            session.savepoints += 1
            return Step(f"SAVEPOINT s{session.savepoints}", "savepoint")
        if kind in ("commit", "rollback"):
            return self._closing(session, kind)
        if kind == "kill":
            session.open = ""
            return Step(KILL_SESSION, "kill-session")
        return setting(self._draw) if kind == "setting" else self._data()

    def _closing(self, session: _Session, kind: str) -> Step:
        was, session.open = session.open, ""
        if was != "xa":
            return Step(kind.upper(), kind)
        name = f"'{SIDE}{session.xa}'"
        if kind == "commit" and self._draw.chance(1, 3):
            session.due += [Step(f"XA COMMIT {name} ONE PHASE", "xa-commit-one-phase")]
        else:
            left = [Step(DISCONNECT, "xa-disconnect")] if self._draw.chance(1, 3) else []
            decided = Step(f"XA {kind.upper()} {name}", f"xa-{kind}")
            session.due += [Step(f"XA PREPARE {name}", "xa-prepare"), *left, decided]
        return Step(f"XA END {name}", "xa-end")

    def _data(self) -> Step | None:
        rule = self._draw.choice(_DATA)
        table = self._draw.choice(self.tables)
        step: Step | None = rule(self._draw, table, self.tables)
        return step
