"""A finding as a script that shows the fault in its own output, and its proof: the script alone on a fresh server.

A fault that one session shows is a file for the client ``mysql``. One that needs a reader beside an open transaction, a
replica or the log is a shell script; it takes its client programs from MYSQL, REPLICA and MYSQLBINLOG.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.explore.steps import RESTART, SNAPSHOT
from conformance.explore.world import BEGINNING
from conformance.servers.child_process import run_child
from conformance.servers.run.process import ProcessServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.explore.oracles.problem import Problem
    from conformance.explore.steps import Step
    from conformance.explore.world import World

SCHEMA: Final = "explored"
FIRST: Final = "--- one way"
SECOND: Final = "--- another way: the answer ought to be the same"
STILL: Final = "the server still runs"
_SECONDS: Final = 120.0
_ERROR: Final = re.compile(r"^ERROR (\d+) \(\w+\) at line (\d+)", re.MULTILINE)
_SHELL: Final = """\
set -u
D=$(mktemp -d); trap 'rm -rf "$D"; kill $(jobs -p) 2>/dev/null' EXIT
session() {  # a client that stays: session NAME COMMAND...
  local name=$1; shift
  mkfifo "$D/$name.in" "$D/$name.out"
  "$@" --force --batch --skip-column-names --unbuffered --binary-mode --default-character-set=utf8mb4 \\
    <"$D/$name.in" >"$D/$name.out" 2>&1 &
  eval "exec {${name}_in}>$D/$name.in {${name}_out}<$D/$name.out"
}
run() {  # the statements on standard input in a session; print what it answers
  local in=${1}_in out=${1}_out line
  { cat; echo "SELECT 'done';"; } >&"${!in}" 2>/dev/null || { echo "the session is gone"; return; }
  while IFS= read -r line <&"${!out}"; do [ "$line" = done ] && break; echo "$line"; done
}
"""
_REPLAYED: Final = """\
first=$(${MYSQL:-mysql} -Ne 'SHOW BINARY LOGS' | head -1 | cut -f1)
${MYSQLBINLOG:-mysqlbinlog} --read-from-remote-server --skip-gtids --disable-log-bin \\
  --rewrite-db='explored->explored_r' --database=explored_r --to-last-log "$first" |
  ${MYSQL:-mysql} --binary-mode 2>&1"""

_APPLIED: Final = """\
ask() { ${MYSQL:-mysql} -Ne "$1" 2>/dev/null; }
set=$(ask 'SELECT @@GLOBAL.gtid_executed' | sed 's/\\\\n//g')
if [ -n "$set" ]; then end="WAIT_FOR_EXECUTED_GTID_SET('$set', ${WAIT:-20})"
else
  end=$({ ask 'SHOW BINARY LOG STATUS' || ask 'SHOW MASTER STATUS'; } | awk -v q="'" '{ print q $1 q ", " $2 }')
  end="SOURCE_POS_WAIT($end, ${WAIT:-20})"
fi
${REPLICA:-mysql} -Ne "SELECT $end" >"$D/waited"  # until the replica has applied everything, or has stopped
${REPLICA:-mysql} --vertical -e 'SHOW REPLICA STATUS' | grep -E 'Last_SQL_Errno: [1-9]|Last_SQL_Error: .'"""


def open_transaction(script: Sequence[Step]) -> bool:
    """Whether the script ends inside a transaction: then another session has to look."""
    inside = False
    for step in script:
        word = step.base.split(" ", 2)
        if word[0] in ("BEGIN", "START") or step.base.startswith(("XA START", "XA PREPARE", "XA END")):
            inside = True
        elif (word[0] in ("COMMIT", "ROLLBACK") and "TO" not in word) or step.base.startswith(
            ("XA COMMIT", "XA ROLLBACK")
        ):
            inside = False
    return inside


def render(script: Sequence[Step], problem: Problem, header: Iterable[str] = ()) -> tuple[str, str]:
    """The suffix of a script's file, and its text."""
    snapshot = any(step.text == SNAPSHOT for step in script)
    if problem.oracle in ("replica", "mysqlbinlog") or snapshot or (open_transaction(script) and problem.show):
        return "sh", _shell(script, problem, header)
    return "sql", _sql(script, problem, header)


