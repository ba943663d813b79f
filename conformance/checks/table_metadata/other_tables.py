"""The worklog's scenarios 1, 2 and 4 on a pair whose replica has another table (WL#4618; table-map-metadata 7).

The worklog gives these scenarios as reasons for the metadata, and puts its use in an applier outside its scope. So the
right value passes, and an applier that stops passes. What 9.7.4 does instead, as observed, has the verdict ``info``,
with the right value. Anything else differs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import REPLICA, Outcome, Rows, SqlCase, SqlStatement
from conformance.cases.system_variables import slug
from conformance.cases.update_case import Hazard
from conformance.checks.table_metadata.variable_cases import VARIABLE
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# "Column N of table ... cannot be converted from type ... to type ...", as 9.7 and as older servers number it.
NOT_CONVERTED: Final = (13146, 1677)
NONE, LOSSY, WIDER = "", "ALL_LOSSY", "ALL_NON_LOSSY"
BOTH: Final = f"{LOSSY},{WIDER}"
_HEX: Final = "SELECT id, HEX(a) FROM t ORDER BY id"
_ALL: Final = "SELECT * FROM t ORDER BY id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A change on the source, and what the replica may then show: the right value, if there is one, and observed
    values."""

    change: str
    right: Rows | None
    observed: tuple[Rows, ...] = ()
    fine: tuple[Rows, ...] = ()  # right in another way


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One pair of tables under some settings of ``replica_type_conversions``; ``brief``: the settings of a quick
    run."""

    requirement: str
    name: str
    source: str
    replica: str
    conversions: tuple[str, ...]
    looks: tuple[Look, ...]
    select: str = _ALL
    brief: tuple[str, ...] = ()


def _rows(*values: str | None) -> Rows:
    return tuple((str(number), value) for number, value in enumerate(values, 1))


def _shape(
    name: str,
    source: str,
    replica: str,
    *looks: Look,
    conversions: tuple[str, ...] = (NONE,),
    brief: tuple[str, ...] = (),
) -> Scenario:
    return Scenario(
        requirement="TMR4",
        name=name,
        source=f"CREATE TABLE t (id INT PRIMARY KEY, {source})",
        replica=f"CREATE TABLE t ({replica})"
        if "id " in replica
        else f"CREATE TABLE t (id INT PRIMARY KEY, {replica})",
        conversions=conversions,
        looks=looks,
        brief=brief,
    )


# --- 1: another character set ----------------------------------------------------------------------------------------

_LATIN: Final = "INSERT INTO t VALUES (1, _latin1 x'414243'), (2, _latin1 x'e9'), (3, _latin1 x'78e979')"
_UTF8: Final = "INSERT INTO t VALUES (1, _utf8mb4 x'414243'), (2, _utf8mb4 x'c3a9'), (3, _utf8mb4 x'78c3a979')"
_IN_LATIN: Final = _rows("414243", "E9", "78E979")
_IN_UTF8: Final = _rows("414243", "C3A9", "78C3A979")
_CUT: Final = _rows("414243", "", "78")  # at the first byte that is not valid


def _text(kind: str, source: str, replica: str, *, into: str = "", key: str = "") -> tuple[str, str]:
    """Both tables. ``key``: whether the key column is text too."""
    column = f"a {{}} CHARACTER SET {{}}{' NOT NULL' if key else ''}"
    ends = f", {key}" if key else ", PRIMARY KEY (id)"
    return (
        f"CREATE TABLE t (id INT NOT NULL, {column.format(kind, source)}{ends})",
        f"CREATE TABLE t (id INT NOT NULL, {column.format(into or kind, replica)}{ends})",
    )


def _charset(
    name: str, tables: tuple[str, str], conversions: tuple[str, ...], *looks: Look, brief: tuple[str, ...] = ()
) -> Scenario:
    return Scenario(
        requirement="TMR1",
        name=name,
        source=tables[0],
        replica=tables[1],
        conversions=conversions,
        looks=looks,
        select=_HEX,
        brief=brief,
    )


_TO_UTF8: Final = Look(change=_LATIN, right=_IN_UTF8, observed=(_CUT, _IN_LATIN))
_TO_LATIN: Final = Look(change=_UTF8, right=_IN_LATIN, observed=(_IN_UTF8,))
# Another character set on the replica (table-map-metadata 7.1).
CHARSETS: Final = (
    _charset(
        "varchar latin1 utf8mb4", _text("VARCHAR(10)", "latin1", "utf8mb4"), (NONE, WIDER), _TO_UTF8, brief=(WIDER,)
    ),
    _charset("char latin1 utf8mb4", _text("CHAR(10)", "latin1", "utf8mb4"), (NONE, WIDER), _TO_UTF8),
    _charset("text latin1 utf8mb4", _text("TEXT", "latin1", "utf8mb4"), (NONE,), _TO_UTF8, brief=(NONE,)),
    _charset("text mediumtext", _text("TEXT", "latin1", "utf8mb4", into="MEDIUMTEXT"), (NONE, WIDER), _TO_UTF8),
    _charset("varchar utf8mb4 latin1", _text("VARCHAR(10)", "utf8mb4", "latin1"), (NONE, LOSSY), _TO_LATIN),
    _charset("char utf8mb4 latin1", _text("CHAR(10)", "utf8mb4", "latin1"), (NONE, LOSSY), _TO_LATIN),
    _charset(
        "varchar key latin1 utf8mb4",
        _text("VARCHAR(10)", "latin1", "utf8mb4", key="PRIMARY KEY (a)"),
        (NONE,),
        _TO_UTF8,
    ),
    _charset(
        "another collation",
        _text("VARCHAR(10)", "utf8mb4 COLLATE utf8mb4_bin", "utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
        (NONE,),
        Look(change=_UTF8, right=_IN_UTF8),
        brief=(NONE,),
    ),
)

# --- 2: another width or sign ----------------------------------------------------------------------------------------

_UNSIGNED, _SIGNED = "ALL_UNSIGNED", "ALL_SIGNED"
_WIDTHS: Final = (("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64))
# Another width or sign on the replica (table-map-metadata 7.2).
_COMPLAINT: Final = 3916586877  # the worklog's own number


def _integers(
    name: str, source: str, replica: str, conversions: tuple[str, ...], look: Look, *, brief: tuple[str, ...] = ()
) -> Scenario:
    """Column ``a`` of these types."""
    scenario = _shape(name, f"a {source}", f"a {replica}", look, conversions=conversions, brief=brief)
    return replace(scenario, requirement="TMR2")


def _signs() -> Iterable[Scenario]:
    every = (NONE, LOSSY, _UNSIGNED, WIDER, f"{WIDER},{_SIGNED}", f"{WIDER},{_UNSIGNED}")
    for (kind, bits), (wider, _) in pairwise(_WIDTHS):
        number = _COMPLAINT if kind == "INT" else (1 << bits) - 56
        look = Look(
            change=f"INSERT INTO t VALUES (1, {number}), (2, 5)",
            right=_rows(str(number), "5"),
            observed=(_rows(str(number - (1 << bits)), "5"),),
        )
        conversions = every if kind == "INT" else (WIDER, f"{WIDER},{_UNSIGNED}")
        brief = (NONE, WIDER) if kind == "INT" else ()
        yield _integers(f"{kind} unsigned to {wider}", f"{kind} UNSIGNED", wider, conversions, look, brief=brief)
        signed = (NONE, WIDER, LOSSY) if kind == "INT" else (NONE,)
        yield _integers(f"{kind} unsigned to signed", f"{kind} UNSIGNED", kind, signed, look)
    negative = Look(change="INSERT INTO t VALUES (1, -5), (2, 5)", right=None, observed=(_rows("0", "5"),))
    yield _integers("INT to BIGINT unsigned", "INT", "BIGINT UNSIGNED", (WIDER,), negative)


SIGNS: Final = tuple(_signs())

# --- 4: another shape ------------------------------------------------------------------------------------------------


# Another shape on the replica (table-map-metadata 7.3).
_INSERT: Final = "INSERT INTO t (id, a) VALUES (1, 2), (2, 3)"
_PAIR: Final = "INSERT INTO t (id, a, b) VALUES (1, 2, 3), (2, 4, 5)"


def _changes(right: tuple[Rows, Rows, Rows], observed: tuple[Rows, Rows, Rows] | None = None) -> tuple[Look, ...]:
    """Statements that insert rows, update one and delete one."""
    sqls = (_INSERT, "UPDATE t SET a = 9 WHERE id = 1", "DELETE FROM t WHERE id = 2")
    other = [() if observed is None else (rows,) for rows in observed or right]
    return tuple(Look(change=sql, right=rows, observed=o) for sql, rows, o in zip(sqls, right, other, strict=True))


SHAPES: Final = (
    _shape(
        "more columns at the end",
        "a INT",
        "a INT, b INT DEFAULT 7, c INT",
        *_changes(
            ((("1", "2", "7", None), ("2", "3", "7", None)),
             (("1", "9", "7", None), ("2", "3", "7", None)),
             (("1", "9", "7", None),))
        ),
        brief=(NONE,),
    ),
    _shape(
        "a column without default at the end",
        "a INT",
        "a INT, b INT NOT NULL",
        *_changes(((("1", "2", "0"), ("2", "3", "0")), (("1", "9", "0"), ("2", "3", "0")), (("1", "9", "0"),))),
    ),
    _shape(
        "a column in the middle",
        "a INT",
        "x INT, a INT",
        *_changes(
            ((("1", None, "2"), ("2", None, "3")), (("1", None, "9"), ("2", None, "3")), (("1", None, "9"),)),
            ((("1", "2", None), ("2", "3", None)), (("1", "9", None), ("2", "3", None)), (("1", "9", None),)),
        ),
        brief=(NONE,),
    ),
    _shape(
        "fewer columns",
        "a INT, b INT",
        "a INT",
        Look(change=_PAIR, right=_rows("2", "4")),
        Look(change="UPDATE t SET b = 9", right=_rows("2", "4")),
        Look(change="UPDATE t SET a = 7 WHERE id = 1", right=_rows("7", "4")),
        Look(change="DELETE FROM t WHERE id = 2", right=_rows("7")),
    ),
    _shape(
        "another order of the same types",
        "a INT, b INT",
        "b INT, a INT",
        Look(
            change=_PAIR, right=(("1", "3", "2"), ("2", "5", "4")), observed=((("1", "2", "3"), ("2", "4", "5")),)
        ),
        brief=(NONE,),
    ),
    _shape(
        "another order of other types",
        "a INT, b VARCHAR(10)",
        "b VARCHAR(10), a INT",
        Look(change="INSERT INTO t VALUES (1, 2, 'x')", right=(("1", "x", "2"),)),
    ),
    _shape(
        "another order with the key",
        "a INT",
        "a INT, id INT PRIMARY KEY",
        Look(change=_INSERT, right=(("2", "1"), ("3", "2")), observed=((("1", "2"), ("2", "3")),)),
    ),
    _shape(
        "INT to VARCHAR",
        "a INT",
        "a VARCHAR(20)",
        Look(change=_INSERT, right=_rows("2", "3")),
        conversions=(NONE, BOTH),
    ),
    _shape(
        "INT to BIGINT",
        "a INT",
        "a BIGINT",
        Look(change=_INSERT, right=_rows("2", "3")),
        conversions=(NONE, WIDER),
    ),
    _shape(
        "BIGINT to INT",
        "a BIGINT",
        "a INT",
        Look(change="INSERT INTO t VALUES (1, 10000000000), (2, 3)", right=None, fine=(_rows("2147483647", "3"),)),
        conversions=(NONE, LOSSY),
    ),
    _shape(
        "VARCHAR to a shorter one",
        "a VARCHAR(20)",
        "a VARCHAR(5)",
        Look(change="INSERT INTO t VALUES (1, 'abcdefgh'), (2, 'abc')", right=None, fine=(_rows("abcde", "abc"),)),
        conversions=(NONE, LOSSY),
    ),
    _shape(
        "VARCHAR to a longer one",
        "a VARCHAR(5)",
        "a VARCHAR(20)",
        Look(change="INSERT INTO t VALUES (1, 'abcde')", right=_rows("abcde")),
        conversions=(NONE, WIDER),
    ),
    _shape(
        "JSON to LONGTEXT",
        "a JSON",
        "a LONGTEXT",
        Look(change="INSERT INTO t VALUES (1, '[1]')", right=_rows("[1]")),
        conversions=(NONE, BOTH),
    ),
    _shape(
        "ENUM with its members in another order",
        "a ENUM('x', 'y')",
        "a ENUM('y', 'x')",
        Look(change="INSERT INTO t VALUES (1, 'x'), (2, 'y')", right=_rows("x", "y"), observed=(_rows("y", "x"),)),
    ),
    _shape(
        "SET with its members in another order",
        "a SET('x', 'y')",
        "a SET('y', 'x')",
        Look(change="INSERT INTO t VALUES (1, 'x'), (2, 'y')", right=_rows("x", "y"), observed=(_rows("y", "x"),)),
    ),
)  # fmt: skip

SCENARIOS: Final = (*CHARSETS, *SIGNS, *SHAPES)


# --- as Cases --------------------------------------------------------------------------------------------------------


def case(scenario: Scenario, conversions: str, metadata: str) -> SqlCase:
    """Make the tables on each side without the log; then the source writes, and the Case reads the replica."""
    requirement = scenario.requirement
    statements = [
        SqlStatement(sql=f"SET GLOBAL {VARIABLE} = '{metadata}'"),
        SqlStatement(sql="SET NAMES utf8mb4"),
        SqlStatement(sql="SET SESSION sql_log_bin = 0"),
        SqlStatement(sql=scenario.source),
        SqlStatement(sql="SET SESSION sql_log_bin = 1"),
        SqlStatement(sql="SET SESSION sql_log_bin = 0", node=REPLICA),
        SqlStatement(sql=scenario.replica, node=REPLICA),
    ]
    for look in scenario.looks:
        statements += [
            SqlStatement(sql=look.change),
            SqlStatement(
                sql=scenario.select,
                node=REPLICA,
                judges=requirement,
                outcomes=outcomes(look),
                otherwise=Verdict.DIFFERS,
                note=f"{scenario.name}, {metadata}, conversions {conversions!r}, {look.change.split()[0]}",
            ),
        ]
    return SqlCase(
        id=slug("other-table", requirement, scenario.name, conversions or "none", metadata),
        requirements=(requirement,),
        hazard=Hazard.STOPS_REPLICA,
        schema=True,
        globals=(VARIABLE,),
        statements=tuple(statements),
        note=f"replica_type_conversions={conversions!r} on the replica",
    )


def outcomes(look: Look) -> tuple[Outcome, ...]:
    """The allowed outcomes: the right value, an applier that stops, and what was observed."""
    right = () if look.right is None else (Outcome(rows=look.right),)
    fine = tuple(Outcome(rows=rows) for rows in look.fine)
    told = tuple(Outcome(rows=rows, verdict=Verdict.INFO) for rows in look.observed)
    return (*right, *fine, *(Outcome(error=number) for number in NOT_CONVERTED), *told)


def cases_by_conversions(requirement: str, *, brief: bool) -> Mapping[str, list[SqlCase]]:
    """The Cases of a requirement, by the setting of the replica under which they run.

    The outcomes were the same with MINIMAL and FULL wherever both were tried: ``brief`` leaves out MINIMAL.
    """
    found: dict[str, list[SqlCase]] = defaultdict(list)
    for scenario in SCENARIOS:
        if scenario.requirement == requirement:
            for conversions in scenario.brief if brief else scenario.conversions:
                for metadata in ("FULL",) if brief else ("FULL", "MINIMAL"):
                    found[conversions].append(case(scenario, conversions, metadata))
    return found
