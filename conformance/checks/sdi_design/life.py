"""The life of a tablespace: changes of both copies, failures, savepoints, purge, crashes and recoveries.

Each action is one step. After every mini-transaction and every page that is written, the guarantee is judged. From
time to time the machine stops there, with some dirty pages written, and recovers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.sdi_design.guarantee import Guarantee, GuaranteeBroken
from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design import usage
from conformance.reference.innodb.sdi_design.calls import SdiLength, Session
from conformance.reference.innodb.sdi_design.pages import COPIES, SdiKey, read_copy
from conformance.reference.innodb.sdi_design.storage import Tablespace
from conformance.reference.innodb.sdi_design.transactions import Engine
from conformance.reference.innodb.sdi_design.usage import Change
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.checks.sdi_design.guarantee import State
    from generators.draw import Draw

SPACE: Final = 7
LENGTHS: Final = (1, 0, 20, 40, 41, 60, 61, 120, 300)
_FAR: Final = 50  # moments within which a crash is planned
_BUFFER: Final = 512


class Wrong(Exception):
    """A result of a call, a reader or a recovery that is not what the worklog promises."""


class _Crash(Exception):
    """The machine stops."""


class Life:
    """One tablespace with SDI, and the state that was committed last.

    ``draw`` decides; a smaller number is simpler: no crash, no page written early.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.engine = Engine()
        self.space = self.engine.tablespaces[SPACE] = Tablespace(SPACE, "t.ibd")
        self.session = Session(self.engine)
        self.session.sdi_create(SPACE, COPIES)
        self.guarantee = Guarantee(self.space)
        self.engine.watch = self._watch
        self.state: State = {}
        self.crashes = 0
        self.unflushed: dict[int, Tablespace] = {}  # purge threads between their operation and their flush
        self._crash_in = 0
        self._writes_early = False
        self._committed = False

    # --- actions -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One action that the worklog's guarantee covers: nothing else runs beside it, no purge either."""
        self.draw.choice(_ACTIONS)(self)

    def change(self) -> None:
        """Change both copies as the worklog's example does."""
        self._run(self._changes(), lambda changes: usage.change_both_copies(self.session, SPACE, changes))

    def failing_change(self) -> None:
        """The same, interrupted at some call."""
        changes = self._changes()
        self.session.interrupted_after = self.draw.below(2 * len(changes))
        self._run(changes, lambda changes: usage.change_both_copies(self.session, SPACE, changes), fails=True)
        self.session.interrupted_after = None

    def change_with_savepoint(self) -> None:
        """The same, behind changes of the first copy that were rolled back to a savepoint."""
        changes, others = self._changes(), self._changes()

        def run(changes: Sequence[Change]) -> bool:
            self.session.savepoint("s")
            usage.change_copy(self.session, SPACE, others, 0)
            if self.session.rollback_to_savepoint("s"):
                raise Wrong("a savepoint is not known")
            return usage.change_both_copies(self.session, SPACE, changes)

        self._run(changes, run)

    def crash(self) -> None:
        """A change, and a crash at some moment of it or of the recovery."""
        self._crash_in = 1 + self.draw.below(_FAR)
        self.draw.choice((Life.change, Life.failing_change, Life.change_with_savepoint, Life.purge))(self)
        self._crash_in = 0

    def purge(self) -> None:
        """Purge everything with one thread."""
        self._guarded(self.engine.purge, [self.state])
        self.settle()

    def write_early(self) -> None:
        """From now on the buffer pool writes pages when it likes, or no longer."""
        self._writes_early = not self._writes_early

    # --- purge with several threads: not covered by the guarantee ----------------------------------------------------

    def begin_purge(self, thread: int) -> None:
        """A thread does one operation of the history."""
        if thread not in self.unflushed and self.engine.history:
            number = self.draw.below(len(self.engine.history))
            self.unflushed[thread] = self.space
            self.engine.purge_operation(number)

    def finish_purge(self, thread: int) -> None:
        """A thread flushes behind its operation."""
        if thread in self.unflushed:
            self.engine.after_purge(self.unflushed.pop(thread))

    # --- what holds --------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """After a change both copies are flushed and have the committed state."""
        for copy_num in range(COPIES):
            try:
                found = read_copy(self.space.page_on_disk, self.space.size, copy_num).data
            except DecodeError as error:
                raise Wrong(f"copy {copy_num} is not readable after a change: {error}") from None
            if found != self.state:
                raise Wrong(f"copy {copy_num} has {found} in the file, not {self.state}")
            if (seen := self.seen(copy_num)) != self.state:
                raise Wrong(f"copy {copy_num} is read as {seen}, not as {self.state}")

    def seen(self, copy_num: int) -> State:
        """A copy as another session reads it."""
        reader = Session(self.engine)
        keys: list[SdiKey] = []
        reader.sdi_get_keys_by_id(SPACE, keys, copy_num)
        out = {}
        for key in keys:
            buffer, length = bytearray(_BUFFER), SdiLength(_BUFFER)
            if not reader.sdi_get_by_id(SPACE, key, buffer, length, copy_num):
                out[key] = bytes(buffer[: length.value])
        return out

    # --- how an action runs ------------------------------------------------------------------------------------------

    def _changes(self) -> list[Change]:
        draw = self.draw
        out: dict[SdiKey, Change] = {}
        for _ in range(1 + draw.below(4)):
            known = sorted(self.state)
            if known and draw.chance(2, 5):
                key = draw.choice(known)
                out[key] = Change(key, None)
            else:
                key = SdiKey(1 + draw.below(2), draw.below(30))
                out[key] = Change(key, bytes([draw.below(256)]) * draw.choice(LENGTHS))
        return list(out.values())

    def _run(self, changes: Sequence[Change], run: Callable[[Sequence[Change]], bool], *, fails: bool = False) -> None:
        """Run a change; afterwards the state is that of before or of after."""
        after = {key: data for key, data in {**self.state, **dict(changes)}.items() if data is not None}
        failed: list[bool] = []
        self._committed = False
        self._guarded(lambda: failed.append(run(changes)), [self.state, after])
        if failed and failed[0] != fails:
            raise Wrong(f"the change gives {failed[0]}, not {fails}")
        if self._committed:
            self.state = after
        self.settle()

    def _guarded(self, run: Callable[[], None], acceptable: list[State]) -> None:
        """Run under the guarantee, and recover from a crash."""
        self.guarantee.acceptable = acceptable
        try:
            run()
        except _Crash:
            self._recover()

    def _recover(self) -> None:
        while True:
            self.crashes += 1
            dirty = sorted(self.space.dirty)
            written = self.draw.sample(dirty, self.draw.below(len(dirty) + 1))
            self.engine.crash({SPACE: written}, self.draw.below(self.engine.lsn + 1))
            self.guarantee("crash")
            self.session = Session(self.engine)
            self._crash_in = self.draw.below(_FAR)
            try:
                self.engine.recover()
            except _Crash:
                continue
            return

    def _watch(self, where: str) -> None:
        if self._writes_early and self.space.dirty and self.draw.chance(1, 4):
            self.engine.write_page(self.space, self.draw.choice(sorted(self.space.dirty)))
        self.guarantee(where)
        self._committed |= where == "committed"
        if self._crash_in:
            self._crash_in -= 1
            if not self._crash_in:
                raise _Crash(where)


_ACTIONS: Final = mix(
    (Life.change, 8),
    (Life.purge, 3),
    (Life.failing_change, 3),
    (Life.change_with_savepoint, 2),
    (Life.crash, 6),
    (Life.write_early, 1),
)


def live(draw: Draw, steps: int) -> Life:
    """Many steps of one life. Raises :class:`Wrong` or ``GuaranteeBroken``."""
    life = Life(draw)
    for _ in range(steps):
        life.step()
    return life


def purge_with_two_threads(draw: Draw) -> GuaranteeBroken | None:
    """A life in which two threads purge at the same time; returns the crash that leaves no copy, if it meets one."""
    life = Life(draw)
    try:
        for _ in range(6):
            life.change()
        life.guarantee.acceptable = [life.state]
        for _ in range(40):
            thread = draw.below(2)
            (life.finish_purge if thread in life.unflushed else life.begin_purge)(thread)
    except GuaranteeBroken as broken:
        return broken
    return None