def _statement(text: str) -> str:
    """A statement with its end: a routine's body has ends of its own."""
    if " BEGIN " in text:
        return f"DELIMITER $$\n{text}$$\nDELIMITER ;"
    return f"{text};"


def _opening(schema: str) -> list[str]:
    return [
        f"DROP SCHEMA IF EXISTS {schema};",
        f"CREATE SCHEMA {schema} DEFAULT CHARACTER SET utf8mb4;",
        f"USE {schema};",
    ]


def _sql(script: Sequence[Step], problem: Problem, header: Iterable[str]) -> str:
    """One session; a problem of the twin has two schemas, and in the second no update can be partial."""
    lines = [*(f"-- {line}" for line in header), f"{BEGINNING};"]
    if problem.oracle == "twin":
        for side, title in (("x", FIRST), ("y", SECOND)):
            lines += [*_opening(f"{SCHEMA}_{side}"), f"SELECT '{title}' AS '';"]
            lines += [
                _statement(step.base if side == "x" else step.twin) for step in script if side == "x" or not step.alone
            ]
            lines += [f"{query};" for query in (*problem.show, *(["SHOW WARNINGS"] * (problem.kind == "warnings")))]
        return "\n".join(lines) + "\n"
    lines += [*_opening(SCHEMA), *(_statement(step.base) for step in script), *_looks(problem)]
    return "\n".join(lines) + "\n"


def _looks(problem: Problem) -> list[str]:
    """The queries that show a problem."""
    if not problem.show:
        return [f"SELECT '{STILL}' AS '';"]
    *before, last = problem.show
    if before:
        *make, first = before
        return [f"{query};" for query in make] + [
            f"SELECT '{FIRST}' AS '';", f"{first};", f"SELECT '{SECOND}' AS '';", f"{last};"
        ]  # fmt: skip
    return [f"{last};"]


def _run(session: str, lines: Iterable[str]) -> str:
    return "\n".join([f"run {session} <<'SQL'", *lines, "SQL"])


def _shell(script: Sequence[Step], problem: Problem, header: Iterable[str]) -> str:
    parts = ["#!/bin/bash", *(f"# {line}" for line in header), _SHELL]
    parts += ["session main ${MYSQL:-mysql}", _run("main", [f"{BEGINNING};"])]
    logged = problem.oracle == "mysqlbinlog"
    parts.append(_run("main", [*_opening(SCHEMA), *(["RESET BINARY LOGS AND GTIDS;"] if logged else [])]))
    if problem.oracle == "snapshot" or open_transaction(script):
        parts += ["session reader ${MYSQL:-mysql}", _run("reader", [f"{BEGINNING};", f"USE {SCHEMA};"])]
    waiting: list[str] = []
    for step in script:
        if step.text != SNAPSHOT and not step.text.startswith(RESTART):
            waiting.append(_statement(step.base))
            continue
        parts.append(_run("main", waiting))
        waiting = []
        if step.text != SNAPSHOT:
            workers = f"SET GLOBAL replica_parallel_workers = {step.text.removeprefix(RESTART)}"
            parts.append(f"${{REPLICA:-mysql}} -e 'STOP REPLICA; {workers}; START REPLICA'")
            continue
        start = "SET transaction_isolation = 'REPEATABLE-READ'; START TRANSACTION WITH CONSISTENT SNAPSHOT;"
        parts += [f"echo '{FIRST}'", _run("reader", [start, *(f"{query};" for query in problem.show)])]
    parts.append(_run("main >/dev/null" if problem.oracle == "snapshot" else "main", waiting))
    queries = [f"{query};" for query in problem.show]
    if problem.oracle == "snapshot":
        parts += [f"echo '{SECOND}'", _run("reader", queries)]
    elif logged:
        parts += [
            f"echo '{FIRST}'", _run("main", queries), f"echo '{SECOND}'",
            _run("main", ["SET sql_log_bin = 0;", f"CREATE SCHEMA {SCHEMA}_r DEFAULT CHARACTER SET utf8mb4;"]),
            _REPLAYED,
            _run("main", [f"USE {SCHEMA}_r;", *queries, f"DROP SCHEMA {SCHEMA}_r;"]),
        ]  # fmt: skip
    elif problem.oracle == "replica":
        parts += [
            f"echo '{FIRST}'", _run("main", queries), f"echo '{SECOND}'",
            _APPLIED,
            "session copy ${REPLICA:-mysql}", _run("copy", [f"USE {SCHEMA};", *queries]),
        ]  # fmt: skip
    else:
        parts.append(_run("reader", _looks(problem)))
    return "\n".join(parts) + "\n"


