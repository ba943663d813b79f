"""The figures of an estimate as text and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.cases.row_images import RowImage
from conformance.version import __version__
from scenarios.estimate.meter import DAMAGED, NO_BEFORE, NO_DOCUMENT, NO_TABLE, ROWS
from scenarios.estimate.questions import PERCENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios.estimate.questions import Column, Costs, Events, Figures, Table

REASONS: Final = {
    NO_BEFORE: "the log has no before image of it (binlog_row_image=MINIMAL), so the change is not known",
    NO_DOCUMENT: "logged as diffs without a before image, so the document that was saved is not known",
    DAMAGED: "its document or diffs cannot be read",
    NO_TABLE: "there is no TABLE_MAP for its rows",
}
_UPDATES: Final = ("UPDATE_ROWS_EVENT", "UPDATE_ROWS_EVENT_V1", "PARTIAL_UPDATE_ROWS_EVENT")
_MAGIC: Final = 4


def as_data(found: Figures, *, engine: str) -> dict[str, Any]:
    """The figures for ``--format json``."""
    return {
        "schema": 1,
        "kit": __version__,
        "engine": engine,
        "log": totals(found),
        "events": [
            {"file": file, "event": word, "in_payload": inside, "events": amount, "bytes": size}
            for file, word, inside, amount, size in found.events
        ],
        "problems": [
            {"file": file, "position": None if at < 0 else at, "code": code, "message": message, "damage": damage}
            for file, at, code, message, damage in found.troubles
        ],
        "tables": [_table_data(table) for table in found.tables],
    }


def totals(found: Figures) -> dict[str, int]:
    """Totals of all files. Bytes of ``payloads`` are compressed, and count in no other number but ``bytes``."""
    outside = [event for event in found.events if not event.inside]
    updates = [event for event in found.events if _is_update(event)]
    payloads = [event for event in outside if event.word == "TRANSACTION_PAYLOAD_EVENT"]
    return {
        "files": len({event.file for event in found.events} | {problem.file for problem in found.troubles}),
        "bytes": sum(event.size for event in outside) + _MAGIC * len({event.file for event in outside}),
        "events": sum(event.amount for event in outside),
        "update_events": sum(event.amount for event in updates),
        "update_bytes": sum(event.size for event in updates),
        "payloads": sum(event.amount for event in payloads),
        "payload_bytes": sum(event.size for event in payloads),
        "definitions": _count(found, "definition"),
        "statements_as_text": _count(found, "statement as text"),
    }


def _is_update(event: Events) -> bool:
    return event.word in _UPDATES


def _count(found: Figures, word: str) -> int:
    return sum(event.amount for event in found.events if event.word == word)


def _table_data(table: Table) -> dict[str, Any]:
    return {
        "schema": table.schema,
        "table": table.name,
        "rows_not_judged": table.unjudged,
        "images": {
            image: {
                "rows": sums.rows,
                "key_assumed": sums.assumed,
                "logged": sums.logged,
                **sums.costs._asdict(),
                "saved": saved(sums.costs),
            }
            for image, sums in table.images.items()
        },
        "columns": [_column_data(column) for column in table.columns],
    }


def _column_data(column: Column) -> dict[str, Any]:
    return {
        "column": column.name,
        "rows": column.rows,
        "judged": column.judged,
        "not_judged": {reason: {"rows": rows, "logged": logged} for reason, (rows, logged) in column.unjudged.items()},
        "changed": column.changed,
        "exact": column.exact,
        "before_image": column.before,
        "logged": column.logged,
        **column.costs._asdict(),
        "saved": saved(column.costs),
        "percentiles": {
            measure: {f"p{percent}": value for percent, value in zip(PERCENTS, values, strict=True)}
            for measure, values in column.percentiles.items()
        },
        "worst": [{**worst._asdict(), "inner": None if worst.inner < 0 else worst.inner} for worst in column.worst],
    }


def saved(costs: Costs) -> dict[str, int]:
    """Bytes that partial JSON saves: at least, if single values are set, and at most. Negative values are costs."""
    return {"least": costs.whole - costs.most, "leaves": costs.whole - costs.leaves, "most": costs.whole - costs.least}


# ---------------------------------------------------------------------------------------------------------------- text


def as_text(found: Figures) -> Iterator[str]:
    """The figures as lines for people."""
    total = totals(found)
    yield (
        f"{total['files']} {'file' if total['files'] == 1 else 'files'}, {total['bytes']:,} bytes,"
        f" {total['events']:,} events; {total['update_events']:,} of updates with {total['update_bytes']:,} bytes"
    )
    for table in found.tables:
        yield ""
        yield from _table_text(table)
    yield ""
    yield from _reading_text(found, total)


def _table_text(table: Table) -> Iterator[str]:
    yield f"{table.schema}.{table.name}"
    if table.images:
        yield f"  {'row image':<12}{'rows':>9}{'off':>15}{'on, leaves set':>22}{'on, cheapest … whole documents':>41}"
    for image in RowImage:
        sums = table.images.get(image)
        if sums is not None:
            whole, least, leaves, _, most = sums.costs
            yield (
                f"  {image:<12}{sums.rows:>9,}{whole:>15,}{leaves:>14,}{_share(leaves, whole):>9}"
                f"{least:>18,} … {most:,} ({_share(least, whole)} … {_share(most, whole)})"
            )
            if sums.assumed:
                yield "    the log does not say what the primary key is: the first column, at least any, at most all"
    if table.unjudged:
        yield f"  {table.unjudged:,} rows not judged"
    for column in table.columns:
        yield from _column_text(column)


def _share(cost: int, whole: int) -> str:
    """The change by partial JSON, in per cent."""
    return "" if not whole else f"{(cost - whole) * 100 / whole:+.1f} %"


def _column_text(column: Column) -> Iterator[str]:
    yield f"  column {column.name}: {column.rows:,} rows, {column.judged:,} judged, {column.changed:,} changed it"
    for reason, (rows, logged) in column.unjudged.items():
        yield f"    {rows:,} not judged, {logged:,} bytes logged: {REASONS.get(reason, reason)}"
    if not column.judged:
        return
    costs = column.costs
    yield f"    whole documents            {costs.whole:>14,} bytes in after images, {column.before:,} in before images"
    for words, cost in (
        ("cheapest statements", costs.least), ("single values set", costs.leaves),
        ("elements of the root set", costs.members), ("whole documents set", costs.most),
    ):  # fmt: skip
        yield f"    on, {words:<25}{cost:>12,} bytes {_share(cost, costs.whole):>9}"
    if column.exact:
        yield f"    {column.exact:,} {'row has' if column.exact == 1 else 'rows have'} one possible cost only"
    if column.changed:
        head = "".join(f"{f'p{percent}':>10}" for percent in PERCENTS)
        yield f"    bytes of a changed row{head}"
        for words, measure in (("whole", "whole"), ("single values", "leaves"), ("saved", "saved")):
            values = "".join(f"{value:>10,}" for value in column.percentiles[measure])
            yield f"      {words:<20}{values}"
        yield "    rows that cost most with single values set"
        for worst in column.worst:
            inner = f" inner {worst.inner}" if worst.inner >= 0 else ""
            yield (
                f"      {worst.file} at {worst.position}{inner} row {worst.row}:"
                f" {worst.leaves:,} bytes of {worst.whole:,}"
            )


def _reading_text(found: Figures, total: dict[str, int]) -> Iterator[str]:
    """How to read the figures, and what they leave out."""
    yield "beside the figures:"
    quiet = True
    for problem in found.troubles:
        quiet = False
        rest = "; the rest was not read" if problem.damage and problem.code != ROWS else ""
        place = f" (offset {problem.position})" if problem.position >= 0 else ""
        yield f"  {problem.file}: {problem.message}{place}{rest}"
    if total["statements_as_text"]:
        quiet = False
        yield f"  {total['statements_as_text']:,} statements logged as text, which say nothing about rows"
    if total["definitions"]:
        quiet = False
        yield f"  {total['definitions']:,} definitions (CREATE, ALTER, …): columns go by name, or by place as @n"
    if total["payloads"]:
        quiet = False
        yield (
            f"  {total['payloads']:,} compressed transactions of {total['payload_bytes']:,} bytes: rows count as"
            " they are before compression"
        )
    if quiet:
        yield "  nothing"
