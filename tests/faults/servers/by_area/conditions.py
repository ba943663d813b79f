"""Faulty servers of the conditions (WL#2955, section 2), of costs, and of the log without the option."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.event_types import EventType
from tests.faults.servers.edits import (
    PARTIAL,
    UPDATES,
    accepted,
    after,
    diffs,
    each,
    missing,
    patch,
    refused,
    rewritten,
    rows,
    values,
)
from tests.faults.servers.fault import server

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.rows import RowsBody
    from tests.faults.fault import Fault
    from tests.faults.servers.packets import Answer

_ON: Final = r"(SET SESSION binlog_row_value_options *= *)'PARTIAL_JSON'"
_DIFFS: Final = "UPDATE t SET j=JSON_SET(j,'$.a',2)"
_FORM: Final = "form of the update; expected {}; got {}"


def _never(condition: str, form: str = "partial", got: str = "full") -> Fault:
    return server(
        f"{condition.lower()}-never-diffs",
        condition,
        f"An update that qualifies by {condition} is logged as whole documents in the old event.",
        _FORM.format(form, got),
        checks=f"test_condition and {condition}]",
        statement=rewritten(_ON, r"\1''"),
    )


def _always(condition: str, expected: str = "whole") -> Fault:
    return server(
        f"{condition.lower()}-always-diffs",
        condition,
        f"An update that does not qualify by {condition} is logged as diffs.",
        _FORM.format(expected, "partial"),
        checks=f"test_condition and {condition}]",
        statement=rewritten(r"^(UPDATE|INSERT INTO t \(id\)) .*", _DIFFS.replace("\\", r"\\")),
    )


def _typed_where_no_document(kind: EventType) -> Callable[[RowsBody], RowsBody]:
    """Whole events of this type, value_options with it or without, in tables without a JSON column."""

    def change(body: RowsBody) -> RowsBody:
        if body.map().json_columns:
            return body
        bare = (row._replace(value_options=None, partial_columns=None) for row in body.rows)
        return replace(body, type=kind, rows=tuple(bare))

    return change


def _other_before_images(body: RowsBody) -> RowsBody:
    """The first value that is a small number is another one of the same size."""

    def other(image: Any) -> Any:
        place = next((n for n, value in enumerate(image) if type(value) is int and 0 <= value < 100), None)
        return image if place is None else (*image[:place], image[place] ^ 1, *image[place + 1 :])

    return replace(body, rows=tuple(row._replace(before=other(row.before or ())) for row in body.rows))


def _hundredfold(answer: Answer) -> Answer:
    rows = tuple((name, b"%d" % (100 * int(value or 0))) for name, value in answer.rows)
    return replace(answer, rows=rows)


CONDITION_FAULTS: Final = (
    server("log-off-is-logged", "D1", "An update is logged although sql_log_bin is 0.", _FORM.format("none", "partial"),
           checks="test_condition", statement=rewritten("^SET SESSION sql_log_bin=0", "DO 0")),
    server("d1-not-logged", "D1", "With the log on, the update's row event is missing.",
           "form of the update; expected partial", checks="test_condition", log=missing(PARTIAL)),
    server("option-stays-on", "D2", "Updates are logged as diffs after the option was emptied.",
           _FORM.format("full", "partial"), checks="test_condition",
           statement=rewritten("^SET SESSION binlog_row_value_options=''", "DO 0")),
    _never("D2"),
    server("statement-format-logs-rows", "D3", "A session in statement format logs rows.",
           _FORM.format("query", "partial"), checks="test_condition",
           statement=rewritten("(SET SESSION binlog_format=)'STATEMENT'", r"\1'ROW'")),
    server("mixed-format-logs-rows", "D3", "A session in MIXED format logs safe statements as rows.",
           _FORM.format("query", "partial"), checks="test_condition",
           statement=rewritten("(SET SESSION binlog_format=)'MIXED'", r"\1'ROW'")),
    _never("D5"),
    _always("D5"),
    _never("D6"),
    server("d6-forgets-the-length", "D6",
           "Diffs of the document's own size are logged, as if the length in front of them cost nothing.",
           _FORM.format("whole", "partial"), checks="test_condition and D6]",
           statement=rewritten(r"^UPDATE t SET j='\[\"kkkk\", [^']*'", 'UPDATE t SET j=\'["kkkk", "zzz"]\'')),
    _never("D7"),
    server("d7-whole-documents", "D7", "Diffs are logged as empty lists.", "form of the update; expected partial",
           checks="test_condition", log=diffs(lambda _: [])),
    _never("D10"),
    _always("D10"),
    _never("D11"),
    server("ignore-disqualifies", "D11", "UPDATE IGNORE logs whole documents.", _FORM.format("partial", "whole"),
           checks="test_condition and D11]",
           statement=rewritten(r"^UPDATE IGNORE t SET .*", "UPDATE t SET j=JSON_OBJECT('a', 2)")),
    _always("D12"),
    server("d12-not-logged", "D12", "Whole documents are not logged with the option on.",
           "form of the update; expected whole; got none", checks="test_condition and D12]", log=missing(UPDATES)),
    server("d14-never-diffs", "D14", "With the option on, text columns bring back the old event.", "form of the update",
           checks="test_condition and D14]", statement=rewritten(_ON, r"\1''")),
    server("d14-not-logged", "D14", "Updates of tables with text columns are not logged.", "form of the update",
           checks="test_condition and D14]", log=missing(UPDATES)),
    # --- the type code
    server("type-by-the-table", "F1", "With the option on, tables without a JSON column bring back the old event.",
           "another type code with the option on", checks="without_documents",
           log=rows(_typed_where_no_document(EventType.UPDATE_ROWS), UPDATES)),
    server("new-type-for-all", "F1",
           "With the option off, updates of tables without a JSON column are of the new type.",
           "another type code with the option off", checks="without_documents",
           log=rows(_typed_where_no_document(EventType.PARTIAL_UPDATE_ROWS), UPDATES)),
    # --- the log without the option
    server("off-is-on", "FR8", "With the option off updates are logged as diffs.",
           "an event of the new type with the option off", checks="other_events",
           statement=rewritten(r"(binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'")),
    server("off-has-other-flags", "FR8", "Events of diffs have a flag that the old events lack.",
           "head of the row events", checks="other_events",
           log=each(PARTIAL, patch(6, lambda flags: flags ^ 0x0002, 2))),
    # --- costs
    server("option-brings-full-images", "FR11 FR12",
           "With the option on the images hold all columns, whatever binlog_row_image says.",
           "the rows have another size", checks="test_sizes",
           statement=rewritten(
               r"(SESSION binlog_row_image=)(?:MINIMAL|NOBLOB)(.*binlog_row_value_options='PARTIAL_JSON')",
               r"\1FULL\2",
           )),
    server("long-values-are-cut", "FR11 FR12", "With the option on long values of after-images are cut to sixty bytes.",
           "the rows have another size", checks="test_sizes", also="DS1",
           log=values(lambda value: value[:60] if isinstance(value, bytes) else value, PARTIAL)),
    server("before-images-of-other-rows", "DS1", "With the option on a before-image has another number than the row.",
           "the before-images are not the same", checks="test_sizes", log=rows(_other_before_images)),
    server("full-images-shrink", "DS1", "With the option on the images of row image FULL are minimal.",
           "the before-images are not the same", checks="test_sizes", also="FR11 FR12",
           statement=rewritten(
               r"(SESSION binlog_row_image=)FULL(.*binlog_row_value_options='PARTIAL_JSON')", r"\1MINIMAL\2"
           )),
    server("redo-has-more-than-it-needs", "LOB32", "The redo log grows a hundred times as fast.",
           "partial updates write whole documents to redo",
           answer=after("LIKE 'Innodb_redo_log_current_lsn'", _hundredfold)),
    server("small-changes-write-whole-documents", "LOB32", "A change of one value writes the whole document anew.",
           "partial updates write whole documents to redo",
           statement=rewritten(
               r"^UPDATE sources SET j = JSON_SET\(j, '\$\.(\w+)', ('\w+')\)",
               r"UPDATE sources SET j = JSON_MERGE_PATCH(j, JSON_OBJECT('\1', \2))",
           )),
    server("queries-are-logged-too", "FR13", "With the option on the statements stand in the log as well.",
           "other events", checks="test_sizes",
           statement=rewritten(
               r"(binlog_row_value_options='PARTIAL_JSON'.*binlog_rows_query_log_events=)0", r"\g<1>1"
           )),
    server("updates-are-not-counted", "FR13", "With the option on updates write no row events.",
           "another number of statements|other events|size", checks="test_sizes", log=missing(PARTIAL)),
    server("nesting-without-a-limit", "IP3", "A result deeper than 100 levels is taken.", "3157", checks="nesting",
           answer=after("^UPDATE", accepted(3157))),
    server("nesting-refused-early", "IP3", "A result of 100 levels is refused.", "no error|3157", checks="nesting",
           answer=after("^UPDATE", refused(3157))),
    server("long-lists-lose-the-last", "NR4", "Of a long list of diffs the last one is not logged.", "diff|document",
           checks="test_long_lists", log=diffs(lambda found: found[:-1] if len(found) > 50 else found)),
    server("long-lists-are-sent-short", "NR4", "The source sends a long list of diffs without the last one.",
           "the document after all lists", checks="test_long_lists",
           stream=diffs(lambda found: found[:-1] if len(found) > 50 else found)),
    server("trigger-result-is-not-logged", "D13", "What a trigger made of the row is not in the log.",
           "diff|UPDATE_ROWS|event", checks="test_documents_inside", log=diffs(lambda found: found[:-1])),
    server("trigger-does-not-fire", "D13", "The trigger of the table does not fire.", "rows changed; expected 1; got 0",
           checks="test_documents_inside", also="D15", statement=rewritten(r"^CREATE TRIGGER.*", "DO 0")),
)  # fmt: skip
