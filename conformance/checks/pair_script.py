"""A Case on a pair or a chain as a script for people: what to run on which server, and what is expected as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.cases.script import Control, Statement, build_script
from conformance.cases.sql import insert_statement
from conformance.checks.pairs import rows_after, with_counter
from conformance.checks.rebuilding import rebuild_by
from conformance.reference.tables import create_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.cases.script import Script
    from conformance.cases.topology import RebuiltRows, Topology
    from conformance.cases.update_case import UpdateCase

_PLACES = ("replica", "last server")


def pair_script(case: UpdateCase, expectations: Callable[[Any], list[str]]) -> str:
    """Statements in their order. ``expectations``: the comments on what a statement changes on the source."""
    case = with_counter(case)
    script = build_script(case)
    topology = case.topology
    assert topology is not None
    lines = [
        f"-- Case {case.id}{f', seed {case.seed}' if case.seed else ''}; requirements: {', '.join(case.requirements)}",
        "-- Expected values are the predictions of binlog-lab.",
        *_setting_up(topology),
        "-- ON THE SOURCE:",
        "CREATE SCHEMA IF NOT EXISTS lab DEFAULT CHARACTER SET utf8mb4;",
        "USE lab;",
        *(f"{text};" for text in case.session.statements()),
        f"DROP TABLE IF EXISTS `{case.table.name.replace('`', '``')}`;",
        f"{create_table(case.table)};",
        f"{insert_statement(case.table, case.rows)};",
    ]
    rule = topology.rebuild
    if rule is not None and not rule.after:
        lines += _rebuilding(script, rule)
    for item in script.items:
        if isinstance(item, Control):
            lines.append(f"{item.sql};")
        elif isinstance(item, Statement):
            lines.append(f"{item.sql};")
            lines += expectations(script.predictions[item.step])
            if rule is not None and rule.after == item.step + 1:
                lines += _rebuilding(script, rule)
    last = _PLACES[len(topology.replicas) - 1]
    lines += [
        f"-- ON THE {last.upper()}, when it has applied everything: its applier must be running, and each document",
        "-- equal to the source's, as text or by =, as it was when the rows were made.",
        "SHOW REPLICA STATUS;",
    ]
    lines += [
        f"SELECT `{column.name.replace('`', '``')}` FROM lab.`{case.table.name.replace('`', '``')}`;"
        for column in case.table.columns
        if column.is_json
    ]
    return "\n".join(lines) + "\n"


def _setting_up(topology: Topology) -> Iterator[str]:
    by = "SOURCE_AUTO_POSITION = 1" if topology.gtid else "the source's file and position"
    source = "source"
    for place, settings in zip(_PLACES, topology.replicas, strict=False):
        yield f"-- ON THE {place.upper()}, which follows the {source} (CHANGE REPLICATION SOURCE TO ..., {by}):"
        for name, value in settings.variables().items():
            yield f"SET GLOBAL {name} = {value};"
        yield "START REPLICA;"
        source = place


def _rebuilding(script: Script, rule: RebuiltRows) -> Iterator[str]:
    """The replica's rows, outside its log."""
    if rule.make == "dumped":
        yield "-- ON THE REPLICA, when it has applied everything so far: empty it, load a dump of the source (mysqldump"
        yield "-- --single-transaction --set-gtid-purged=ON --databases lab), and let it follow again."
    else:
        yield "-- ON THE REPLICA, when it has applied everything so far:"
        yield "USE lab;"
        yield "SET SESSION sql_log_bin = 0;"
        rebuilt = rebuild_by(rule).make(script.case, rows_after(script, rule.after))
        yield from (f"{text};" for text in rebuilt.statements)
    yield "-- ON THE SOURCE:"
