"""Cases for the seven conditions: one update each, and the form in which it must be logged (``judge.forms``)."""

from __future__ import annotations

from typing import Final

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement

_DOCUMENT: Final = '{"a": 1, "b": "' + "b" * 40 + '", "c": [1, 2, 3]}'
_TABLE: Final = (
    "CREATE TABLE t (id INT PRIMARY KEY, n INT, j JSON, k JSON)",
    f"INSERT INTO t VALUES (1, 0, '{_DOCUMENT}', '{_DOCUMENT}')",
)
_ON: Final = "SET SESSION binlog_row_value_options='PARTIAL_JSON', SESSION binlog_row_image='MINIMAL'"
_SET: Final = "UPDATE t SET j=JSON_SET(j,'$.a',2)"
V1: Final = "log_bin_use_v1_row_events"


def _case(
    condition: str, name: str, update: str, forms: str | tuple[str, ...], why: str, setup: tuple[str, ...] = ()
) -> SqlCase:
    forms = (forms,) if isinstance(forms, str) else forms
    return SqlCase(
        id=f"{condition.lower()}-{name}",
        requirements=(condition,),
        schema=True,
        globals=(V1,) if any(V1 in sql for sql in setup) else (),
        statements=(
            *(SqlStatement(sql=sql) for sql in (*_TABLE, _ON, *setup)),
            SqlStatement(sql=update, judges=condition, outcomes=tuple(Outcome(form=form) for form in forms), note=why),
        ),
    )


def _updates(form: str, why: str, **updates: str) -> list[SqlCase]:
    return [_case("D5", name.replace("_", "-"), f"UPDATE t SET {text}", form, why) for name, text in updates.items()]


CONDITIONS: Final[dict[str, list[SqlCase]]] = {
    "D1": [
        _case("D1", "log-enabled", _SET, "partial", "the log is enabled"),
        _case(
            "D1", "log-disabled", _SET, "none", "nothing is logged with sql_log_bin=0", ("SET SESSION sql_log_bin=0",)
        ),
    ],
    "D2": [
        _case("D2", "on", _SET, "partial", "the option is on"),
        _case(
            "D2",
            "off",
            _SET,
            "full",
            "with the option off the event is UPDATE_ROWS with whole documents",
            ("SET SESSION binlog_row_value_options=''",),
        ),
        _case("D2", "no-json-touched", "UPDATE t SET n=n+1", "none-json", "type 39 also without a JSON column"),
    ],
    "D3": [
        _case(
            "D3",
            "statement",
            _SET,
            "query",
            "a statement-format session logs the statement",
            ("SET SESSION binlog_format='STATEMENT'",),
        ),
        _case(
            "D3",
            "mixed-safe",
            _SET,
            "query",
            "MIXED logs a safe statement as such",
            ("SET SESSION binlog_format='MIXED'",),
        ),
        _case(
            "D3",
            "mixed-unsafe",
            "UPDATE t SET j=JSON_SET(j,'$.a',UUID())",
            "partial",
            "MIXED logs an unsafe statement as rows",
            ("SET SESSION binlog_format='MIXED'",),
        ),
    ],
    # The worklog contradicts itself on who wins, so both forms are allowed; a mixture of them is not.
    "D4": [
        _case("D4", "v1-on", _SET, ("full-v1", "partial"), "version 1 row events are on", (f"SET GLOBAL {V1}=1",)),
        _case("D4", "v1-off", _SET, "partial", "version 1 row events are off", (f"SET GLOBAL {V1}=0",)),
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
        _case(
            "D6",
            "one-byte-smaller",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "partial",
            "4 + D = 17 is smaller than L = 18",
            ('UPDATE t SET j=\'["kkkk", "z"]\'',),
        ),
        _case(
            "D6",
            "equal",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "whole",
            "4 + D = 17 is not smaller than L = 17",
            ('UPDATE t SET j=\'["kkkk", ""]\'',),
        ),
        _case(
            "D6",
            "one-byte-larger",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "whole",
            "4 + D = 17 is not smaller than L = 16",
            ("UPDATE t SET j='[\"kkkk\", 1]'",),
        ),
        _case(
            "D6",
            "holes-count",
            "UPDATE t SET j=JSON_SET(j,'$[0]','yyyy')",
            "partial",
            "free space counts in L: 4 + D = 17 against L = 19",
            ('UPDATE t SET j=\'["kkkk", "zz"]\'', "UPDATE t SET j=JSON_SET(j,'$[1]','')"),
        ),
    ],
    "D7": [
        _case(
            "D7",
            "full-image",
            _SET,
            "partial",
            "the before-image holds whole documents",
            ("SET SESSION binlog_row_image='FULL'",),
        ),
        _case(
            "D7",
            "untouched-column",
            "UPDATE t SET n=n+1",
            "empty",
            "an untouched JSON column in a FULL after-image is an empty list of diffs",
            ("SET SESSION binlog_row_image='FULL'",),
        ),
    ],
}
