from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from conformance.explore import traits
from conformance.explore.findings import Finding, load_known
from conformance.explore.oracles.problem import Problem
from conformance.explore.steps import Step, load_script
from conformance.explore.traits import traits_of

if TYPE_CHECKING:
    from pathlib import Path

PROBLEM = Problem("index", "rows of a functional index", "table t0: 3 rows and 2 rows", ("SELECT 1", "SELECT 2"))
SCRIPT = (
    Step("CREATE TABLE t0 (id INT PRIMARY KEY, j JSON, INDEX i1 ((JSON_LENGTH(j))))", "create-table"),
    Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 1)⟧ WHERE id = 1", "update"),
)
KNOWN = """
[[known]]
id = "listed"
oracle = "index|check-table"
kind = "functional"
traits = ["JSON_SET"]
observed = ["9.7.4"]
text = "A sentence."
"""


def finding(problem: Problem = PROBLEM, script: tuple[Step, ...] = SCRIPT) -> Finding:
    return Finding(problem, script, "pair", 5, 2, text="SELECT 1;\n", name="index-1")


@pytest.mark.parametrize(
    ("text", "trait"),
    [
        ("CREATE TRIGGER g BEFORE UPDATE ON t0 FOR EACH ROW SET NEW.j = '{}'", "trigger before update"),
        ("CREATE TRIGGER g BEFORE UPDATE ON t0 FOR EACH ROW SET NEW.j = '{}'", "trigger sets"),
        ("CREATE TABLE t0 (id INT PRIMARY KEY, g INT AS (JSON_LENGTH(j)) VIRTUAL)", "virtual column"),
        ("CREATE TABLE t0 (id INT NOT NULL, j JSON)", "no key"),
        ("CREATE TABLE t0 (id INT PRIMARY KEY, INDEX i ((CAST(j->'$.arr' AS UNSIGNED ARRAY))))", "multi-valued index"),
        ("CREATE TABLE t0 (id INT PRIMARY KEY, INDEX i ((JSON_LENGTH(j))))", "functional index"),
        ("UPDATE IGNORE t0 SET j = ⟦JSON_REMOVE(j, '$.a')⟧", "IGNORE"),
        ("UPDATE t0 SET j = ⟦JSON_REMOVE(j, '$.a')⟧", "JSON_REMOVE"),
        ("SET SESSION binlog_row_image = 'MINIMAL'", "partial image"),
        ("XA PREPARE '⌖1'", "XA"),
        ("ROLLBACK", "rollback"),
        ("ROLLBACK TO SAVEPOINT s1", "savepoint"),
        ("UPDATE t0 a JOIN t1 b ON a.id = b.id SET a.j = NULL", "join"),
        ("DELETE a, b FROM t0 a JOIN t1 b ON a.id = b.id", "join"),
        ("UPDATE t0 a JOIN t0 b ON a.id = b.id + 1 SET a.j = NULL", "self join"),
        ("LOCK TABLES t0 WRITE", "locked tables"),
        ("UPDATE t0 SET j = ⟦JSON_REMOVE(j, '$.a')⟧, part = 3 WHERE id = 1", "key change"),
        ("UPDATE t0 SET id = id + 1, j = NULL WHERE id > 3 ORDER BY id DESC", "key change"),
        ("INSERT INTO t0 (id, j) SELECT id, j FROM t1", "INSERT SELECT"),
    ],
)
def test_a_statement_has_its_trait(text: str, trait: str) -> None:
    assert trait in traits_of((Step(text, "any"),))


@pytest.mark.parametrize(
    ("text", "trait"),
    [
        ("CREATE TABLE t0 (id INT PRIMARY KEY, j JSON)", "no key"),
        ("ROLLBACK TO SAVEPOINT s1", "rollback"),
        ("UPDATE t0 a JOIN t1 b ON a.id = b.id SET a.j = NULL", "self join"),
        ("UPDATE t0 SET j = NULL WHERE part = 3 AND id = 1", "key change"),
        (f"INSERT INTO t0 (id, j) VALUES (1, '{'FULLTEXT ' * 5}')", "full-text index"),
        ("UPDATE t0 SET j = IF(1, JSON_SET(j, '$.a', 1), NULL)", "JSON_SET"),
    ],
)
def test_a_statement_lacks_a_trait_that_it_only_resembles(text: str, trait: str) -> None:
    assert trait not in traits_of((Step(text, "any"),))


def test_findings_of_one_oracle_kind_and_traits_are_one() -> None:
    other = (SCRIPT[0], SCRIPT[1].with_text("UPDATE t0 SET j = ⟦JSON_SET(j, '$.b', 'x')⟧"))
    elsewhere = Problem(PROBLEM.oracle, PROBLEM.kind, "table t7: another detail")
    assert finding().is_same(finding(elsewhere, other))
    assert finding().is_same(finding(script=(*SCRIPT, Step("ROLLBACK", "rollback"))))
    assert not finding().is_same(finding(Problem("index", "order of a functional index", "")))
    assert not finding().is_same(finding(script=(SCRIPT[1], Step("ROLLBACK", "rollback"))))


def test_what_a_script_shows_without_the_steps_of_a_listed_fault_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KNOWN)
    (known,) = load_known(tmp_path / "known.toml")
    assert known.without(SCRIPT) == (SCRIPT[0],)


@pytest.mark.parametrize(("kind", "certain"), [("error 1105", True), ("functional", False)])
def test_the_number_of_an_error_is_certain(kind: str, certain: bool, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KNOWN.replace('"functional"', f'"{kind}"'))
    (known,) = load_known(tmp_path / "known.toml")
    assert known.certain is certain


def test_a_finding_is_stored_as_its_script_and_as_json(tmp_path: Path) -> None:
    finding().store(tmp_path / "cases")
    assert (tmp_path / "cases" / "index-1.sql").read_text("utf-8") == "SELECT 1;\n"
    stored = json.loads((tmp_path / "cases" / "index-1.json").read_text("utf-8"))
    assert load_script(stored["script"]) == SCRIPT
    assert (stored["oracle"], stored["kind"], stored["file"]) == (*PROBLEM.key, "index-1.sql")


def test_a_listed_fault_fits_by_oracle_kind_and_traits(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(KNOWN)
    (known,) = load_known(tmp_path / "known.toml")
    having = traits_of(SCRIPT)
    assert known.fits("index", "rows of a functional index", having)
    assert known.fits("check-table", "functional", having)
    assert not known.fits("indexes", "rows of a functional index", having)
    assert not known.fits("index", "rows of a plain index", having)
    assert not known.fits("index", "rows of a functional index", frozenset())


@pytest.mark.parametrize("gone", ["id", "oracle", "kind", "traits", "observed", "text"])
def test_an_entry_without_a_key_is_refused(gone: str, tmp_path: Path) -> None:
    lines = [line for line in KNOWN.splitlines() if not line.startswith(f"{gone} ")]
    (tmp_path / "known.toml").write_text("\n".join(lines))
    with pytest.raises(KeyError, match=gone):
        load_known(tmp_path / "known.toml")


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text("[[known]")
    with pytest.raises(tomllib.TOMLDecodeError):
        load_known(tmp_path / "known.toml")


def test_a_file_without_entries_lists_nothing(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text("")
    assert load_known(tmp_path / "known.toml") == ()


def test_the_list_of_the_kit_has_ids_traits_and_versions() -> None:
    known = load_known()
    assert len({row.id for row in known}) == len(known) > 0
    assert {name for row in known for name in row.traits} <= {name for name, _ in traits._TRAITS}
    assert all(row.observed and row.text for row in known)
