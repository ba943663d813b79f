"""Statements for the seven conditions, and the form in which each update must be logged.

The form is told in few words: ``none`` (nothing logged), ``query`` (as a statement), ``full`` (UPDATE_ROWS),
``partial`` / ``empty`` / ``whole`` (PARTIAL_UPDATE_ROWS with diffs, with an empty list, or with the whole document).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.judge.events import iter_events
from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.header import EventType
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, RowsBody, included
from conformance.servers.groups import groups_of_thread

if TYPE_CHECKING:
    from conformance.servers.base import Server

_DOCUMENT: Final = '{"a": 1, "b": "' + "b" * 40 + '", "c": [1, 2, 3]}'
_TABLE: Final = (
    "CREATE TABLE t (id INT PRIMARY KEY, n INT, j JSON, k JSON)",
    f"INSERT INTO t VALUES (1, 0, '{_DOCUMENT}', '{_DOCUMENT}')",
)
_ON: Final = "SET SESSION binlog_row_value_options='PARTIAL_JSON', SESSION binlog_row_image='MINIMAL'"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One update, its set-up, and the form in which it must be logged."""

    name: str
    update: str
    form: str
    why: str
    setup: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        return (*_TABLE, _ON, *self.setup, self.update)


def _updates(form: str, why: str, **updates: str) -> list[Expectation]:
    return [Expectation(name.replace("_", "-"), f"UPDATE t SET {text}", form, why) for name, text in updates.items()]


CONDITIONS: Final[dict[str, list[Expectation]]] = {
    "D1": [
        Expectation("log-enabled", "UPDATE t SET j=JSON_SET(j,'$.a',2)", "partial", "the log is enabled"),
        Expectation(
            "log-disabled",
            "UPDATE t SET j=JSON_SET(j,'$.a',2)",
            "none",
            "nothing is logged with sql_log_bin=0",
            ("SET SESSION sql_log_bin=0",),
        ),
    ],
    "D2": [
        Expectation("on", "UPDATE t SET j=JSON_SET(j,'$.a',2)", "partial", "the option is on"),
        Expectation(
            "off",
            "UPDATE t SET j=JSON_SET(j,'$.a',2)",
            "full",
            "with the option off the event is UPDATE_ROWS with whole documents",
            ("SET SESSION binlog_row_value_options=''",),
        ),
        Expectation("no-json-touched", "UPDATE t SET n=n+1", "none-json", "type 39 also without a JSON column"),
    ],
    "D3": [
        Expectation(
            "statement",
            "UPDATE t SET j=JSON_SET(j,'$.a',2)",
            "query",
            "a statement-format session logs the statement",
            ("SET SESSION binlog_format='STATEMENT'",),
        ),
        Expectation(
            "mixed-safe",
            "UPDATE t SET j=JSON_SET(j,'$.a',2)",
            "query",
            "MIXED logs a safe statement as such",
            ("SET SESSION binlog_format='MIXED'",),
        ),
        Expectation(
            "mixed-unsafe",
            "UPDATE t SET j=JSON_SET(j,'$.a',UUID())",
            "partial",
            "MIXED logs an unsafe statement as rows",
            ("SET SESSION binlog_format='MIXED'",),
        ),
    ],
    "D4": [],
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
        Expectation(
            "one-byte-smaller",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "partial",
            "4 + D = 17 is smaller than L = 18",
            ('UPDATE t SET j=\'["kkkk", "z"]\'',),
        ),
        Expectation(
            "equal",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "whole",
            "4 + D = 17 is not smaller than L = 17",
            ('UPDATE t SET j=\'["kkkk", ""]\'',),
        ),
        Expectation(
            "one-byte-larger",
            "UPDATE t SET j=JSON_SET(j,'$[0]','xxxx')",
            "whole",
            "4 + D = 17 is not smaller than L = 16",
            ("UPDATE t SET j='[\"kkkk\", 1]'",),
        ),
        Expectation(
            "holes-count",
            "UPDATE t SET j=JSON_SET(j,'$[0]','yyyy')",
            "partial",
            "free space counts in L: 4 + D = 17 against L = 19",
            ('UPDATE t SET j=\'["kkkk", "zz"]\'', "UPDATE t SET j=JSON_SET(j,'$[1]','')"),
        ),
    ],
    "D7": [
        Expectation(
            "full-image",
            "UPDATE t SET j=JSON_SET(j,'$.a',2)",
            "partial",
            "the before-image holds whole documents",
            ("SET SESSION binlog_row_image='FULL'",),
        ),
        Expectation(
            "untouched-column",
            "UPDATE t SET n=n+1",
            "empty",
            "an untouched JSON column in a FULL after-image is an empty list of diffs",
            ("SET SESSION binlog_row_image='FULL'",),
        ),
    ],
}


def observe(server: Server, expectation: Expectation) -> str:
    """Run one expectation in a session and schema of its own; the form in which its update was logged."""
    with server.connect() as connection, server.schema(connection):
        capture = server.capture()
        try:
            for statement in expectation.statements[:-1]:
                connection.execute(statement)
            start = capture.mark(connection)
            connection.execute(expectation.update)
            events = list(groups_of_thread(capture.since(start).events, connection.thread_id))
        finally:
            capture.close()
    return _form(events)


def _form(events: list[bytes]) -> str:
    forms: list[str] = []
    for _, event, error in iter_events(events):
        if event is None:
            return f"unreadable: {error}"
        body = event.body
        if isinstance(body, Query) and body.text not in (b"BEGIN", b"COMMIT"):
            forms.append("query")
        elif isinstance(body, RowsBody) and body.type == EventType.UPDATE_ROWS:
            forms.append("full")
        elif isinstance(body, RowsBody) and body.type == EventType.PARTIAL_UPDATE_ROWS:
            for row in body.rows:
                if any(isinstance(value, PartialJson) for value in row.before or ()):
                    return "diffs in a before-image"
                forms.append(_row_form(body, row))
    return ", ".join(forms) or "none"


def _row_form(body: RowsBody, row: Row) -> str:
    json_columns = body.map().json_columns
    columns = included(body.after_columns or 0, body.column_count)
    values = [value for index, value in zip(columns, row.after or (), strict=True) if index in json_columns]
    if not values:
        return "none-json"
    if any(isinstance(value, PartialJson) and value.diffs for value in values):
        return "partial"
    return "empty" if any(isinstance(value, PartialJson) for value in values) else "whole"