def shows_it(world: World, suffix: str, text: str, problem: Problem) -> bool | None:
    """Run the script by client programs alone on the world's servers, and look for the fault in what it printed.

    ``None`` where the lab has no client programs to give it.
    """
    source = world.source
    if problem.oracle in ("apply", "prediction"):  # the kit's own replay or model: no client program shows it
        return None
    replica = world.pairs[0].replica if world.pairs else source
    if not isinstance(source, ProcessServer) or not isinstance(replica, ProcessServer):
        return None
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as folder:
        if suffix == "sql":
            words = [*source.client("mysql"), "--force", "--batch", "--binary-mode", "--default-character-set=utf8mb4"]
            given = text
        else:
            file = Path(folder) / "script.sh"  # too long for a word of a command
            file.write_text(text, "utf-8")
            words, given = ["bash", str(file)], ""
        programs = {
            "MYSQL": _program(folder, "source", source.client("mysql")),
            "REPLICA": _program(folder, "replica", replica.client("mysql")),
            "MYSQLBINLOG": _program(folder, "mysqlbinlog", source.client("mysqlbinlog")),
        }
        done = run_child(
            words, seconds=_SECONDS, stdin=given.encode(), directory=folder, environment={**os.environ, **programs}
        )
    if done.returncode is None:
        return False
    out, said = (part.decode("utf-8", "backslashreplace") for part in (done.stdout, done.stderr))
    return _faulty(Printed(text, out, said), problem, alive=source.alive())


def _program(folder: str, name: str, words: Sequence[str]) -> str:
    """The path of a program that runs these words: a variable of the shell holds one word only."""
    path = Path(folder) / name
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', "utf-8")
    path.chmod(0o700)
    return str(path)


class Printed(NamedTuple):
    """A script, and what it printed to both of its outputs."""

    script: str
    out: str
    said: str = ""

    def errors(self) -> tuple[list[str], list[str], list[str]]:
        """The numbers of the client's errors: before the second way, in it, and at the last line."""
        lines = self.script.rstrip("\n").split("\n")
        second = next((at for at, line in enumerate(lines, 1) if SECOND in line), len(lines))
        found = [(number, int(line)) for number, line in _ERROR.findall(self.said)]
        return (
            [number for number, line in found if line < second],
            [number for number, line in found if line >= second],
            [number for number, line in found if line == len(lines)],
        )


def _faulty(printed: Printed, problem: Problem, *, alive: bool) -> bool:
    if problem.oracle == "died":
        return not alive or STILL not in printed.out
    if problem.oracle == "check-table":
        return "\tcheck\tstatus\tOK" not in printed.out
    first, _, second = printed.out.replace(f"{SCHEMA}_y", f"{SCHEMA}_x").partition(SECOND)
    one, other, last = printed.errors()
    number = problem.kind.split()[-1]
    if problem.oracle == "reading":
        return number in last or printed.out.rstrip().rpartition("\n")[2].startswith(f"ERROR {number} ")
    if problem.kind.startswith(("error ", "stopped ")):
        if problem.oracle == "twin":
            return one != other
        return f"ERROR {number} " in second or f"Errno: {number}" in second
    left, right = first.rpartition(FIRST)[2].strip().splitlines(), second.strip().splitlines()
    if "order" not in problem.kind:
        left, right = sorted(left), sorted(right)
    return left != right
