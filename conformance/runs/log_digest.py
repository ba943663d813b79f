"""A digest of logs printed: one reading for the counts, and the estimate for what partial JSON saves."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.console import error
from conformance.keyring_file import read_keyring
from conformance.logs.digest import Digest
from conformance.logs.events import give_events, log_reader
from conformance.logs.inputs import STDIN, check_files
from conformance.logs.refusals import tell_unread
from conformance.messages import counted
from conformance.reference.binlog.event import UnreadEvents
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.logs.digest import Amount
    from conformance.reference.encryption.keyring import Keyring
    from scenarios.estimate.questions import Figures


def print_digest(files: Sequence[str], form: str, top: int, *, limit: int | None, keyring: Path | None) -> None:
    """Print the digest. Raises behind it for a log that was not read to its end, or has events that nobody reads."""
    from scenarios.estimate.inline import estimate

    if STDIN in files:
        raise Usage("standard input can be read once only, and a digest reads twice", hint="write it to a file first")
    check_files(files)
    keys = read_keyring(keyring)
    digest, unread, damage = Digest(top), UnreadEvents(), list[str]()
    for path in files:
        damage += _read(digest, path, unread, limit, keys)
    digest.finish()
    savings = list(_savings(estimate(files, limit, keys)))
    if form == "text":
        for line in _as_text(files, digest, savings):
            click.echo(line)
    else:
        data = _as_data(files, digest, savings, damage)
        click.echo(json.dumps(data, ensure_ascii=False, indent=1) if form == "json" else _as_page(data))
    tell_unread(unread)
    if damage:
        raise InputCorrupt(f"{counted(len(damage), 'log')} not read to the end: the digest lacks what stands behind")


def _read(digest: Digest, path: str, unread: UnreadEvents, limit: int | None, keys: Keyring | None) -> Iterator[str]:
    """Read one log; damage is told, and returned."""
    digest.start_file(Path(path).name)
    try:
        give_events(path, digest.event, reader=log_reader(limit=limit, unread=unread), keyring=keys)
    except InputCorrupt as problem:
        error(str(problem))
        yield str(problem)


def _savings(figures: Figures) -> Iterator[dict[str, Any]]:
    """The savings of partial JSON in after images of each column, and what it would save where values are set."""
    for table in figures.tables:
        for column in table.columns:
            if column.judged:
                yield {
                    "column": f"{table.schema}.{table.name}.{column.name}",
                    "rows": column.judged,
                    "rows_not_judged": column.rows - column.judged,
                    "whole_documents": column.costs.whole,
                    "logged": column.logged,
                    "saved": column.costs.whole - column.logged,
                    "would_save": max(0, column.logged - column.costs.leaves),
                }


def _as_data(
    files: Sequence[str], digest: Digest, savings: list[dict[str, Any]], damage: Sequence[str]
) -> dict[str, Any]:
    minutes, spans = digest.timeline()
    return {
        "files": list(files),
        "not_read_to_the_end": list(damage),
        "total": asdict(digest.total),
        "writers": [
            {"server_id": server, "source": source, **asdict(amount)}
            for (server, source), amount in digest.writers.items()
        ],
        "minutes": minutes,
        "times": [{"from": second, **asdict(amount)} for second, amount in spans.items()],
        "tables": [
            {"table": name, "events": table.events, "size": table.size, "partial": table.partial, "rows": table.rows}
            for name, table in sorted(digest.tables.items())
        ],
        "partial_json": savings,
        "largest_transactions": [each._asdict() for each in digest.transactions],
        "largest_documents": [each._asdict() for each in digest.documents],
    }


def _as_page(data: dict[str, Any]) -> str:
    """One HTML file, with names for writers and times."""
    from conformance.report.html import render

    writers = [{**each, "name": _writer(each["server_id"], each["source"])} for each in data["writers"]]
    writers.sort(key=lambda each: -each["size"])
    times = [{**each, "name": _local(each["from"])} for each in data["times"]]
    tables = sorted(data["tables"], key=lambda each: -each["size"])
    rows = {**data, "tables": tables, "writers": writers, "times": times, "span": _span(data["minutes"])}
    return render("conformance.report", "digest.html.j2", "", **rows)


def _writer(server: int, source: str) -> str:
    return f"server {server} {source or 'without GTIDs'}"


def _local(second: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(second))


def _as_text(files: Sequence[str], digest: Digest, savings: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{counted(len(files), 'log')}: {_words(digest.total)}"
    minutes, spans = digest.timeline()
    parts = {
        "Who writes": [f"{_writer(server, source)}: {_words(amount)}"
                       for (server, source), amount in sorted(digest.writers.items(), key=lambda item: -item[1].size)],
        f"When, by {_span(minutes)}": [f"{_local(second)}  {_words(amount)}"
                                       for second, amount in spans.items()],
        "What": [
            f"{name}: {table.size:,} bytes in {counted(table.events, 'row event')}, {table.partial} of them partial; "
            + ", ".join(counted(count, operation) for operation, count in table.rows.items())
            for name, table in sorted(digest.tables.items(), key=lambda item: -item[1].size)
        ],
        "Partial JSON, bytes of documents in after images": [_saving(each) for each in savings],
        "Largest transactions": [
            f"{each.size:,} bytes, {counted(each.rows, 'row')}: {each.gtid or 'without a GTID'} at "
            f"{each.file}:{each.position}{' of ' * bool(each.tables)}{', '.join(each.tables)}"
            for each in digest.transactions
        ],
        "Largest documents": [
            f"{each.size:,} bytes: {each.table}.{each.column} at {each.file}:{each.position}"
            for each in digest.documents
        ],
    }  # fmt: skip
    for title, lines in parts.items():
        if lines:
            yield ""
            yield title
            yield from (f"  {line}" for line in lines)


def _words(amount: Amount) -> str:
    transactions = counted(amount.transactions, "transaction")
    return f"{transactions}, {counted(amount.rows, 'changed row')}, {amount.size:,} bytes"


def _span(minutes: int) -> str:
    for size, word in ((1440, "day"), (60, "hour"), (1, "minute")):
        if not minutes % size:
            return word if minutes == size else f"{minutes // size} {word}s"
    return counted(minutes, "minute")


def _saving(each: dict[str, Any]) -> str:
    whole, saved, would = each["whole_documents"], each["saved"], each["would_save"]
    text = f"{each['column']}: {counted(each['rows'], 'update')}, {each['logged']:,} of {whole:,} logged"
    text += f"; PARTIAL_JSON saved {saved:,} ({saved * 100 / whole:.1f} %)" if saved > 0 and whole else ""
    text += f"; it would save {would:,} where single values are set" if would else ""
    return text + (f"; {each['rows_not_judged']:,} not judged" if each["rows_not_judged"] else "")
