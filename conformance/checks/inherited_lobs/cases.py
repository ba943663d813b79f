"""A change of the key, a change of the document, a rollback: in each row format, small changes and large ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

DEVIATION: Final = "small-change-not-rolled-back"
_OWN_FILE: Final = "TABLESPACE = innodb_file_per_table"  # which COMPRESSED needs
_FORMATS: Final = ("DYNAMIC", "COMPACT", "REDUNDANT", "COMPRESSED")
_DUPLICATE: Final = 1062
# More than 100 bytes are copied (innodb-lob 8.1), and a copy is taken back as it should be.
_SIZES: Final = {"small": 6, "large": 300}

_ROLLBACKS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "rollback": (("", "BEGIN"), ("change", ""), ("", "ROLLBACK")),
    "savepoint": (("", "BEGIN"), ("", "SAVEPOINT s"), ("change", ""), ("", "ROLLBACK TO SAVEPOINT s"), ("", "COMMIT")),
    "failure": (("failure", ""),),
}


def all_cases() -> Iterator[SqlCase]:
    """Every way to take a change back, for each row format and size of the change."""
    for row_format in _FORMATS:
        for size in _SIZES:
            for rollback in _ROLLBACKS:
                yield case(rollback, row_format, size)


def case(rollback: str, row_format: str, size: str) -> SqlCase:
    """The judged statement reads the string that the change had replaced; the key still has its new value."""
    length = _SIZES[size]
    # Small changes are made in place in large objects alone that are not compressed.
    listed = size == "small" and row_format != "COMPRESSED"
    change = f"JSON_SET(j, '$.z', REPEAT('b', {length}))"
    steps = {
        "change": SqlStatement(sql=f"UPDATE t SET j = {change} WHERE id = 2"),
        # The first row is changed, then the second one fails, and with it the statement.
        "failure": SqlStatement(sql=f"UPDATE t SET j = {change}, u = 7 ORDER BY id", judges="LOB31",
                                outcomes=(Outcome(error=_DUPLICATE),)),
    }  # fmt: skip
    statements = (
        SqlStatement(
            sql=f"CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, j JSON) {_OWN_FILE} ROW_FORMAT = {row_format}"
        ),
        SqlStatement(
            sql=f"INSERT INTO t VALUES (1, 1, JSON_OBJECT('a', REPEAT('x', 40000), 'z', REPEAT('a', {length})))"
        ),
        SqlStatement(sql="INSERT INTO t VALUES (9, 9, JSON_OBJECT('a', '', 'z', ''))"),
        SqlStatement(sql="UPDATE t SET id = 2 WHERE id = 1"),
        *(steps[name] if name else SqlStatement(sql=sql) for name, sql in _ROLLBACKS[rollback]),
    )
    outcomes = [Outcome(rows=(("a" * length,),))]
    if listed:
        outcomes.append(Outcome(rows=(("b" * length,),), verdict=Verdict.FAIL, deviation=DEVIATION))
    judged = SqlStatement(sql="SELECT j->>'$.z' FROM t WHERE id = 2", judges="LOB31", outcomes=tuple(outcomes),
                          note="the string that the change had replaced, after the change was taken back")  # fmt: skip
    name = DEVIATION if (rollback, row_format, size) == ("rollback", "DYNAMIC", "small") else (
        f"inherited-lob-{rollback}-{row_format.lower()}-{size}"
    )  # fmt: skip
    return SqlCase(id=name, requirements=("LOB31",), schema=True, statements=(*statements, judged))
