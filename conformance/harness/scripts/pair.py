"""An update Case with a topology as a script: a source, and replicas that follow it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.cases.script import Control, ReadBack, Statement, build_script
from conformance.harness.pairs.rebuilding import rebuild_by
from conformance.harness.pairs.run import rows_after, with_counter
from conformance.harness.scripts.shell import SERVERS, head, sql, tell, variable
from conformance.harness.scripts.update import (
    RIGHT,
    SCHEMA,
    log_checks,
    read_back,
    replica_checks,
    session,
    starting,
    statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.script import Script
    from conformance.cases.topology import RebuiltRows, Topology
    from conformance.cases.update_case import UpdateCase

_WAIT: Final = r"""
# arrive A B: until B, which follows A, has applied everything, or its applier has stopped
arrive() {
  local file position
  read -r file position _ <<< "$(end_of_log $1)"
  $2 -N -e "SELECT SOURCE_POS_WAIT('$file', $position, 60)" > /dev/null
}
applier() {  # of a server: whether it runs, the number of its error, and its text
  $1 --vertical -e 'SHOW REPLICA STATUS' |
    sed -n 's/^ *\(Replica_SQL_Running\|Last_SQL_Errno\|Last_SQL_Error\): *//p' | tr '\n' ' '
}
"""


def pair_script(case: UpdateCase) -> str:
    """A shell script for two or three servers of the user's own, which do not replicate yet."""
    case = with_counter(case)
    script = build_script(case, dialect=RIGHT)
    topology = case.topology
    assert topology is not None
    servers = SERVERS[: len(topology.replicas) + 1]
    about = [
        f"Case {case.id}{f', seed {case.seed}' if case.seed else ''}; requirements: {', '.join(case.requirements)}",
        "Expected values are the predictions of binlog-lab. The servers are your own, and follow nobody yet; each has",
        f"another server_id, and gtid_mode={'ON' if topology.gtid else 'OFF'}.",
        "..._FOLLOWS: how a server reaches the one before it.",
    ]
    rule = topology.rebuild
    dumped = rule is not None and rule.make == "dumped"
    names = [*servers, "READ_LOG", *(["DUMP"] if dumped else []), *(f"{name}_FOLLOWS" for name in servers[1:])]
    lines = [
        *head(about, [variable(name) for name in names]),
        _WAIT,
        *sql("SOURCE", ["FLUSH BINARY LOGS;"]),
        'log="$(end_of_log $SOURCE | cut -f1)"',
        *_following(topology),
        *_statements(script, rule),
        *log_checks(script),
        *_end(script, servers),
    ]
    return "\n".join(lines) + "\n"


def _following(topology: Topology) -> Iterator[str]:
    for before, name, settings in zip(SERVERS, SERVERS[1:], topology.replicas, strict=False):
        yield f"# --- {name} follows {before} ---"
        if topology.gtid:
            at = "SOURCE_AUTO_POSITION = 1"
        else:
            yield f'read -r file position _ <<< "$(end_of_log ${before})"'
            at = "SOURCE_LOG_FILE = '$file', SOURCE_LOG_POS = $position"
        yield f"run ${name} <<END"
        yield from (f"SET GLOBAL {variable} = {value};" for variable, value in settings.variables().items())
        yield f"CHANGE REPLICATION SOURCE TO ${name}_FOLLOWS, {at};"
        yield "START REPLICA;"
        yield "END"


def _statements(script: Script, rule: RebuiltRows | None) -> Iterator[str]:
    """The source's statements, with the changes of the replica's rows between them."""
    part = starting(script.case)
    if rule is not None and not rule.after:
        yield from _rebuilding(script, rule, part)
        part = session(script.case)
    for item in script.items:
        if isinstance(item, Control):
            part.append(f"{item.sql};")
        elif isinstance(item, ReadBack):
            part += read_back(script, item)
        elif isinstance(item, Statement):
            part += statement(script, item)
            if rule is not None and rule.after == item.step + 1:
                yield from _rebuilding(script, rule, part)
                part = session(script.case)
    yield from sql("SOURCE", part)


def _rebuilding(script: Script, rule: RebuiltRows, part: list[str]) -> Iterator[str]:
    """The source's statements so far, then the statements that make the replica's rows anew, outside its log."""
    yield from sql("SOURCE", part)
    yield 'arrive "$SOURCE" "$REPLICA"'
    if rule.make == "dumped":
        yield from sql("REPLICA", ["STOP REPLICA;", f"DROP SCHEMA {SCHEMA};"])
        yield "empty_log $REPLICA"
        options = f"--single-transaction --set-gtid-purged=ON --hex-blob --databases {SCHEMA}"
        yield f"$DUMP {options} | run $REPLICA"
        yield from sql("REPLICA", ["START REPLICA;"])
        return
    rebuilt = rebuild_by(rule).make(script.case, rows_after(script, rule.after))
    yield from sql(
        "REPLICA", [f"USE {SCHEMA};", "SET SESSION sql_log_bin = 0;", *(f"{text};" for text in rebuilt.statements)]
    )


def _end(script: Script, servers: tuple[str, ...]) -> Iterator[str]:
    for before, name in pairwise(servers):
        yield f'arrive "${before}" "${name}"'
        yield f'got="$(applier "${name}")"'
        yield 'case "$got" in "Yes 0 "*) verdict="as expected" ;; *) verdict=FAULT ;; esac'
        yield tell(f"the applier of {name}: whether it runs, and its error", "Yes 0", '"$got"', '"$verdict"')
    yield from sql(servers[-1], replica_checks(script))
