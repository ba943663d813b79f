"""The findings of a forecast as text, Markdown, or an object for JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.forecast.features import FEATURES
from conformance.checks.decoders.forecast.mariadb import mariadb_lines
from conformance.checks.decoders.forecast.survey import LARGEST, PACKET
from conformance.checks.decoders.forecast.verdict import tool_lines, verdict
from conformance.messages import counted
from conformance.reference.event_types import event_name, writer_of

_OTHERS: Final = {
    "not read": "not read, so that changes may be missing here",
    "passed over": "passed over, as it may be ignored",
    "read": "read",
}

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.checks.decoders.forecast.forecast import Statement
    from conformance.checks.decoders.forecast.survey import Survey, Table
    from conformance.reference.binlog.event import UnreadKind


def as_object(survey: Survey, statements: Sequence[Statement], tools: int) -> dict[str, Any]:
    """Everything that was found, for scripts. ``tools``: how many were asked for."""
    size, file, position = survey.largest_event
    return {
        "verdict": verdict(survey, statements, tools),
        "files": [asdict(each) for each in survey.files],
        "features": [
            {"feature": name, "events": survey.features[name], "title": about.title, "avoid": about.avoid}
            for name, about in FEATURES.items()
            if survey.features[name]
        ],
        "tools": [
            {
                "tool": each.tool,
                "version": each.version,
                "feature": each.feature,
                "events": each.events,
                "outcome": each.outcome,
                "certain": each.is_certain,
                "failed": each.failed,
                "cases": each.cases,
                "avoid": FEATURES[each.feature].avoid,
                "sentence": each.sentence,
            }
            for each in statements
        ],
        "statements": [{"file": name, "position": at, "text": text} for name, at, text in survey.statements],
        "incidents": survey.incidents,
        "mariadb": list(mariadb_lines(survey)),
        "other_events": [
            {
                "type": kind.code,
                "event": event_name(kind.code),
                "writer": writer_of(kind.code),
                "events": kind.events,
                "file": kind.source,
                "position": kind.position,
                "outcome": outcome,
            }
            for kind, outcome in _others(survey)
        ],
        "transactions": survey.transactions,
        "largest_event": {"bytes": size, "file": file, "position": position},
        "events_above_a_packet": survey.large_events,
        "largest_transactions": [asdict(each) for each in survey.largest],
        "near_limits": [{**asdict(each), "beyond": each.is_beyond} for each in survey.near],
        "busiest_tables": [_table(each) for each in survey.busiest],
        "tables": [_table(each) for _, each in sorted(survey.tables.items())],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "table": table.name,
        "json_columns": table.json_columns,
        "events": table.events,
        "bytes": table.size,
        "rows": dict(table.rows),
        "features": dict(table.features),
    }


def as_text(survey: Survey, statements: Sequence[Statement], tools: int, *, markdown: bool) -> str:
    """Everything that was found, for people. ``tools``: how many were asked for."""
    parts = (
        ("Logs", _files(survey)),
        ("What readers stumble over", _features(survey)),
        ("By table", _tables(survey)),
        ("Tools", tool_lines(statements)),
        ("MariaDB", mariadb_lines(survey)),
        ("Rows in statements only", _statements(survey)),
        (
            "Events that are not MySQL's, or unknown",
            (f"{kind.words}: {_OTHERS[word]}" for kind, word in _others(survey)),
        ),
        ("Sizes", _sizes(survey)),
    )
    first = verdict(survey, statements, tools)
    out = [_escaped(first) if markdown else first, ""]
    for title, lines in parts:
        found = list(lines)
        if not found:
            continue
        out.append(f"## {title}\n" if markdown else title)
        out += [f"- {_escaped(line)}" if markdown else f"  {line}" for line in found]
        out.append("")
    return "\n".join(out)


def _escaped(line: str) -> str:
    """A line of a list in Markdown, in which names keep their underscores and asterisks."""
    return "".join(f"\\{char}" if char in "\\`*_<>[]|#" else char for char in line).replace("\n", " ")


def _files(survey: Survey) -> Iterator[str]:
    for file in survey.files:
        server = file.version if file.mariadb else f"MySQL {file.version}"
        facts = [server if file.version else "no FORMAT_DESCRIPTION"]
        facts.append(counted(file.events, "event"))
        facts += ["without checksums"] * (not file.checksums)
        facts += ["not closed: its end may be missing"] * file.is_open
        facts += [f"not read to its end: {file.error}"] * bool(file.error)
        yield f"{file.name}: {', '.join(facts)}"


def _features(survey: Survey) -> Iterator[str]:
    for name, about in FEATURES.items():
        if survey.features[name]:
            avoid = f"; avoided by {about.avoid}" if about.avoid else "; no setting avoids it"
            yield f"{about.counted(survey.features[name])}{avoid}"
    if survey.incidents:
        yield f"{counted(survey.incidents, 'INCIDENT event')}: the server says that changes are lost"


def _tables(survey: Survey) -> Iterator[str]:
    for name, table in sorted(survey.tables.items()):
        found = [f"{count} {feature}" for feature, count in table.features.items()]
        if found:
            json = counted(table.json_columns, "JSON column") if table.json_columns else "no JSON column"
            yield f"{name} ({json}, {counted(table.events, 'row event')}): {', '.join(found)}"


def _statements(survey: Survey) -> Iterator[str]:
    for name, position, text in survey.statements:
        yield f"{name}:{position}: {text}"


def _others(survey: Survey) -> Iterator[tuple[UnreadKind, str]]:
    """The events that MySQL does not write or that nobody knows, each with what this command did with them."""
    for kind in survey.unread.kinds():
        yield kind._replace(source=Path(kind.source).name), "passed over" if kind.ignorable else "not read"
    for kind in survey.foreign.kinds():
        yield kind, "read"


def _sizes(survey: Survey) -> Iterator[str]:
    size, file, position = survey.largest_event
    yield f"{counted(survey.transactions, 'transaction')}; the largest event has {size:,} bytes ({file}:{position})"
    if survey.large_events:
        yield f"{counted(survey.large_events, 'event')} above {PACKET} bytes: each travels in several packets"
    if survey.is_near_limit:
        yield f"the largest event is near {LARGEST} bytes, above which no replica takes one"
    for fact in survey.near:
        yield fact.sentence
    for each in survey.largest:
        name = each.gtid or "without a GTID"
        yield f"transaction {name} at {each.file}:{each.position}: {each.size:,} bytes, {counted(each.rows, 'row')}"
    for table in survey.busiest:
        rows = ", ".join(counted(count, operation) for operation, count in table.rows.items())
        yield f"table {table.name}: {table.size:,} bytes in {counted(table.events, 'row event')}; {rows}"
