"""WL#7053's model: two copies, the buffer protocol, the roots in pages 1 and 2, and a state machine of crashes.

The machine's actions and the guarantee are those of the check ``sdi_design/crashes``; Hypothesis draws here.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from conformance.checks.sdi_design.guarantee import GuaranteeBroken
from conformance.checks.sdi_design.life import Life
from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design.calls import UINT64_MAX, SdiLength, Session
from conformance.reference.innodb.sdi_design.pages import (
    HeaderPage,
    IndexPage,
    SdiKey,
    both_roots,
    index_id,
    read_copy,
    read_roots,
)
from conformance.reference.innodb.sdi_design.storage import Image, Tablespace
from conformance.reference.innodb.sdi_design.transactions import Engine, next_table_id, sdi_table_id
from conformance.reference.innodb.sdi_design.usage import Change, change_both_copies
from generators.draw import Stream
from generators.strategies import HypothesisDraw

SPACE = 7
KEY = SdiKey(1, 375)


@pytest.fixture
def session() -> Session:
    engine = Engine()
    engine.tablespaces[SPACE] = Tablespace(SPACE, "t.ibd")
    made = Session(engine)
    assert not made.sdi_create(SPACE, 2)
    return made


def space_of(session: Session) -> Tablespace:
    return session.engine.tablespaces[SPACE]


def got(session: Session, key: SdiKey, size: int, copy_num: int = 0) -> tuple[bool, int, bytes]:
    buffer, length = bytearray(b"." * 400), SdiLength(size)
    return session.sdi_get_by_id(SPACE, key, buffer, length, copy_num), length.value, bytes(buffer)


# --- the calls -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actual", [0, 1, 40, 41, 60, 61, 120, 121, 300])
def test_get_gives_what_fits_and_tells_the_length(session: Session, actual: int) -> None:
    """innodb-sdi A.3."""
    data = bytes(number & 255 for number in range(actual))
    assert not session.sdi_set(SPACE, KEY, data, actual, 0)
    for size in {0, 1, max(0, actual - 1), actual, actual + 1, 390}:
        part = data[:size]
        assert got(session, KEY, size) == (actual > size, actual, part.ljust(400, b"."))


def test_genuine_errors_are_no_matter_of_the_buffer(session: Session) -> None:
    for key, copy_num in ((KEY, 0), (KEY, 2), (KEY, -1)):
        assert got(session, key, 400, copy_num) == (True, UINT64_MAX, b"." * 400)
    assert not session.sdi_set(SPACE, KEY, b"x", 1, 0)
    space_of(session).damage(3)
    assert got(session, KEY, 400) == (True, UINT64_MAX, b"." * 400)


def test_keys_come_by_type_and_then_id(session: Session) -> None:
    keys = [SdiKey(2, 1), SdiKey(1, 300), SdiKey(1, 2), SdiKey(2, 0)]
    for key in keys:
        assert not session.sdi_set(SPACE, key, b"", 0, 1)
    found: list[SdiKey] = []
    assert not session.sdi_get_keys_by_id(SPACE, found, 1)
    assert found == sorted(keys)
    assert not session.sdi_get_keys_by_id(SPACE, found, 0)
    assert found == sorted(keys)  # copy 0 has none


def test_delete_of_a_missing_key_fails_and_a_deleted_key_can_be_set_again(session: Session) -> None:
    assert session.sdi_delete(SPACE, KEY, 0)
    assert not session.sdi_set(SPACE, KEY, b"a", 1, 0)
    assert not session.sdi_delete(SPACE, KEY, 0)
    assert session.sdi_delete(SPACE, KEY, 0)
    assert got(session, KEY, 400)[1] == UINT64_MAX
    assert not session.sdi_set(SPACE, KEY, b"b", 1, 0)
    assert got(session, KEY, 400)[2][:1] == b"b"


def test_another_session_sees_what_was_committed_and_may_not_change_it_meanwhile(session: Session) -> None:
    other = Session(session.engine)
    session.sdi_set(SPACE, KEY, b"a", 1, 0)
    assert got(other, KEY, 9)[1] == UINT64_MAX
    assert other.sdi_set(SPACE, KEY, b"b", 1, 0)
    assert other.sdi_drop(SPACE)
    session.ha_commit_trans()
    assert got(other, KEY, 9)[:2] == (False, 1)
    session.sdi_delete(SPACE, KEY, 0)
    assert got(other, KEY, 9)[:2] == (False, 1)
    session.ha_rollback_trans()
    assert got(session, KEY, 9)[:2] == (False, 1)


def test_creation_and_drop(session: Session) -> None:
    assert session.sdi_create(SPACE, 2)
    assert session.sdi_get_num_copies(SPACE | 5 << 32) == 2
    space_of(session).damage(3)
    space_of(session).damage(4)
    assert not session.sdi_drop(SPACE)
    assert (session.sdi_get_num_copies(SPACE), session.sdi_drop(SPACE)) == (0, True)
    assert session.sdi_create(SPACE, 1)
    assert session.sdi_create(SPACE, 3)
    assert not session.sdi_create(SPACE, 2)
    session.engine.tablespaces[8] = Tablespace(8, "ibtmp1", temporary=True)
    assert session.sdi_create(8, 2)
    assert session.sdi_create(9, 2)
    assert session.sdi_flush(9)


def test_calls_by_name_read_the_file(session: Session) -> None:
    """innodb-sdi A.7: an IMPORT has a file and no tablespace, so it sees what was flushed."""
    session.sdi_set(SPACE, KEY, b"abc", 3, 1)
    keys: list[SdiKey] = []
    assert not session.sdi_get_ids_by_name("t.ibd", keys, 1)
    assert keys == []
    session.sdi_flush(SPACE)
    assert not session.sdi_get_ids_by_name("t.ibd", keys, 1)
    buffer, length = bytearray(2), SdiLength(2)
    assert (keys, session.sdi_get_by_name("t.ibd", KEY, buffer, length, 1)) == ([KEY], True)
    assert (length.value, bytes(buffer)) == (3, b"ab")
    for name, copy_num in (("u.ibd", 1), ("t.ibd", 2)):
        assert session.sdi_get_ids_by_name(name, keys, copy_num)
        assert session.sdi_get_by_name(name, KEY, buffer, length, copy_num)
        assert length.value == UINT64_MAX


# --- ids and roots ---------------------------------------------------------------------------------------------------


def test_ids_of_the_copies() -> None:
    """innodb-sdi A.1."""
    assert [index_id(copy_num) for copy_num in (0, 1)] == [0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFE]
    assert [sdi_table_id(SPACE, copy_num) for copy_num in (0, 1)] == [0xFFFFFFFF00000007, 0xFFFFFFFE00000007]
    assert next_table_id(100) == 101
    assert next_table_id(0xFFFFFFFDFFFFFFFE) == 0xFFFFFFFDFFFFFFFF
    assert next_table_id(0xFFFFFFFDFFFFFFFF) == 10


def test_roots_are_in_page_1_and_in_page_2(session: Session) -> None:
    """innodb-sdi A.8: the first usable page wins; two are needed to lose the SDI."""
    space = space_of(session)
    for number in (1, 2):
        page = space.page_on_disk(number)
        assert isinstance(page, HeaderPage)
        assert page.flush_lsn == 3 << 32 | 4
    space.damage(1)
    assert read_roots(space.page, space.size) == (3, 4)
    assert session.sdi_get_num_copies(SPACE) == 2
    space.damage(2)
    assert session.sdi_get_num_copies(SPACE) == 0


@pytest.mark.parametrize("roots", [(0, 4), (3, 0), (3, 3), (3, 5), (5, 4)])
def test_roots_that_cannot_be_are_passed_over(session: Session, roots: tuple[int, int]) -> None:
    space = space_of(session)
    space.disk[1] = Image(HeaderPage(1, flush_lsn=both_roots(*roots)))
    assert read_roots(space.page, space.size) == (3, 4)
    space.disk[2] = space.disk[1]._replace(page=HeaderPage(2, flush_lsn=both_roots(*roots)))
    assert session.sdi_get_num_copies(SPACE) == 0


def test_a_damaged_root_page_leaves_the_other_copy(session: Session) -> None:
    assert not change_both_copies(session, SPACE, [Change(KEY, b"abc")])
    space = space_of(session)
    space.damage(3)
    with pytest.raises(DecodeError, match="damaged"):
        read_copy(space.page_on_disk, space.size, 0)
    assert read_copy(space.page_on_disk, space.size, 1).data == {KEY: b"abc"}
    assert got(session, KEY, 9, 1)[:2] == (False, 3)
    assert session.sdi_set(SPACE, KEY, b"", 0, 0)


@pytest.mark.parametrize("change", ["index", "level", "order", "bound", "chain", "blob"])
def test_pages_that_do_not_fit_together_are_refused(session: Session, change: str) -> None:
    changes = [Change(SdiKey(1, number), bytes(5)) for number in range(20)] + [Change(SdiKey(2, 1), bytes(300))]
    assert not change_both_copies(session, SPACE, changes)
    space = space_of(session)
    used = read_copy(space.page_on_disk, space.size, 0).pages
    leaves = [page for number in used if isinstance(page := space.page(number), IndexPage) and not page.level]
    leaf = next(page for page in leaves if page.prev is not None and page.next is not None and len(page.records) > 1)
    wrong = {
        "index": leaf._replace(index_id=index_id(1)),
        "level": leaf._replace(level=1, pointers=(), records=()),
        "order": leaf._replace(records=leaf.records[::-1]),
        "bound": leaf._replace(records=(leaf.records[0]._replace(key=SdiKey(0, 1)),)),
        "chain": leaf._replace(next=leaf.prev),
        "blob": leaf._replace(number=next(iter(set(used) - {page.number for page in leaves} - {0, 1, 2, 3}))),
    }[change]
    space.disk[wrong.number] = Image(wrong)
    with pytest.raises(DecodeError):
        read_copy(space.page_on_disk, space.size, 0)
    assert len(read_copy(space.page_on_disk, space.size, 1).data) == 21


# --- the machine -----------------------------------------------------------------------------------------------------


class OneTablespace(RuleBasedStateMachine):
    """All that the guarantee covers: every rule judges a crash at each of its moments."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.life = Life(HypothesisDraw(data.draw))

    def run(self, data: st.DataObject, action: str) -> None:
        self.life.draw = HypothesisDraw(data.draw)
        getattr(self.life, action)()

    @rule(data=st.data(), action=st.sampled_from(["change", "failing_change", "change_with_savepoint"]))
    def change(self, data: st.DataObject, action: str) -> None:
        self.run(data, action)

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.run(data, "crash")

    @rule(data=st.data())
    def purge(self, data: st.DataObject) -> None:
        self.run(data, "purge")

    @rule(data=st.data())
    def write_early(self, data: st.DataObject) -> None:
        self.run(data, "write_early")


