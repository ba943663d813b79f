"""Generated updates of tables with additional features, on a pair: sql Cases.

The scenarios are those of the server's own test-suite (requirements checklist, the last table).

The table is small and known, ``t (id, n, j, k)`` with JSON columns j and k; the generators draw its documents and
updates. A *feature* of the table must change neither how the server logs an update (D11, D10) nor what the replica ends
up with (FR2). The update has the form that the model predicts for the bare table, and both servers read the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import insert_statement, update_statement
from conformance.cases.predict import Model
from conformance.cases.session import SORT_BUFFER, Session
from conformance.cases.sql_case import REPLICA, Outcome, SqlCase, SqlStatement
from conformance.cases.update_case import Hazard
from conformance.judge.updates.forms import row_forms
from conformance.reference.errors import MysqlError
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import decode_diffs
from conformance.reference.tables.definitions import Column, Table, create_table
from conformance.verdict import Verdict
from generators.cases import next_step, start_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.cases.predict import StepPrediction
    from conformance.cases.row_images import RowImage
    from generators.draw import Draw

_COLUMNS: Final = (
    Column(name="id", type="INT", nullable=False),
    Column(name="n", type="INT"),
    Column(name="j", type="JSON"),
    Column(name="k", type="JSON"),
)
_OF_ITS_OWN: Final = "ALTER TABLE t TABLESPACE=innodb_file_per_table"  # partitions cannot lie in the shared tablespace
_TOO_DEEP: Final = 3157  # of a document without a text (partial-update 8.3)
_STEPS: Final = 4
_JOINED_STEPS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFeature:
    """A feature that the table has beside its documents.

    ``source``, ``replica``: statements behind CREATE TABLE, on the source (and so on both), and on the replica alone.
    ``target``: what the UPDATE names instead of t. ``read``, ``tables``: the columns and tables that must read the same
    on both sides. ``joined``: the updates are those of a join, of one row each; ``later``: t is not its first table.
    ``form``: whether the model predicts the form of each update.
    """

    name: str
    source: tuple[str, ...] = ()
    replica: tuple[str, ...] = ()
    insert: str = "INSERT"
    target: str = "`t`"
    read: str = "*"
    tables: str = "t"
    key: bool = True
    joined: bool = False
    later: bool = False
    form: bool = True


# Of one row: a column that did not change is an empty list of diffs all the same (D9).
WITHOUT_DIFFS: Final = tuple(Outcome(form=form) for form in ("whole", "empty", "none-json", "none"))
_JOINED: Final = ("CREATE TABLE other (x INT PRIMARY KEY, o JSON)", """INSERT INTO other VALUES (1, '{"a": 1}')""")
_LENGTH: Final = "JSON_LENGTH(j)"

TABLE_FEATURES: Final = (
    TableFeature(name="bare"),
    TableFeature(name="no-key", key=False),
    TableFeature(name="virtual-column", source=(f"ALTER TABLE t ADD g INT AS ({_LENGTH}) VIRTUAL, ADD KEY (g)",)),
    TableFeature(name="stored-column", source=("ALTER TABLE t ADD g BIGINT AS (CRC32(CAST(k AS CHAR))) STORED",)),
    TableFeature(
        name="virtual-json-column", source=("ALTER TABLE t ADD g JSON AS (JSON_EXTRACT(j, '$.*')) VIRTUAL",), form=False
    ),
    TableFeature(
        name="stored-json-column",
        source=("ALTER TABLE t ADD g JSON AS (JSON_MERGE_PATCH(k, JSON_OBJECT('n', n))) STORED",),
        form=False,
    ),
    TableFeature(name="functional-index", source=(f"ALTER TABLE t ADD KEY ((CAST({_LENGTH} AS UNSIGNED)))",)),
    TableFeature(
        name="generated-columns-on-the-replica",
        replica=(
            f"ALTER TABLE t ADD g1 INT AS ({_LENGTH}) VIRTUAL, ADD KEY (g1)",
            "ALTER TABLE t ADD g2 VARCHAR(20) AS (JSON_TYPE(k)) STORED",
        ),
        read="id, n, j, k",
    ),
    TableFeature(name="column-missing-on-the-replica", replica=("ALTER TABLE t DROP COLUMN k",), read="id, n, j"),
    TableFeature(
        name="two-columns-missing-on-the-replica",
        source=("ALTER TABLE t ADD l JSON, ADD s VARCHAR(9)",),
        replica=("ALTER TABLE t DROP COLUMN l, DROP COLUMN s",),
        read="id, n, j, k",
    ),
    TableFeature(
        name="more-columns-on-the-replica", replica=("ALTER TABLE t ADD z INT DEFAULT 5",), read="id, n, j, k"
    ),
    TableFeature(name="partitions-by-hash", source=(_OF_ITS_OWN, "ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 3")),
    TableFeature(
        name="partitions-by-range",
        source=(
            _OF_ITS_OWN,
            """ALTER TABLE t PARTITION BY RANGE (id)
            (PARTITION low VALUES LESS THAN (2), PARTITION high VALUES LESS THAN MAXVALUE)""",
        ),
    ),
    TableFeature(
        name="partitions-on-the-replica",
        replica=(_OF_ITS_OWN, "ALTER TABLE t PARTITION BY KEY (id) PARTITIONS 2"),
    ),
    TableFeature(name="view", source=("CREATE VIEW v AS SELECT * FROM t",), target="`v`"),
    TableFeature(
        name="view-with-check",
        source=("CREATE VIEW v AS SELECT k, j, id, n FROM t WHERE id > 0 WITH CASCADED CHECK OPTION",),
        target="`v`",
    ),
    TableFeature(
        name="trigger-after",
        source=(
            "CREATE TABLE log (at INT AUTO_INCREMENT PRIMARY KEY, id INT, was VARCHAR(20), became VARCHAR(20))",
            """CREATE TRIGGER a AFTER UPDATE ON t FOR EACH ROW
            INSERT INTO log (id, was, became) VALUES (OLD.id, JSON_TYPE(OLD.j), JSON_TYPE(NEW.j))""",
        ),
        read="log.*, t.*",
        tables="log RIGHT JOIN t ON t.id = log.id",
    ),
    TableFeature(
        name="trigger-before-on-another-column",
        source=(
            "ALTER TABLE t ADD c INT",
            "CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW SET NEW.c = JSON_LENGTH(NEW.j)",
        ),
        form=False,  # a row that only the trigger changes is logged as well
    ),
    TableFeature(
        name="zero-length-json", source=("ALTER TABLE t ADD z JSON NOT NULL",), insert="INSERT IGNORE", form=False
    ),
    TableFeature(name="check-constraint", source=("ALTER TABLE t ADD CHECK (j IS NULL OR JSON_VALID(j))",)),
    TableFeature(
        name="first-of-a-join",
        source=_JOINED,
        target="`t` STRAIGHT_JOIN other ON other.x >= 0",
        joined=True,
    ),
    TableFeature(
        name="later-in-a-join",
        source=_JOINED,
        target="other STRAIGHT_JOIN `t` ON other.x >= 0",
        joined=True,
        later=True,
    ),
)


def table_of_documents(*, key: bool = True) -> Table:
    """The table ``t (id, n, j, k)``."""
    return Table(schema="lab", name="t", columns=_COLUMNS, primary_key=((0, 0),) if key else ())


class Update(NamedTuple):
    """A generated statement on ``t``, and what the model says of it."""

    sql: str
    prediction: StepPrediction

    @property
    def form(self) -> str:
        """The form in which the server must log the update."""
        return ", ".join(chain.from_iterable(map(row_forms, self.prediction.events))) or "none"


def updates_of(
    draw: Draw, table: Table, session: Session, rows: Sequence[Sequence[object]], *, steps: int, single: bool = False
) -> Iterator[Update]:
    """At most ``steps`` updates that the server takes, and that a replica of the same start rows takes as well.

    The stop that is a listed deviation has checks of its own. ``single``: updates of one row each.
    """
    names = [column.name for column in table.columns]
    model = Model(table, "id", session, [dict(zip(names, row, strict=True)) for row in rows])
    replica: list[Mapping[str, object]] = list(model.rows)
    for number in range(steps):
        step = next_step(draw.fork("step", number), table, model.rows)
        prediction = model.predict(step)
        if prediction.error is not None or (single and len(step.rows) > 1):
            continue
        followed = _followed(prediction, replica)
        if followed is None:
            continue
        keys = [model.rows[index]["id"] for index in model.visit_order(step)]
        model.advance(prediction)
        for index, row in followed.items():
            replica[index] = row
        yield Update(update_statement(table, "id", step.assignments, keys), prediction)


def with_feature(draw: Draw, feature: TableFeature, image: RowImage, name: str) -> SqlCase:
    """A table with this feature, some rows, and updates of them; after each update both servers read the same."""
    table = table_of_documents(key=feature.key)
    rows = start_rows(draw.fork("rows"), table, 1 + draw.below(3))
    session = Session(row_image=image)
    statements = [*session.statements(), create_table(table), *feature.source]
    rest = [SqlStatement(sql=sql) for sql in statements]
    on_replica = (f"SET SESSION sql_log_bin=0, SESSION sort_buffer_size={SORT_BUFFER}", *feature.replica)
    rest += [SqlStatement(sql=sql, node=REPLICA) for sql in on_replica]
    rest.append(SqlStatement(sql=insert_statement(table, rows).replace("INSERT", feature.insert, 1)))
    for update in _updates(draw, table, session, rows, feature):
        rest += update
    return SqlCase(id=name, requirements=("FR2",), needs=("2S",), schema=True, statements=tuple(rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why the replica cannot apply an update: what the replica has, what it answers, and what repairs it.

    ``{document}`` stands for the document on the source, ``{rest}`` for it without its member a; ``row``: what the
    replica has in row 2 until it is repaired.
    """

    name: str
    replica: str
    error: int
    repair: str
    row: str | None = "{document}"


