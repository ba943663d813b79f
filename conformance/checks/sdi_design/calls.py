"""Random calls of the API by two sessions, beside plain dictionaries that say what each call must give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.sdi_design.life import LENGTHS
from conformance.judge.problem import Problem
from conformance.reference.innodb.sdi_design import transactions
from conformance.reference.innodb.sdi_design.calls import UINT64_MAX, SdiLength, Session
from conformance.reference.innodb.sdi_design.pages import COPIES, SdiKey
from conformance.reference.innodb.sdi_design.storage import Tablespace
from conformance.reference.innodb.sdi_design.transactions import Engine
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.checks.sdi_design.guarantee import State
    from generators.draw import Draw

_SPACES: Final = {7: "a.ibd", 8: "b.ibd", 9: "temporary"}
_TEMPORARY, _UNKNOWN = 9, 10
_DRAWN: Final = (*[7] * 9, *[8] * 3, _TEMPORARY, _UNKNOWN)
_COPIES: Final = (0, 1, 0, 1, 0, 1, 2, -1)
VERSIONS, CALLS = "SDI24", "SDI42"  # what a reader sees while others change; the answer of any other call
_OF_VERSIONS: Final = frozenset({"commit", "rollback", "savepoint", "rollback_to_savepoint", "purge"})
_GUARD: Final = b"\xa5"  # what a call must leave behind the length that it was given


@dataclass(slots=True)
class Expected:
    """The committed records, by tablespace and copy, and the changes of each session since then, in order."""

    copies: dict[int, list[State]] = field(default_factory=dict)
    pending: list[list[tuple[int, int, SdiKey, bytes | None]]] = field(default_factory=lambda: [[], []])
    savepoints: list[dict[str, int]] = field(default_factory=lambda: [{}, {}])

    def view(self, session: int | None, space: int, copy_num: int) -> State | None:
        """A copy as a session sees it, or as the file has it; ``None`` where there is no such copy."""
        if not 0 <= copy_num < len(self.copies.get(space, ())):
            return None
        out = dict(self.copies[space][copy_num])
        for *place, key, data in () if session is None else self.pending[session]:
            if place == [space, copy_num]:
                out.pop(key, None)
                if data is not None:
                    out[key] = data
        return out

    def locked(self, session: int, space: int, copy_num: int, key: SdiKey) -> bool:
        """Whether the other session has changed the key."""
        return any(change[:3] == (space, copy_num, key) for change in self.pending[1 - session])

    def commit(self, session: int) -> None:
        """Move the changes of a session to what was committed."""
        for space, copy_num in {change[:2] for change in self.pending[session]}:
            view = self.view(session, space, copy_num)
            assert view is not None
            self.copies[space][copy_num] = view
        self.end(session)

    def end(self, session: int) -> None:
        """Forget the changes of a session."""
        self.pending[session].clear()
        self.savepoints[session].clear()


class _Place(NamedTuple):
    """Where a call goes. ``high``: the upper half of the 64-bit id of the tablespace."""

    session: int
    space: int
    high: int
    copy_num: int

    @property
    def tablespace(self) -> int:
        return self.high << 32 | self.space


class Calls:
    """Calls of two sessions, one after another."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.engine = Engine()
        for space_id, name in _SPACES.items():
            self.engine.tablespaces[space_id] = Tablespace(space_id, name, temporary=space_id == _TEMPORARY)
        self.sessions = [Session(self.engine) for _ in range(2)]
        self.expected = Expected()
        self.create(_Place(0, 7, 0, 0))

    def step(self) -> Iterator[Problem]:
        """One call, and what is wrong with its answer."""
        draw = self.draw
        at = _Place(draw.below(2), draw.choice(_DRAWN), draw.choice((0, 0, 1, 0xFFFFFFFF)), draw.choice(_COPIES))
        name, call = draw.choice(_CALLS)
        expected, got = call(self, at)
        if expected != got:
            broken = (VERSIONS,) if name in _OF_VERSIONS else (CALLS,)
            words = f"{name} gives another answer"
            yield Problem(f"{name}, {at}", str(expected), str(got), words, requirements=broken)

    # --- tablespaces -------------------------------------------------------------------------------------------------

    def create(self, at: _Place) -> tuple[object, object]:
        count = self.draw.choice((COPIES, COPIES, COPIES, 0, 1, 3)) if self.expected.copies else COPIES
        fails = at.space in (_TEMPORARY, _UNKNOWN) or count != COPIES or at.space in self.expected.copies
        if not fails:
            self.expected.copies[at.space] = [{}, {}]
        return fails, self.sessions[at.session].sdi_create(at.tablespace, count)

    def drop(self, at: _Place) -> tuple[object, object]:
        if self.draw.chance(7, 8):
            return None, None  # seldom: it ends what the other calls are about
        changed = any(change[0] == at.space for pending in self.expected.pending for change in pending)
        fails = at.space not in self.expected.copies or changed
        if not fails:
            del self.expected.copies[at.space]
        got = self.sessions[at.session].sdi_drop(at.tablespace)
        return (fails, fails or 0), (got, fails or self.sessions[at.session].sdi_get_num_copies(at.tablespace))

    def num_copies(self, at: _Place) -> tuple[object, object]:
        """Now and then with page 1 damaged, which page 2 makes good, or with both."""
        session, has = self.sessions[at.session], at.space in self.expected.copies
        there = self.engine.tablespaces.get(at.space)
        if there is None or self.draw.chance(3, 4):
            return COPIES * has, session.sdi_get_num_copies(at.tablespace)
        self.engine.flush(there)
        kept = dict(there.disk)
        there.damage(1)
        one = session.sdi_get_num_copies(at.tablespace)
        keys: list[SdiKey] = []
        read = session.sdi_get_keys_by_id(at.tablespace, keys, 1)
        there.damage(2)
        both = session.sdi_get_num_copies(at.tablespace)
        there.disk = kept
        view = self.expected.view(at.session, at.space, 1)
        return (COPIES * has, 0, not has, sorted(view or ())), (one, both, read, keys)

    def flush(self, at: _Place) -> tuple[object, object]:
        fails = self.sessions[at.session].sdi_flush(at.tablespace)
        there = self.engine.tablespaces.get(at.space)
        return (at.space == _UNKNOWN, False), (fails, there is not None and bool(there.dirty))

    # --- one copy ----------------------------------------------------------------------------------------------------

    def set(self, at: _Place) -> tuple[object, object]:
        key, data = self._key(), self._data()
        length = len(data) + self.draw.choice((0, 0, 0, 0, 0, 0, -1, 1))
        there = self.expected.view(at.session, at.space, at.copy_num) is not None
        fails = (
            not there or self.expected.locked(at.session, at.space, at.copy_num, key) or not 0 <= length <= len(data)
        )
        if not fails:
            self.expected.pending[at.session].append((at.space, at.copy_num, key, data[:length]))
        return fails, self.sessions[at.session].sdi_set(at.tablespace, key, data, length, at.copy_num)

    def delete(self, at: _Place) -> tuple[object, object]:
        view = self.expected.view(at.session, at.space, at.copy_num)
        key = self.draw.choice(sorted(view)) if view and self.draw.chance(2, 3) else self._key()
        fails = view is None or key not in view or self.expected.locked(at.session, at.space, at.copy_num, key)
        if not fails:
            self.expected.pending[at.session].append((at.space, at.copy_num, key, None))
        return fails, self.sessions[at.session].sdi_delete(at.tablespace, key, at.copy_num)

    def get_keys(self, at: _Place) -> tuple[object, object]:
        view = self.expected.view(at.session, at.space, at.copy_num)
        keys: list[SdiKey] = []
        fails = self.sessions[at.session].sdi_get_keys_by_id(at.tablespace, keys, at.copy_num)
        return (view is None, sorted(view or ())), (fails, keys)

    def get(self, at: _Place) -> tuple[object, object]:
        session = self.sessions[at.session]
        return self._get(
            self.expected.view(at.session, at.space, at.copy_num),
            lambda key, sdi, length: session.sdi_get_by_id(at.tablespace, key, sdi, length, at.copy_num),
        )

    def by_name(self, at: _Place) -> tuple[object, object]:
        """The file has what was committed, if nothing is open and all is flushed."""
        session, name = self.sessions[at.session], _SPACES.get(at.space, "c.ibd")
        if any(self.expected.pending) or session.sdi_flush(at.tablespace):
            return None, None
        view = self.expected.view(None, at.space, at.copy_num)
        keys: list[SdiKey] = []
        fails = session.sdi_get_ids_by_name(name, keys, at.copy_num)
        expected, got = self._get(
            view, lambda key, sdi, length: session.sdi_get_by_name(name, key, sdi, length, at.copy_num)
        )
        return (view is None, sorted(view or ()), expected), (fails, keys, got)

    def _get(self, view: State | None, call: Callable[[SdiKey, bytearray, SdiLength], bool]) -> tuple[object, object]:
        """A get with a buffer of any size, and the retry that the protocol asks for."""
        key = self.draw.choice(sorted(view)) if view and self.draw.chance(3, 4) else self._key()
        data = None if view is None else view.get(key)
        actual = len(data or b"")
        size = self.draw.choice((actual, 0, 1, max(0, actual - 1), actual + 1))
        buffer, length = bytearray(_GUARD * (actual + 8)), SdiLength(size)
        fails = call(key, buffer, length)
        if data is None:
            return (True, UINT64_MAX, _GUARD * 8), (fails, length.value, bytes(buffer))
        part = data[:size]
        expected = [actual > size, actual, part + _GUARD * (actual + 8 - len(part))]
        got = [fails, length.value, bytes(buffer)]
        if fails and length.value != UINT64_MAX:
            expected += [False, data]
            again = bytearray(length.value)
            got += [call(key, again, length), bytes(again)]
        return expected, got

    # --- transactions ------------------------------------------------------------------------------------------------

    def commit(self, at: _Place) -> tuple[object, object]:
        self.expected.commit(at.session)
        self.sessions[at.session].ha_commit_trans()
        return None, None

    def rollback(self, at: _Place) -> tuple[object, object]:
        """At every moment of the rollback the other session reads what was committed, or its own."""
        self.expected.end(at.session)
        views, seen = self._watched(1 - at.session, self.sessions[at.session].ha_rollback_trans)
        return views, seen

    def savepoint(self, at: _Place) -> tuple[object, object]:
        name = self.draw.choice("ab")
        self.expected.savepoints[at.session][name] = len(self.expected.pending[at.session])
        self.sessions[at.session].savepoint(name)
        return None, None

    def rollback_to_savepoint(self, at: _Place) -> tuple[object, object]:
        name, known = self.draw.choice("ab"), self.expected.savepoints[at.session]
        place = known.get(name)
        if place is not None:
            del self.expected.pending[at.session][place:]
            self.expected.savepoints[at.session] = {other: at for other, at in known.items() if at <= place}
        return place is None, self.sessions[at.session].rollback_to_savepoint(name)

    def purge(self, at: _Place) -> tuple[object, object]:
        return self._watched(at.session, self.engine.purge)

    def table_ids(self, at: _Place) -> tuple[object, object]:
        """Compare the table ids of the copies: each has its own, and none that an ordinary table can get."""
        lowest = (0xFFFFFFFF - COPIES + 1) << 32
        ids = [transactions.sdi_table_id(at.tablespace, copy) for copy in range(COPIES)]
        last = lowest - 1 - self.draw.below(3)
        following = last + 1 if last + 1 < lowest else 10
        return ([0xFFFFFFFF << 32 | at.space, 0xFFFFFFFE << 32 | at.space], following), (
            ids,
            transactions.next_table_id(last),
        )

    def _watched(self, reader: int, run: Callable[[], None]) -> tuple[object, object]:
        """Compare the keys that a session reads at every moment of a rollback or a purge with those it must read."""
        expected = {
            (space, copy_num): sorted(self.expected.view(reader, space, copy_num) or ())
            for space in self.expected.copies
            for copy_num in range(COPIES)
        }
        wrong: list[object] = []

        def watch(where: str) -> None:
            for (space, copy_num), keys in expected.items():
                found: list[SdiKey] = []
                self.sessions[reader].sdi_get_keys_by_id(space, found, copy_num)
                if found != keys:
                    wrong.append((where, space, copy_num, found))

        before, self.engine.watch = self.engine.watch, watch
        try:
            run()
        finally:
            self.engine.watch = before
        return [], wrong

    def _key(self) -> SdiKey:
        return SdiKey(1 + self.draw.below(2), self.draw.below(8))

    def _data(self) -> bytes:
        length = self.draw.choice(LENGTHS)
        return bytes(self.draw.below(256) for _ in range(min(length, 3))).ljust(length, b"x")


_ORDER: Final = (
    (Calls.create, 3), (Calls.drop, 1), (Calls.num_copies, 2), (Calls.flush, 2), (Calls.set, 10), (Calls.delete, 4),
    (Calls.get_keys, 5), (Calls.get, 10), (Calls.by_name, 3), (Calls.commit, 2), (Calls.rollback, 1),
    (Calls.savepoint, 2), (Calls.rollback_to_savepoint, 2), (Calls.purge, 2), (Calls.table_ids, 1),
)  # fmt: skip
_CALLS: Final = mix(*(((call.__name__, call), weight) for call, weight in _ORDER))


def called(draw: Draw, steps: int) -> list[Problem]:
    """Many calls; the first wrong answer ends them, as what is expected is not known behind it."""
    calls = Calls(draw)
    for _ in range(steps):
        problems = list(calls.step())
        if problems:
            return problems
    return []
