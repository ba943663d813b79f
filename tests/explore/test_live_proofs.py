"""Proofs: a script shows by client programs alone what differs, and nothing on a sound server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from conformance.explore.episode import Episode, run_script
from conformance.explore.oracles.problem import Problem
from conformance.explore.rules.tables import _PLAIN
from conformance.explore.scripts import render, shows_it
from conformance.explore.steps import DISCONNECT, SNAPSHOT, Step
from conformance.explore.topologies import TOPOLOGIES
from conformance.servers.run.process import ProcessMaker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.explore.world import World
    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live

TABLES = (
    "CREATE TABLE t0 (id INT PRIMARY KEY, j JSON, INDEX i ((CAST(j->>'$.a' AS CHAR(40)))))",
    "CREATE TABLE t2 (id INT PRIMARY KEY) ENGINE=MyISAM",
    """INSERT INTO t0 VALUES (1, '{"a": "it''s \\\\\\\\ é"}'), (2, '{"a": 2}')""",
)
CHANGED = (
    "UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 'changed')⟧ WHERE id = 2",
    "INSERT INTO t2 VALUES (7)",
    "INSERT INTO t0 VALUES (1, '{}')",
)
ROWS = "SELECT id, j FROM t0"
INDEX = tuple(f"SELECT id FROM t0 {hint} ORDER BY id" for hint in ("FORCE INDEX (`i`)", "USE INDEX ()"))
COPY = ("CREATE TABLE c LIKE t0", "INSERT INTO c SELECT * FROM t0", ROWS, "SELECT id, j FROM c")


class Proof(NamedTuple):
    """A problem, the queries that show it and those that show nothing."""

    oracle: str
    kind: str
    differing: tuple[str, ...]
    equal: tuple[str, ...]
    more: tuple[str, ...] = ()  # statements before, where they show it


PROOFS = (
    Proof("index", "rows of a functional index", (ROWS, "SELECT id, NULL FROM t0"), INDEX),
    Proof("index", "order of a functional index", (f"{ROWS} ORDER BY id", f"{ROWS} ORDER BY id DESC"), INDEX),
    Proof("generated", "generated value", (*COPY[:3], "SELECT id + 1, j FROM c"), COPY),
    Proof("twin", "rows: json", (ROWS,), (ROWS,), ("""INSERT INTO t0 VALUES (3, '{"a": "⌖"}')""",)),
    Proof("twin", "error 0/1062", (), (), ("INSERT INTO t0 VALUES (ORD('⌖'), NULL), (121, NULL)",)),
    Proof("twin", "warnings", (), (), ("INSERT IGNORE INTO t0 VALUES (ORD('⌖'), NULL), (121, NULL)",)),
    Proof("check-table", "error: Corrupt", ("CHECK TABLE nothing EXTENDED",), ("CHECK TABLE t0 EXTENDED",)),
    Proof("reading", "error 1146", ("SELECT * FROM nothing",), (ROWS,)),
    Proof("snapshot", "rows", ("SELECT id FROM t2",), (ROWS,)),
    Proof("replica", "rows: value", ("SELECT @@server_id",), (ROWS,)),
    Proof("mysqlbinlog", "rows: json", ("SELECT DATABASE()",), (ROWS,)),
    Proof("index", "rows of a functional index", (ROWS, "SELECT id, NULL FROM t0"), INDEX, ("BEGIN", CHANGED[0])),
    Proof("died", "source: somewhere", (), (), ("SHUTDOWN",)),
)
each = pytest.mark.parametrize(
    "proof", PROOFS, ids=lambda proof: f"{proof.oracle} {proof.kind}{' open' * (proof.more[:1] == ('BEGIN',))}"
)


@pytest.fixture(scope="module")
def worlds(installation: Installation) -> Iterator[dict[str, World]]:
    """One server, and a pair: the script about the log resets logs, which no replica outlives. And one that may end."""
    maker = ProcessMaker(installation)
    with (
        TOPOLOGIES["single"](maker, lambda _: None) as one,
        TOPOLOGIES["pair"](maker, lambda _: None) as two,
        TOPOLOGIES["positions"](maker, lambda _: None) as three,
        TOPOLOGIES["single"](maker, lambda _: None) as ending,
    ):
        yield {"one": one, "pair": two, "positions": three, "ending": ending}


def shown(world: World, proof: Proof, queries: tuple[str, ...], *more: str) -> bool | None:
    texts = (*TABLES, *([SNAPSHOT] if proof.oracle == "snapshot" else []), *CHANGED, *more)
    problem = Problem(proof.oracle, proof.kind, "", queries)
    suffix, text = render([Step(each, "any") for each in texts], problem)
    return shows_it(world, suffix, text, problem)


def places(proof: Proof) -> tuple[str, ...]:
    return {"replica": ("pair", "positions"), "died": ("ending",)}.get(proof.oracle, ("one",))


@pytest.mark.sampled(3)
@each
def test_a_script_shows_nothing_on_a_sound_server(worlds: dict[str, World], proof: Proof) -> None:
    for place in places(proof):
        assert shown(worlds[place], proof, proof.equal) is False


@each
def test_a_script_shows_what_differs(worlds: dict[str, World], proof: Proof) -> None:
    for place in places(proof):
        assert shown(worlds[place], proof, proof.differing, *proof.more) is True


def test_a_script_shows_that_a_replica_stopped(worlds: dict[str, World], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAIT", "2")
    world = worlds["pair"]
    with world.pairs[0].replica.connect() as connection:
        connection.execute("SET sql_log_bin = 0")
        connection.execute("CREATE SCHEMA elsewhere")
        connection.execute("CREATE TABLE elsewhere.t (id INT)")
        more = ("CREATE SCHEMA IF NOT EXISTS elsewhere", "CREATE TABLE elsewhere.t (id INT)")
        assert shown(world, Proof("replica", "stopped 1050", (), ()), (), *more) is True
        assert shown(world, Proof("replica", "stopped 1032", (), ()), ()) is False
        connection.execute("DROP SCHEMA elsewhere")
    world.mend()
    assert shown(world, Proof("replica", "rows: value", (), ()), (ROWS,)) is False


def test_a_prepared_transaction_is_decided_by_another_session(worlds: dict[str, World]) -> None:
    world = worlds["one"]
    world.twins = True
    episode = Episode(world.begin())
    texts = (*TABLES[:1], "XA START '⌖1'", "INSERT INTO t0 VALUES (1, '{}')", "XA END '⌖1'", "XA PREPARE '⌖1'",
             "SET @v = 1", DISCONNECT, "XA COMMIT '⌖1'", "INSERT INTO t0 VALUES (@v, '{}')")  # fmt: skip
    try:
        errors = [episode.step(Step(text, "any"))[0] for text in texts]
        rows = world.own.execute(f"SELECT id FROM {world.schema('y')}.t0").texts()
    finally:
        episode.close()
    assert errors == [*[0] * 8, 1048]  # the new session has no variable
    assert [list(row) for row in rows] == [["1"]]


def test_fractions_and_booleans_in_an_index_of_numbers_are_no_problem(worlds: dict[str, World]) -> None:
    texts = (
        "CREATE TABLE t0 (id INT PRIMARY KEY, j JSON, INDEX i ((CAST(j->'$.arr' AS SIGNED ARRAY))))",
        """INSERT INTO t0 VALUES (1, '{"arr": [1.5, 7]}'), (2, '{"arr": [2, true]}'), (3, '{"arr": 2}'), (4, '[]')""",
        """INSERT INTO t0 VALUES (5, '{"arr": [2, 1]}'), (6, NULL)""",
    )
    assert run_script(worlds["one"], [Step(text, "any") for text in texts], only="index") == []


def test_values_of_every_type_of_the_rules_are_no_problem(worlds: dict[str, World]) -> None:
    columns = ", ".join(f"c{at} {kind}" for at, (kind, _) in enumerate(_PLAIN))
    rows = [", ".join(values[turn % len(values)] for _, values in _PLAIN) for turn in range(3)]
    texts = (
        f"CREATE TABLE t0 (id INT PRIMARY KEY, j JSON, {columns})",
        *(f"INSERT INTO t0 VALUES ({at}, '{{}}', {row})" for at, row in enumerate(rows)),
        *(f"UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', c{at})⟧" for at in range(len(_PLAIN))),
    )
    assert run_script(worlds["one"], [Step(text, "any") for text in texts]) == []
