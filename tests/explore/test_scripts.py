from __future__ import annotations

import subprocess

import pytest

from conformance.explore.oracles.problem import Problem
from conformance.explore.scripts import FIRST, SECOND, STILL, Printed, _faulty, open_transaction, render
from conformance.explore.steps import RESTART, SNAPSHOT, Step

UPDATE = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 1)⟧", "update")
SHOW = ("SELECT id FROM t0 FORCE INDEX (`i`)", "SELECT id FROM t0 USE INDEX ()")


def steps(*texts: str) -> tuple[Step, ...]:
    return tuple(Step(text, "any") for text in texts)


@pytest.mark.parametrize(
    ("texts", "inside"),
    [
        ((), False),
        (("BEGIN",), True),
        (("START TRANSACTION WITH CONSISTENT SNAPSHOT", "DO 1"), True),
        (("BEGIN", "COMMIT"), False),
        (("BEGIN", "ROLLBACK"), False),
        (("BEGIN", "SAVEPOINT s1", "ROLLBACK TO SAVEPOINT s1"), True),
        (("XA START '⌖1'", "XA END '⌖1'"), True),
        (("XA START '⌖1'", "XA END '⌖1'", "XA PREPARE '⌖1'"), True),
        (("XA START '⌖1'", "XA END '⌖1'", "XA PREPARE '⌖1'", "XA COMMIT '⌖1'"), False),
        (("XA START '⌖1'", "XA END '⌖1'", "XA ROLLBACK '⌖1'"), False),
    ],
)
def test_a_script_ends_inside_a_transaction(texts: tuple[str, ...], *, inside: bool) -> None:
    assert open_transaction(steps(*texts)) is inside


def test_a_fault_of_one_session_is_a_file_for_the_client() -> None:
    suffix, text = render((UPDATE,), Problem("index", "rows", "", SHOW), ("a headline", "another"))
    assert suffix == "sql"
    lines = text.splitlines()
    assert lines[:2] == ["-- a headline", "-- another"]
    assert lines[-5:] == [
        "UPDATE t0 SET j = JSON_SET(j, '$.a', 1);",
        f"SELECT '{FIRST}' AS '';", f"{SHOW[0]};", f"SELECT '{SECOND}' AS '';", f"{SHOW[1]};",
    ]  # fmt: skip


def test_a_fault_of_the_twin_runs_in_both_schemas() -> None:
    script = (UPDATE, Step("FLUSH LOGS", "flush", alone=True))
    suffix, text = render(script, Problem("twin", "rows: json", "", ("SELECT j FROM t0",)))
    first, second = text.split(SECOND)
    assert suffix == "sql"
    assert "SET j = JSON_SET(j, '$.a', 1);" in first
    assert "SET j = IF(1, JSON_SET(j, '$.a', 1), NULL);" in second
    assert ("FLUSH LOGS" in first, "FLUSH LOGS" in second) == (True, False)
    assert first.count("SELECT j FROM t0;") == second.count("SELECT j FROM t0;") == 1


def test_a_replica_goes_on_with_other_workers_between_the_statements() -> None:
    script = (UPDATE, Step(f"{RESTART}8", "restart-replica", alone=True), UPDATE)
    _, text = render(script, Problem("replica", "rows: json", "", ("SELECT j FROM t0",)))
    before, command, after = text.partition(
        "${REPLICA:-mysql} -e 'STOP REPLICA; SET GLOBAL replica_parallel_workers = 8; START REPLICA'\n"
    )
    assert command
    assert UPDATE.base in before
    assert UPDATE.base in after


def test_a_death_asks_whether_the_server_still_runs() -> None:
    _, text = render((UPDATE,), Problem("died", "source: somewhere", ""))
    assert text.splitlines()[-1] == f"SELECT '{STILL}' AS '';"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ((UPDATE,), Problem("replica", "rows: json", "", ("SELECT j FROM t0",))),
        ((UPDATE,), Problem("mysqlbinlog", "error 1032", "", ("SELECT j FROM t0",))),
        ((*steps(SNAPSHOT), UPDATE), Problem("snapshot", "rows", "", ("SELECT j FROM t0",))),
        ((*steps("BEGIN"), UPDATE), Problem("index", "rows", "", SHOW)),
    ],
    ids=["replica", "log", "snapshot", "open-transaction"],
)
def test_a_fault_of_several_sessions_is_a_shell_script_that_parses(script: tuple[Step, ...], problem: Problem) -> None:
    suffix, text = render(script, problem, ("a headline",))
    assert suffix == "sh"
    assert text.startswith("#!/bin/bash\n# a headline\n")
    assert SNAPSHOT not in [line.strip(";") for line in text.splitlines()]
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


TWO = f"DO 1;\nSELECT '{SECOND}' AS '';\nDO 1;\nSELECT 1;\n"  # the second way begins at line 2


@pytest.mark.parametrize(
    ("problem", "out", "said", "shown"),
    [
        (Problem("index", "rows", ""), f"{FIRST}\n1\n2\n{SECOND}\n1\n", "", True),
        (Problem("index", "rows", ""), f"{FIRST}\n1\n2\n{SECOND}\n2\n1\n", "", False),
        (Problem("index", "rows", ""), f"{FIRST}\n1\n{SECOND}\n1\n", "ERROR 1062 (23000) at line 1: x", False),
        (Problem("index", "order of a plain index", ""), f"{FIRST}\n1\n2\n{SECOND}\n2\n1\n", "", True),
        (Problem("twin", "rows: json", ""), f"{FIRST}\n1\n{SECOND}\n1\n", "", False),
        (Problem("twin", "warnings", ""), f"{FIRST}\nexplored_x\n{SECOND}\nexplored_y\n", "", False),
        (Problem("twin", "error 0/1213", ""), f"{FIRST}\n{SECOND}", "ERROR 1213 (40001) at line 3: x", True),
        (Problem("twin", "error 0/1213", ""), f"{FIRST}\n{SECOND}",
         "ERROR 1213 (40001) at line 1: x\nERROR 1213 (40001) at line 3: x", False),
        (Problem("replica", "stopped 1032", ""), f"{FIRST}\n{SECOND}\nLast_SQL_Errno: 1032", "", True),
        (Problem("replica", "stopped 1032", ""), f"ERROR 1032 (HY000)\n{FIRST}\n{SECOND}\n", "", False),
        (Problem("mysqlbinlog", "error 1032", ""), f"{FIRST}\n{SECOND}\nERROR 1032 (HY000) at line 5: x", "", True),
        (Problem("check-table", "error: Corrupt", ""), "explored.t0\tcheck\tstatus\tOK", "", False),
        (Problem("check-table", "error: Corrupt", ""), "t0\toptimize\tstatus\tOK\nt0\tcheck\terror\tCorrupt", "", True),
        (Problem("reading", "error 1030", ""), "", "ERROR 1030 (HY000) at line 4: x", True),
        (Problem("reading", "error 1030", ""), "", "ERROR 1030 (HY000) at line 1: x", False),
        (Problem("reading", "error 1030", ""), "1\nERROR 1030 (HY000) at line 9: x", "", True),
        (Problem("died", "source: x", ""), STILL, "", False),
        (Problem("died", "source: x", ""), "", "ERROR 2013 (HY000)", True),
    ],
)  # fmt: skip
def test_the_fault_is_looked_for_in_what_the_script_prints(
    problem: Problem, out: str, said: str, *, shown: bool
) -> None:
    assert _faulty(Printed(TWO, out, said), problem, alive=True) is shown