STOPS: Final = (
    Stop(
        name="duplicate-in-a-generated-column",
        replica="ALTER TABLE t ADD g INT AS (j->'$.a') STORED UNIQUE",
        error=1062,
        repair="DELETE FROM t WHERE id=1",
    ),
    Stop(
        name="check-constraint",
        replica="ALTER TABLE t ADD CONSTRAINT c CHECK (id <> 2 OR j->'$.a' <> 1)",
        error=3819,
        repair="ALTER TABLE t DROP CHECK c",
    ),
    Stop(
        name="member-missing",
        replica="UPDATE t SET j=JSON_REMOVE(j,'$.a') WHERE id=2",
        error=3648,
        repair="UPDATE t SET j=JSON_SET(j,'$.a',9) WHERE id=2",
        row="{rest}",
    ),
    Stop(
        name="row-missing",
        replica="DELETE FROM t WHERE id=2",
        error=1032,
        repair="INSERT INTO t VALUES (2, '{document}')",
        row=None,
    ),
)


def stopped(draw: Draw, stop: Stop, image: RowImage, name: str) -> SqlCase:
    """The applier stops at a diff and leaves the row as it was; repaired and started again, it goes on."""
    pad = draw.letters(40 + draw.below(200), "abcdefghijklmnop")
    document, other = (f'{{"a": {number}, "pad": "{pad}"}}' for number in (2 + draw.below(99), 101 + draw.below(99)))
    read = "SELECT id, j FROM t WHERE id > 1 ORDER BY id"
    words = {"document": document, "rest": f'{{"pad": "{pad}"}}'}
    kept = ((("2", stop.row.format(**words)),) if stop.row else ()) + (("3", other),)
    setup = (
        *Session(row_image=image).statements(),
        "CREATE TABLE t (id INT PRIMARY KEY, j JSON)",
        f"""INSERT INTO t VALUES (2, '{document}'), (3, '{other}'), (1, '{{"a": 1}}')""",
    )

    def there(sql: str, *outcomes: Outcome, note: str = "", at_once: bool = True) -> SqlStatement:
        return SqlStatement(
            sql=sql, node=REPLICA, at_once=at_once, judges="FR5" if outcomes else "", outcomes=outcomes or (Outcome(),),
            note=note,
        )  # fmt: skip

    return SqlCase(
        id=name,
        requirements=("FR5",),
        needs=("2S", "statement REPLICA", *(("statement DROP CHECK",) if "DROP CHECK" in stop.repair else ())),
        hazard=Hazard.STOPS_REPLICA,
        schema=True,
        statements=(
            *(SqlStatement(sql=sql) for sql in setup),
            there("SET SESSION sql_log_bin=0", at_once=False),
            there(stop.replica),
            SqlStatement(sql="UPDATE t SET j=JSON_SET(j,'$.a',1) WHERE id=2"),
            there("DO 0", Outcome(error=stop.error), note="the applier stops", at_once=False),
            there(read, Outcome(rows=kept), note="the row is as it was"),
            there(stop.repair.format(**words)),
            there("START REPLICA SQL_THREAD"),
            SqlStatement(sql="UPDATE t SET j=JSON_SET(j,'$.a',77) WHERE id=3"),
            SqlStatement(sql=read),
            there(read, Outcome(as_before=True), note="repaired and started again, it has everything", at_once=False),
        ),
    )


