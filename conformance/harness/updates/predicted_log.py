"""The log that a server would write of generated updates: schema, tables, start rows, and every update as predicted.

Seed and number of updates give the same log anywhere. Each block of a run (:mod:`.blocks`) becomes a table of its own.
Blocks with a diff that MySQL's own replica refuses are left out: the deviation is listed, and judged elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from conformance.harness.updates.blocks import Limits, make_script
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body, split_rows
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import decode_diffs
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.reference.binlog.event import Body

SCHEMA: Final = "binlog_lab_source"
SOURCE: Final = UUID("0b1a5000-0000-4000-8000-000000000093")
PER_TABLE: Final = 250
_TIME: Final = 1_700_000_000  # of each event
_TAG: Final = "lab"
_EVENT_SIZE: Final = 8192


class LogForm(StrEnum):
    """How the log's transactions are written."""

    PLAIN = "plain"
    COMPRESSED = "compressed"
    TAGGED = "tagged"


@dataclass(frozen=True, slots=True)
class PredictedLog:
    """``log``: the file's bytes. ``scripts``: the statements and rows of each table. ``updates``: how many rows the
    statements visit."""

    log: bytes
    scripts: tuple[Script, ...]
    updates: int


def predicted_log(
    seed: str, updates: int, form: LogForm = LogForm.PLAIN, *, schema: str = SCHEMA, metadata: str = "FULL"
) -> PredictedLog:
    """The log of so many updates."""
    scripts: list[Script] = []
    left, number = updates, 0
    while left > 0:
        script = _script(seed, number, min(left, PER_TABLE), schema, metadata, f"t{len(scripts)}")
        number += 1
        if stops_replica(script):
            continue
        scripts.append(script)
        left -= script.updates
    return PredictedLog(b"".join(_Writer(form).log(schema, scripts)), tuple(scripts), updates - left)


def stops_replica(script: Script) -> bool:
    """Whether a replica refuses a diff of the script, as the listed deviation says: a REPLACE that changes no byte."""
    rows = [dict(row) for row in script.start_rows]
    for prediction in script.predictions:
        for row in prediction.rows if prediction.events else ():
            for name, decision in row.decisions.items():
                if not decision.partial:
                    rows[row.index][name] = decision.data
                elif decision.data:
                    stored = rows[row.index][name]
                    assert isinstance(stored, bytes)
                    try:
                        rows[row.index][name] = apply_diffs(stored, decode_diffs(decision.data))
                    except CodecError:
                        return True
    return False


def _script(seed: str, number: int, updates: int, schema: str, metadata: str, name: str) -> Script:
    def named(case: UpdateCase) -> UpdateCase:
        session = replace(case.session, partial_json=True)
        return replace(case, table=replace(case.table, schema=schema, name=name), session=session)

    limits = Limits(row_metadata=metadata, row_event_max_size=_EVENT_SIZE)
    return make_script(f"source/{seed}", number, limits, updates=updates, change=named)


class _Writer:
    """Writes one file; every transaction has a GTID."""

    def __init__(self, form: LogForm) -> None:
        self._form = form
        self._file = FileWriter(timestamp=_TIME, server_id=93)
        self._number = 0

    def log(self, schema: str, scripts: list[Script]) -> Iterator[bytes]:
        """The file in pieces."""
        yield self._file.start()
        yield self._group([Query(text=f"CREATE SCHEMA {quote_identifier(schema)}".encode(), schema=schema.encode())])
        for number, script in enumerate(scripts):
            yield from self._table(script, number + 100)

    def _table(self, script: Script, table_id: int) -> Iterator[bytes]:
        table = script.case.table
        shape = replace(script.model.table_map, table_id=table_id)
        statement = create_table(table, qualified=True)
        yield self._group([Query(text=statement.encode(), schema=table.schema.encode())])
        rows = [Row(None, tuple(row)) for row in script.case.rows]  # type: ignore[arg-type]
        inserted = split_rows(rows_body(shape, EventType.WRITE_ROWS, rows), _EVENT_SIZE)
        yield self._group([begin(table.schema), shape, *inserted, Xid(xid=self._number)])
        for steps in script.transactions:
            changes: list[Body] = []
            for step in steps:
                if events := script.predictions[step].events:
                    changes += [shape, *(replace(event, table_id=table_id, table=shape) for event in events)]
            if changes:
                yield self._group([begin(table.schema, update=True), *changes, Xid(xid=self._number)])

    def _group(self, bodies: list[Body]) -> bytes:
        self._number += 1
        gtid: Gtid | GtidTagged
        clock = {
            "last_committed": self._number - 1,
            "sequence_number": self._number,
            "immediate_commit_timestamp": _TIME * 10**6,
            "immediate_server_version": 90704,
        }
        if self._form is LogForm.TAGGED:
            gtid = GtidTagged(uuid=SOURCE, gno=self._number, tag=_TAG, **clock)
        else:
            gtid = Gtid(uuid=SOURCE, gno=self._number, **clock)
        if self._form is LogForm.COMPRESSED and len(bodies) > 1:
            bodies = [self._file.compressed(bodies)]
        return self._file.group(gtid, bodies)
