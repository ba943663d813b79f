from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.explore.cuts import words_of
from conformance.explore.rules.definitions import learnt
from conformance.explore.rules.statements import DATA_RULES, update
from conformance.explore.rules.tables import PlainColumn, Table
from conformance.explore.rules.workload import Workload
from conformance.explore.steps import RESTART
from generators.draw import Stream
from tests.explore.test_cuts import balanced

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.steps import Step

EPISODES, EACH = 20, 150


def drawn(seed: int, episode: int = 0, count: int = EACH, *, restarts: bool = False) -> list[Step]:
    """The steps of an episode of which the server takes every one."""
    workload = Workload(Stream("explore", "single", seed, episode), restarts=restarts)
    steps = []
    for step in workload.setup():
        steps.append(step)
        workload.told(step, 0)
    for _ in range(count):
        steps.append(workload.next())
        workload.told(steps[-1], 0)
    return [*steps, *workload.end()]


STEPS = [step for episode in range(EPISODES) for step in drawn(1, episode)]


def test_the_same_seed_gives_the_same_steps() -> None:
    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)
    assert drawn(7, 1) != drawn(7, 2)


def test_every_statement_is_of_whole_literals_parentheses_and_marks() -> None:
    assert len(STEPS) >= 3000
    for step in STEPS:
        assert balanced(step.text), step.text
        assert not {"'", '"', "`"} & {*words_of(step.text)}, step.text  # a quote alone is one that never ends
        assert "{" not in re.sub(r"'(?:[^'\\]|\\.|'')*'", "", step.text), step.text


def test_the_marks_are_gone_on_both_sides() -> None:
    for step in STEPS:
        assert not {"⟦", "⟧", "⌖"} & {*step.base, *step.twin}


def test_no_statement_depends_on_chance_or_the_clock() -> None:
    for step in STEPS:
        text = re.sub(r"'(?:[^'\\]|\\.|'')*'|KILL QUERY CONNECTION_ID\(\)", "", step.text)
        assert not re.search(r"\b(RAND|NOW|UUID|SYSDATE|CONNECTION_ID|CURRENT_TIMESTAMP)\b", text), step.text
        assert " LIMIT " not in text or " ORDER BY " in text, step.text


@pytest.mark.parametrize("rule", [rule for rule, _ in DATA_RULES], ids=lambda rule: rule.__name__)
def test_every_shape_of_every_rule_is_drawn(rule: Callable[..., Step | None]) -> None:
    draw = Stream("shapes", 1)
    workload = Workload(draw)
    while len(workload.tables) < 3 or not all(table.unique for table in workload.tables):
        workload.tables.clear()
        list(workload.setup())
    update(draw, workload.tables[0], workload.tables)  # what is done again
    own = {step.shape for _ in range(300) if (step := rule(draw, workload.tables[0], workload.tables)) is not None}
    assert own
    assert own <= {step.shape for step in STEPS}


def altered(text: str) -> Table:
    """A table of which an ALTER TABLE has changed what the rules know."""
    table = Table("t0", ["j"], [PlainColumn("c0", "INT", ("1",))], indexes=["i1"], view="v")
    learnt(table, text)
    return table


def test_columns_that_are_added_take_part_in_later_statements() -> None:
    assert altered("ALTER TABLE t0 ADD COLUMN n1 JSON").json == ["j", "n1"]
    assert altered("ALTER TABLE t0 ADD COLUMN n1 JSON DEFAULT (JSON_OBJECT('a', 1)) AFTER j").json == ["j", "n1"]
    virtual = "ALTER TABLE t0 ADD COLUMN n1 VARCHAR(50) AS (LEFT(j->>'$.a', 50)) VIRTUAL"
    assert altered(virtual).generated == [("n1", "VARCHAR(50)")]
    instant = altered("ALTER TABLE t0 ADD COLUMN n1 INT DEFAULT 5, ALGORITHM=INSTANT")
    assert [plain.name for plain in instant.plain] == ["c0", "n1"]
    assert instant.columns == ["j", "c0", "n1"]


def test_columns_and_indexes_that_are_gone_are_not_named_again() -> None:
    for more in ("", ", ALGORITHM=INSTANT"):
        dropped = altered(f"ALTER TABLE t0 DROP COLUMN c0{more}")
        assert (dropped.plain, dropped.view) == ([], "")
    assert altered("ALTER TABLE t0 DROP INDEX i1").indexes == []
    assert altered("ALTER TABLE t0 ADD INDEX i2 ((JSON_LENGTH(j)))").indexes == ["i1", "i2"]


def test_steps_that_belong_together_come_one_after_another() -> None:
    shapes = [step.shape for step in STEPS]
    assert {"lock-tables", "alter/exchange", "xa-disconnect"} <= {*shapes}
    for at, shape in enumerate(shapes):
        if shape == "lock-tables":
            assert shapes[at + 1 : at + 3] == ["update-locked", "unlock-tables"]


def test_nobody_looks_while_tables_are_locked() -> None:
    workload = Workload(Stream("locks", 3))
    list(workload.setup())
    while (step := workload.next()).shape != "lock-tables":
        workload.told(step, 0)
    held = []
    while step.shape != "unlock-tables":
        held.append(workload.tables_locked)
        step = workload.next()
    assert held == [True, True]
    assert not workload.tables_locked


def test_an_administrator_acts_between_the_statements() -> None:
    own = {"purge", "kill-session", "setting/binlog_row_metadata", "setting/binlog_checksum", "flush"}
    assert own <= {step.shape for step in STEPS}
    assert not any(step.text.startswith(RESTART) for step in STEPS)  # there is no replica
    more = [step for episode in range(EPISODES) for step in drawn(2, episode, restarts=True)]
    assert len({step.text for step in more if step.text.startswith(RESTART)}) > 2


def test_a_killed_session_has_no_transaction_to_end() -> None:
    ends = {"commit", "rollback", "xa-end", "savepoint", "rollback-to-savepoint"}
    kills, killed = 0, False
    for step in (step for episode in range(8) for step in drawn(5, episode) if step.session == 0):
        assert not (killed and step.shape in ends)
        kills += step.shape == "kill-session"
        killed = step.shape == "kill-session" or (killed and step.shape not in ("begin", "xa-start", "create-audit"))
    assert kills > 2
