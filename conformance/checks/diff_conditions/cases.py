"""Cases for the seven conditions, and for what requirements 2 adds to them (D10 and on, observed on 9.7.4).

Each Case has one update, and the form in which the server must log it (``judge.forms``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.judge.updates.forms import BOGUS
from conformance.verdict import Verdict

_DOCUMENT: Final = '{"a": 1, "b": "' + "b" * 40 + '", "c": [1, 2, 3]}'
_TABLE: Final = (
    "CREATE TABLE t (id INT PRIMARY KEY, n INT, j JSON, k JSON)",
    f"INSERT INTO t VALUES (1, 0, '{_DOCUMENT}', '{_DOCUMENT}')",
)
_ON: Final = "SET SESSION binlog_row_value_options='PARTIAL_JSON', SESSION binlog_row_image='MINIMAL'"
_SET: Final = "UPDATE t SET j=JSON_SET(j,'$.a',2)"
_JOINED: Final = ("CREATE TABLE t2 (id INT PRIMARY KEY, k JSON)", "INSERT INTO t2 VALUES (0, '{\"a\": 1}')")
_TEXT: Final = "ALTER TABLE t ADD x LONGTEXT"
_OBSERVED: Final = frozenset({"D10", "D11", "D12", "D14"})  # another form is a difference, no failure of the worklog's
V1: Final = "log_bin_use_v1_row_events"  # its effect together with the option: binlog-events 11.5


HEADLESS: Final = "partial-rows-without-head"  # the listed deviation


class _Update(NamedTuple):
    """An update, and the forms in which the server may log it."""

    name: str
    sql: str
    forms: str | tuple[str, ...]
    why: str
    setup: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()  # forms that the listed deviation has
    deviation: str = ""


def _case(condition: str, update: _Update) -> SqlCase:
    forms = (update.forms,) if isinstance(update.forms, str) else update.forms
    return SqlCase(
        id=f"{condition.lower()}-{update.name}",
        requirements=(condition,),
        schema=True,
        needs=("statement ARRAY",) if any(" ARRAY)" in sql for sql in update.setup) else (),
        globals=(V1,) if any(V1 in sql for sql in update.setup) else (),
        statements=(
            *(SqlStatement(sql=sql) for sql in (*_TABLE, _ON, *update.setup)),
            SqlStatement(
                sql=update.sql,
                judges=condition,
                outcomes=(
                    *(Outcome(form=form) for form in forms),
                    *(Outcome(form=form, verdict=Verdict.FAIL, deviation=update.deviation) for form in update.wrong),
                ),
                otherwise=Verdict.DIFFERS if condition in _OBSERVED else Verdict.FAIL,
                note=update.why,
            ),
        ),
    )


def _updates(form: str, why: str, **updates: str) -> list[_Update]:
    return [_Update(name.replace("_", "-"), f"UPDATE t SET {text}", form, why) for name, text in updates.items()]


_UPDATES: Final = {
    "D1": [
        _Update("log-enabled", _SET, "partial", "the log is enabled"),
        _Update("log-disabled", _SET, "none", "nothing is logged with sql_log_bin=0", ("SET SESSION sql_log_bin=0",)),
    ],
    "D2": [
        _Update("on", _SET, "partial", "the option is on"),
        _Update(
            "off",
            _SET,
            "full",
            "with the option off the event is UPDATE_ROWS with whole documents",
            ("SET SESSION binlog_row_value_options=''",),
        ),
        _Update("no-json-touched", "UPDATE t SET n=n+1", "none-json", "type 39 also without a JSON column"),
    ],
    "D3": [
        _Update(
            "statement",
            _SET,
            "query",
            "a statement-format session logs the statement",
            ("SET SESSION binlog_format='STATEMENT'",),
        ),
        _Update(
            "mixed-safe",
            _SET,
            "query",
            "MIXED logs a safe statement as such",
            ("SET SESSION binlog_format='MIXED'",),
        ),
        _Update(
            "mixed-unsafe",
            "UPDATE t SET j=JSON_SET(j,'$.a',UUID())",
            "partial",
            "MIXED logs an unsafe statement as rows",
            ("SET SESSION binlog_format='MIXED'",),
        ),
    ],
    # The worklog contradicts itself on who wins, so both forms are allowed; a mixture of them is not.
    "D4": [
        _Update(
            "v1-on",
            _SET,
            ("full-v1", "partial"),
            "version 1 row events are on",
            (f"SET GLOBAL {V1}=1",),
            ("headless whole", "headless partial", BOGUS),
            HEADLESS,
        ),
        _Update("v1-off", _SET, "partial", "version 1 row events are off", (f"SET GLOBAL {V1}=0",)),
    ],
    "D5": [
        *_updates(
            "partial",
            "a chain of JSON_SET, JSON_REPLACE and JSON_REMOVE over the column itself qualifies",
            set="j=JSON_SET(j,'$.a',2)",
            replace="j=JSON_REPLACE(j,'$.a',2)",
            remove="j=JSON_REMOVE(j,'$.a')",
            nested="j=JSON_REMOVE(JSON_REPLACE(JSON_SET(j,'$.d',4),'$.a',2),'$.c[0]')",
            parenthesised="j=((JSON_SET((j),'$.a',2)))",
            qualified="t.j=JSON_SET(t.j,'$.a',2)",
            twice="j=JSON_SET(j,'$.a',2), j=JSON_SET(j,'$.c[0]',2)",
            value_from_column="j=JSON_SET(j,'$.a',n)",
            value_from_json_column="j=JSON_SET(j,'$.a',k->'$.c[1]')",
            value_from_subquery="j=JSON_SET(j,'$.a',(SELECT 5))",
        ),
        *_updates(
            "whole",
            "any other function, wrapper or source disqualifies the column",
            insert="j=JSON_INSERT(j,'$.z',2)",
            array_append="j=JSON_ARRAY_APPEND(j,'$.c',2)",
            array_insert="j=JSON_ARRAY_INSERT(j,'$.c[0]',2)",
            merge_patch="j=JSON_MERGE_PATCH(j,'{\"a\": 2}')",
            merge_preserve="j=JSON_MERGE_PRESERVE(j,'{\"a\": 2}')",
            inner_insert="j=JSON_SET(JSON_INSERT(j,'$.z',2),'$.a',2)",
            outer_insert="j=JSON_INSERT(JSON_SET(j,'$.a',2),'$.z',2)",
            cast_inside="j=JSON_SET(CAST(j AS JSON),'$.a',2)",
            if_around="j=IF(TRUE,JSON_SET(j,'$.a',2),NULL)",
            coalesce_around="j=COALESCE(JSON_SET(j,'$.a',2))",
            other_column="j=JSON_SET(k,'$.a',2)",
            assignment='j=\'{"a": 2, "b": "bbbbbbbbbbbbbbbbbbbb"}\'',
            one_bad_of_two="j=JSON_SET(j,'$.a',2), j=JSON_INSERT(j,'$.z',2)",
        ),
    ],
    "D6": [
        _Update(
            "one-byte-smaller",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "partial",
            "4 + D = 17 is smaller than L = 18",
            ('UPDATE t SET j=\'["kkkk", "z"]\'',),
        ),
        _Update(
            "equal",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "whole",
            "4 + D = 17 is not smaller than L = 17",
            ('UPDATE t SET j=\'["kkkk", ""]\'',),
        ),
        _Update(
            "one-byte-larger",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "whole",
            "4 + D = 17 is not smaller than L = 16",
            ("UPDATE t SET j='[\"kkkk\", 1]'",),
        ),
        _Update(
            "holes-count",
            "UPDATE t SET j=JSON_SET(j,'$[0]','yyyy')",
            "partial",
            "free space counts in L: 4 + D = 17 against L = 19",
            ('UPDATE t SET j=\'["kkkk", "zz"]\'', "UPDATE t SET j=JSON_SET(j,'$[1]','')"),
        ),
    ],
    "D7": [
        _Update(
            "full-image",
            _SET,
            "partial",
            "the before-image holds whole documents",
            ("SET SESSION binlog_row_image='FULL'",),
        ),
        _Update(
            "untouched-column",
            "UPDATE t SET n=n+1",
            "empty",
            "an untouched JSON column in a FULL after-image is an empty list of diffs",
            ("SET SESSION binlog_row_image='FULL'",),
        ),
    ],
    "D10": [
        _Update(name, f"UPDATE {tables} SET t.j=JSON_SET(t.j,'$.a',{value})", form, why, _JOINED)
        for name, tables, value, form, why in (
            ("first", "t STRAIGHT_JOIN t2 ON t2.id=t.n", "2", "partial", "t is the first table of the join"),
            ("value-of-second", "t STRAIGHT_JOIN t2 ON t2.id=t.n", "t2.id+5", "partial", "t is the first of the join"),
            ("left-join", "t LEFT JOIN t2 ON t2.id=t.n", "2", "partial", "t is on the left of the join"),
            ("second", "t2 STRAIGHT_JOIN t ON t2.id=t.n", "2", "whole", "t is not the first table of the join"),
        )
    ],
    "D11": [
        _Update(name, update, "partial", f"{name} does not disqualify the update", setup)
        for name, update, setup in (
            ("view", "UPDATE v SET j=JSON_SET(j,'$.a',2)", ("CREATE VIEW v AS SELECT id, j FROM t",)),
            (
                "view-with-check",
                "UPDATE v SET j=JSON_SET(j,'$.a',2)",
                ("CREATE VIEW v AS SELECT id, j FROM t WHERE id < 5 WITH CHECK OPTION",),
            ),
            ("order-and-limit", f"{_SET} ORDER BY id LIMIT 1", ()),
            ("ignore", "UPDATE IGNORE t SET j=JSON_SET(j,'$.a',2)", ()),
            ("with", f"WITH c AS (SELECT 1 AS id) {_SET} WHERE id IN (SELECT id FROM c)", ()),
            ("exists", f"{_SET} WHERE EXISTS (SELECT 1 FROM t2 WHERE t2.id=t.n)", _JOINED),
            ("prepared", "EXECUTE s", ("PREPARE s FROM 'UPDATE t SET j=JSON_SET(j,''$.a'',2)'",)),
            ("procedure", "CALL p()", (f"CREATE PROCEDURE p() {_SET}",)),
            (
                "partitions",  # which cannot lie in the shared tablespace that the lab's own servers use
                _SET,
                (
                    "ALTER TABLE t TABLESPACE=innodb_file_per_table",
                    "ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 2",
                ),
            ),
            ("check-constraint", _SET, ("ALTER TABLE t ADD CHECK (JSON_TYPE(j)='OBJECT')",)),
            ("virtual-column", _SET, ("ALTER TABLE t ADD g INT AS (j->'$.a') VIRTUAL, ADD KEY (g)",)),
            ("stored-column", _SET, ("ALTER TABLE t ADD g INT AS (j->'$.a') STORED",)),
            ("multi-valued-index", _SET, ("ALTER TABLE t ADD KEY ((CAST(j->'$.c' AS UNSIGNED ARRAY)))",)),
            ("no-key", _SET, ("ALTER TABLE t DROP PRIMARY KEY",)),
            ("key-changed", "UPDATE t SET id=id+1, j=JSON_SET(j,'$.a',2)", ()),
            (
                "trigger-before-on-another-column",
                _SET,
                ("CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW SET NEW.n=7",),
            ),
            ("trigger-after", _SET, ("CREATE TRIGGER b AFTER UPDATE ON t FOR EACH ROW SET @x=1",)),
        )
    ],
    "D12": [
        _Update(
            "on-duplicate-key",
            "INSERT INTO t (id) VALUES (1) ON DUPLICATE KEY UPDATE j=JSON_SET(j,'$.a',2)",
            "whole",
            "the statement is no UPDATE",
            ("ALTER TABLE t DROP k",),
        ),
        _Update(
            "replace",
            """REPLACE INTO t VALUES (1, 0, '{"a": 2}', '{"a": 2}')""",
            "whole",
            "the statement is no UPDATE",
        ),
        _Update("myisam", _SET, "whole", "the engine has no partial updates", ("ALTER TABLE t ENGINE=MyISAM",)),
        _Update(
            "json-in-text",
            "UPDATE t SET x=JSON_SET(x,'$.a',2)",
            "none-json",
            "the column is LONGTEXT",
            (_TEXT, """UPDATE t SET x='{"a": 1}'"""),
        ),
    ],
    "D14": [
        _Update(
            name,
            "UPDATE t SET n=n+1",
            form,
            "NOBLOB leaves out no JSON column",
            (_TEXT, "SET SESSION binlog_row_image='NOBLOB'", f"SET SESSION binlog_row_value_options='{option}'"),
        )
        for name, option, form in (("on", "PARTIAL_JSON", "empty"), ("off", "", "full"))
    ],
}
CONDITIONS: Final = {name: [_case(name, update) for update in updates] for name, updates in _UPDATES.items()}
