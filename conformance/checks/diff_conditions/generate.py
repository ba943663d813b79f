"""Generated updates under conditions that the campaign of updates never has.

Each is a sql Case with the form in which the server must log it (D1, D3, D12, D14).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import insert_statement
from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.checks.diff_conditions.table_features import WITHOUT_DIFFS, table_of_documents, updates_of
from conformance.reference.tables.definitions import create_table
from conformance.verdict import Verdict
from generators.cases import start_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.diff_conditions.table_features import Update
    from generators.draw import Draw

_STEPS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition. ``setup``: statements behind the INSERT of the start rows. ``outcomes``: ``None`` for the form
    that the model predicts."""

    name: str
    why: str
    setup: tuple[str, ...] = ()
    image: RowImage | None = None  # any
    single: bool = False
    outcomes: tuple[Outcome, ...] | None = None
    write: Callable[[str], str] = str  # another statement of the generated one


def _unsafe(sql: str) -> str:
    """The update with a function that MIXED does not log as a statement, and that changes nothing."""
    return sql.replace(" SET ", " SET `id`=IF(UUID() IS NULL, 0, `id`), ", 1)


def _upsert(sql: str) -> str:
    assignments, _, condition = sql.removeprefix("UPDATE `t` SET ").rpartition(" WHERE `id`=")
    return f"INSERT INTO `t` (id) VALUES ({condition}) ON DUPLICATE KEY UPDATE {assignments}"


GENERATED: Final[dict[str, tuple[Condition, ...]]] = {
    "D1": (
        Condition(
            name="log-disabled",
            why="nothing is logged with sql_log_bin=0",
            setup=("SET SESSION sql_log_bin=0",),
            outcomes=(Outcome(form="none"),),
        ),
    ),
    "D3": (
        Condition(
            name="statement",
            why="a statement-format session logs the statement",
            setup=("SET SESSION binlog_format='STATEMENT'",),
            outcomes=(Outcome(form="query"),),
        ),
        Condition(
            name="mixed-safe",
            why="MIXED logs a safe statement as such",
            setup=("SET SESSION binlog_format='MIXED'",),
            outcomes=(Outcome(form="query"),),
        ),
        Condition(
            name="mixed-unsafe",
            why="MIXED logs an unsafe statement as rows, with diffs as in ROW format",
            setup=("SET SESSION binlog_format='MIXED'",),
            image=RowImage.FULL,
            write=_unsafe,
        ),
    ),
    "D12": (
        Condition(
            name="myisam",
            why="the engine has no partial updates",
            setup=("ALTER TABLE t ENGINE=MyISAM",),
            single=True,
            outcomes=WITHOUT_DIFFS,
        ),
        Condition(
            name="on-duplicate-key",
            why="the statement is no UPDATE",
            single=True,
            write=_upsert,
            outcomes=WITHOUT_DIFFS,
        ),
    ),
    "D14": (
        Condition(
            name="on",
            why="NOBLOB leaves out no JSON column",
            setup=("ALTER TABLE t ADD x TEXT", "UPDATE t SET x='text'"),
            image=RowImage.NOBLOB,
        ),
    ),
}


def generated(draw: Draw, condition: str, name: str) -> SqlCase:
    """A table of documents, and updates of it under one variety of the condition."""
    variety = draw.choice(GENERATED[condition])
    table = table_of_documents()
    rows = start_rows(draw.fork("rows"), table, 1 + draw.below(3))
    session = Session(row_image=variety.image or draw.choice(tuple(RowImage)))
    setup = (*session.statements(), create_table(table), insert_statement(table, rows), *variety.setup)

    def judged(update: Update) -> SqlStatement:
        return SqlStatement(
            sql=variety.write(update.sql),
            judges=condition,
            outcomes=variety.outcomes or (Outcome(form=update.form),),
            otherwise=Verdict.FAIL if condition in ("D1", "D3") else Verdict.DIFFERS,
            note=variety.why,
        )

    updates = updates_of(draw, table, session, rows, steps=_STEPS * (3 if variety.single else 1), single=variety.single)
    return SqlCase(
        id=f"{name}-{variety.name}",
        requirements=(condition,),
        schema=True,
        statements=(*(SqlStatement(sql=sql) for sql in setup), *map(judged, updates)),
    )