def _updates(
    draw: Draw, table: Table, session: Session, rows: tuple[tuple[object, ...], ...], feature: TableFeature
) -> Iterator[list[SqlStatement]]:
    """Updates, each with what both sides must read after it."""
    select = f"SELECT {feature.read} FROM {feature.tables} ORDER BY 1, 2"
    steps = _JOINED_STEPS if feature.joined else _STEPS
    for update in updates_of(draw, table, session, rows, steps=steps, single=feature.joined):
        yield [
            _update(update, feature),
            SqlStatement(sql=select, outcomes=(Outcome(), Outcome(error=_TOO_DEEP))),
            SqlStatement(
                sql=select,
                node=REPLICA,
                judges="FR2",
                outcomes=(Outcome(as_before=True),),
                note=f"the replica reads what the source reads ({feature.name})",
            ),
        ]


def _update(update: Update, feature: TableFeature) -> SqlStatement:
    sql = update.sql.replace("UPDATE `t` SET", f"UPDATE {feature.target} SET", 1)
    if not feature.form:
        return SqlStatement(sql=sql)
    if feature.later:
        return SqlStatement(
            sql=sql,
            judges="D10",
            outcomes=WITHOUT_DIFFS,
            otherwise=Verdict.DIFFERS,
            note="t is not the first table of the join, so no diffs are logged",
        )
    return SqlStatement(
        sql=sql,
        judges="D10" if feature.joined else "D11",
        outcomes=(Outcome(form=update.form),),
        otherwise=Verdict.DIFFERS,
        note=f"logged as without its feature ({feature.name})",
    )


def _followed(prediction: StepPrediction, rows: list[Mapping[str, object]]) -> dict[int, Mapping[str, object]] | None:
    """The replica's rows after a statement, by index; ``None`` where its applier refuses a diff."""
    after: dict[int, Mapping[str, object]] = {}
    for row in prediction.rows:
        if not row.change.logged:
            continue
        values = dict(row.change.after)
        for name, decision in row.decisions.items():
            stored = rows[row.index][name]
            if decision.partial and decision.data is not None:
                assert stored is None or isinstance(stored, bytes)
                try:
                    values[name] = apply_diffs(stored, decode_diffs(decision.data))
                except MysqlError:
                    return None
        after[row.index] = values
    return after
