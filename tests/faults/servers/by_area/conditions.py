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
from tests.faults.servers.fault import ServerFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.rows import RowsBody
    from tests.faults.servers.packets import Answer

_ON: Final = r"(SET SESSION binlog_row_value_options *= *)'PARTIAL_JSON'"
_DIFFS: Final = "UPDATE t SET j=JSON_SET(j,'$.a',2)"
_FORM: Final = "form of the update; expected {}; got {}"


def _never(condition: str, form: str = "partial", got: str = "full") -> ServerFault:
    return ServerFault(
        id=f"{condition.lower()}-never-diffs",
        breaks=(condition,),
        does=f"An update that qualifies by {condition} is logged as whole documents in the old event.",
        says=_FORM.format(form, got),
        checks=f"test_condition and {condition}]",
        statement=rewritten(_ON, r"\1''"),
    )


def _always(condition: str, expected: str = "whole") -> ServerFault:
    return ServerFault(
        id=f"{condition.lower()}-always-diffs",
        breaks=(condition,),
        does=f"An update that does not qualify by {condition} is logged as diffs.",
        says=_FORM.format(expected, "partial"),
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
    ServerFault(
        id="log-off-is-logged",
        breaks=("D1",),
        does="An update is logged although sql_log_bin is 0.",
        says=_FORM.format("none", "partial"),
        checks="test_condition",
        statement=rewritten("^SET SESSION sql_log_bin=0", "DO 0"),
    ),
    ServerFault(
        id="d1-not-logged",
        breaks=("D1",),
        does="With the log on, the update's row event is missing.",
        says="form of the update; expected partial",
        checks="test_condition",
        log=missing(PARTIAL),
    ),
    ServerFault(
        id="option-stays-on",
        breaks=("D2",),
        does="Updates are logged as diffs after the option was emptied.",
        says=_FORM.format("full", "partial"),
        checks="test_condition",
        statement=rewritten("^SET SESSION binlog_row_value_options=''", "DO 0"),
    ),
    _never("D2"),
    ServerFault(
        id="statement-format-logs-rows",
        breaks=("D3",),
        does="A session in statement format logs rows.",
        says=_FORM.format("query", "partial"),
        checks="test_condition",
        statement=rewritten("(SET SESSION binlog_format=)'STATEMENT'", r"\1'ROW'"),
    ),
    ServerFault(
        id="mixed-format-logs-rows",
        breaks=("D3",),
        does="A session in MIXED format logs safe statements as rows.",
        says=_FORM.format("query", "partial"),
        checks="test_condition",
        statement=rewritten("(SET SESSION binlog_format=)'MIXED'", r"\1'ROW'"),
    ),
    _never("D5"),
    _always("D5"),
    _never("D6"),
    ServerFault(
        id="d6-forgets-the-length",
        breaks=("D6",),
        does="Diffs of the document's own size are logged, as if the length in front of them cost nothing.",
        says=_FORM.format("whole", "partial"),
        checks="test_condition and D6]",
        statement=rewritten(r"^UPDATE t SET j='\[\"kkkk\", [^']*'", 'UPDATE t SET j=\'["kkkk", "zzz"]\''),
    ),
    _never("D7"),
    ServerFault(
        id="d7-whole-documents",
        breaks=("D7",),
        does="Diffs are logged as empty lists.",
        says="form of the update; expected partial",
        checks="test_condition",
        log=diffs(lambda _: []),
    ),
    _never("D10"),
    _always("D10"),
    _never("D11"),
    ServerFault(
        id="ignore-disqualifies",
        breaks=("D11",),
        does="UPDATE IGNORE logs whole documents.",
        says=_FORM.format("partial", "whole"),
        checks="test_condition and D11]",
        statement=rewritten(r"^UPDATE IGNORE t SET .*", "UPDATE t SET j=JSON_OBJECT('a', 2)"),
    ),
    _always("D12"),
    ServerFault(
        id="d12-not-logged",
        breaks=("D12",),
        does="Whole documents are not logged with the option on.",
        says="form of the update; expected whole; got none",
        checks="test_condition and D12]",
        log=missing(UPDATES),
    ),
    ServerFault(
        id="d14-never-diffs",
        breaks=("D14",),
        does="With the option on, text columns bring back the old event.",
        says="form of the update",
        checks="test_condition and D14]",
        statement=rewritten(_ON, r"\1''"),
    ),
    ServerFault(
        id="d14-not-logged",
        breaks=("D14",),
        does="Updates of tables with text columns are not logged.",
        says="form of the update",
        checks="test_condition and D14]",
        log=missing(UPDATES),
    ),
    # --- the type code
    ServerFault(
        id="type-by-the-table",
        breaks=("F1",),
        does="With the option on, tables without a JSON column bring back the old event.",
        says="another type code with the option on",
        checks="without_documents",
        log=rows(_typed_where_no_document(EventType.UPDATE_ROWS), UPDATES),
    ),
    ServerFault(
        id="new-type-for-all",
        breaks=("F1",),
        does="With the option off, updates of tables without a JSON column are of the new type.",
        says="another type code with the option off",
        checks="without_documents",
        log=rows(_typed_where_no_document(EventType.PARTIAL_UPDATE_ROWS), UPDATES),
    ),
    # --- the log without the option
    ServerFault(
        id="off-is-on",
        breaks=("FR8",),
        does="With the option off updates are logged as diffs.",
        says="an event of the new type with the option off",
        checks="other_events",
        statement=rewritten(r"(binlog_row_value_options *= *)''", r"\1'PARTIAL_JSON'"),
    ),
    ServerFault(
        id="off-has-other-flags",
        breaks=("FR8",),
        does="Events of diffs have a flag that the old events lack.",
        says="head of the row events",
        checks="other_events",
        log=each(PARTIAL, patch(6, lambda flags: flags ^ 0x0002, 2)),
    ),
    # --- costs
    ServerFault(
        id="option-brings-full-images",
        breaks=("FR11", "FR12"),
        does="With the option on the images hold all columns, whatever binlog_row_image says.",
        says="the rows have another size",
        checks="test_sizes",
        statement=rewritten(
            r"(SESSION binlog_row_image=)(?:MINIMAL|NOBLOB)(.*binlog_row_value_options='PARTIAL_JSON')", r"\1FULL\2"
        ),
    ),
    ServerFault(
        id="long-values-are-cut",
        breaks=("FR11", "FR12"),
        also=("DS1",),
        does="With the option on long values of after-images are cut to sixty bytes.",
        says="the rows have another size",
        checks="test_sizes",
        log=values(lambda value: value[:60] if isinstance(value, bytes) else value, PARTIAL),
    ),
    ServerFault(
        id="before-images-of-other-rows",
        breaks=("DS1",),
        does="With the option on a before-image has another number than the row.",
        says="the before-images are not the same",
        checks="test_sizes",
        log=rows(_other_before_images),
    ),
    ServerFault(
        id="full-images-shrink",
        breaks=("DS1",),
        also=("FR11", "FR12"),
        does="With the option on the images of row image FULL are minimal.",
        says="the before-images are not the same",
        checks="test_sizes",
        statement=rewritten(
            r"(SESSION binlog_row_image=)FULL(.*binlog_row_value_options='PARTIAL_JSON')", r"\1MINIMAL\2"
        ),
    ),
    ServerFault(
        id="redo-has-more-than-it-needs",
        breaks=("LOB32",),
        does="The redo log grows a hundred times as fast.",
        says="partial updates write whole documents to redo",
        answer=after("LIKE 'Innodb_redo_log_current_lsn'", _hundredfold),
    ),
    ServerFault(
        id="small-changes-write-whole-documents",
        breaks=("LOB32",),
        does="A change of one value writes the whole document anew.",
        says="partial updates write whole documents to redo",
        statement=rewritten(
            r"^UPDATE sources SET j = JSON_SET\(j, '\$\.(\w+)', ('\w+')\)",
            r"UPDATE sources SET j = JSON_MERGE_PATCH(j, JSON_OBJECT('\1', \2))",
        ),
    ),
    ServerFault(
        id="queries-are-logged-too",
        breaks=("FR13",),
        does="With the option on the statements stand in the log as well.",
        says="other events",
        checks="test_sizes",
        statement=rewritten(r"(binlog_row_value_options='PARTIAL_JSON'.*binlog_rows_query_log_events=)0", r"\g<1>1"),
    ),
    ServerFault(
        id="updates-are-not-counted",
        breaks=("FR13",),
        does="With the option on updates write no row events.",
        says="another number of statements|other events|size",
        checks="test_sizes",
        log=missing(PARTIAL),
    ),
    ServerFault(
        id="nesting-without-a-limit",
        breaks=("IP3",),
        does="A result deeper than 100 levels is taken.",
        says="3157",
        checks="nesting",
        answer=after("^UPDATE", accepted(3157)),
    ),
    ServerFault(
        id="nesting-refused-early",
        breaks=("IP3",),
        does="A result of 100 levels is refused.",
        says="no error|3157",
        checks="nesting",
        answer=after("^UPDATE", refused(3157)),
    ),
    ServerFault(
        id="long-lists-lose-the-last",
        breaks=("NR4",),
        does="Of a long list of diffs the last one is not logged.",
        says="diff|document",
        checks="test_long_lists",
        log=diffs(lambda found: found[:-1] if len(found) > 50 else found),
    ),
    ServerFault(
        id="long-lists-are-sent-short",
        breaks=("NR4",),
        does="The source sends a long list of diffs without the last one.",
        says="the document after all lists",
        checks="test_long_lists",
        stream=diffs(lambda found: found[:-1] if len(found) > 50 else found),
    ),
    ServerFault(
        id="trigger-result-is-not-logged",
        breaks=("D13",),
        does="What a trigger made of the row is not in the log.",
        says="diff|UPDATE_ROWS|event",
        checks="test_documents_inside",
        log=diffs(lambda found: found[:-1]),
    ),
    ServerFault(
        id="trigger-does-not-fire",
        breaks=("D13",),
        also=("D15",),
        does="The trigger of the table does not fire.",
        says="rows changed; expected 1; got 0",
        checks="test_documents_inside",
        statement=rewritten(r"^CREATE TRIGGER.*", "DO 0"),
    ),
)