class TwoPurgeThreads(RuleBasedStateMachine):
    """A server that the guarantee does not cover (innodb-sdi A.10): two threads purge, and flush when they like."""

    THREADS = 2

    @initialize(changes=st.integers(0, 255))
    def begin(self, changes: int) -> None:
        self.life = Life(Stream("two purge threads", changes))
        for _ in range(6):
            self.life.change()
        self.life.guarantee.acceptable = [self.life.state]

    @rule(data=st.data(), thread=st.integers(0, 1))
    def operation(self, data: st.DataObject, thread: int) -> None:
        self.life.draw = HypothesisDraw(data.draw)
        self.life.begin_purge(thread % self.THREADS)

    @rule(thread=st.integers(0, 1))
    def flush(self, thread: int) -> None:
        self.life.finish_purge(thread % self.THREADS)


class OnePurgeThread(TwoPurgeThreads):
    """The same with one thread."""

    THREADS = 1

    @rule()
    def nothing(self) -> None:
        """A machine needs a rule of its own class."""


def test_a_copy_is_readable_after_a_crash_at_any_moment() -> None:
    run_state_machine_as_test(OneTablespace, settings=settings(max_examples=20, stateful_step_count=15, deadline=None))


@pytest.mark.nightly
def test_ten_thousand_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    run = OneTablespace.run

    def counted(self: OneTablespace, data: st.DataObject, action: str) -> None:
        steps.append(action)
        run(self, data, action)

    monkeypatch.setattr(OneTablespace, "run", counted)
    run_state_machine_as_test(OneTablespace, settings=settings(max_examples=300, stateful_step_count=50, deadline=None))
    assert len(steps) >= 10_000, len(steps)


def test_the_machine_finds_what_two_purge_threads_do() -> None:
    """One copy is half merged in the file while the other one is."""
    found = settings(
        max_examples=1_000, stateful_step_count=40, deadline=None, database=None, derandomize=True,
        phases=[Phase.generate], print_blob=False, report_multiple_bugs=False,
    )  # fmt: skip
    with pytest.raises(GuaranteeBroken) as broken:
        run_state_machine_as_test(TwoPurgeThreads, settings=found)
    assert broken.value.where in ("mtr of a purge committed", "crash") or "written" in broken.value.where
    assert broken.value.written
    assert broken.value.unwritten


def test_one_purge_thread_does_no_harm() -> None:
    run_state_machine_as_test(OnePurgeThread, settings=settings(max_examples=20, stateful_step_count=30, deadline=None))


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_recovery_finds_what_was_committed(data: st.DataObject) -> None:
    life = Life(HypothesisDraw(data.draw))
    for _ in range(3):
        life.change()
    life.crash()
    assert [life.seen(copy_num) for copy_num in (0, 1)] == [life.state] * 2
