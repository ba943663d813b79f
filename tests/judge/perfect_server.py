"""A server that does exactly what the reference predicts, with made-up borrowed facts; and means to make it err.

The events are put together here from typed bodies, lengths included. So a doctored body leads to a log in which only
that body is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from conformance.cases.observation import LogFacts, Observation, Place, ReadBackRow, StatementOutcome
from conformance.cases.script import ReadBack, Script, Statement
from conformance.judge.updates.compare import too_deep
from conformance.judge.updates.expected import expected_groups
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.judge.updates.expected import ExpectedGroup

SCHEMA: Final = "binlog_lab_test"
UUID_OF_SERVER: Final = UUID("0f0e0d0c-0b0a-0908-0706-050403020100")
Groups = list[list[Any]]


STARTED: Final = 1_700_000_000  # second of the first transaction; every one takes a second
FIRST_NUMBER: Final = 7
FIRST_SEQUENCE: Final = 3  # two transactions stand in the file in front of the Case's
FIRST_QUERY: Final = 9000  # the id of the INSERT


def dependencies(script: Script) -> list[int]:
    """The parent of each transaction: the place of the last one that wrote one of its rows; -1 for the INSERT. No row
    changes its key in the Cases of this server."""
    out, writers = [-1], dict.fromkeys(range(len(script.case.rows)), 0)
    keyless = not script.case.table.primary_key and not script.case.table.unique_keys
    for steps in script.transactions:
        if any(script.predictions[number].events for number in steps):
            changed = {row.index for number in steps for row in script.predictions[number].rows if row.change.logged}
            out.append(len(out) - 1 if keyless else max(writers[row] for row in changed))
            writers.update(dict.fromkeys(changed, len(out) - 1))
    return out


def query_ids(script: Script) -> list[int]:
    """The id of the first statement of each transaction that is no BEGIN."""
    out = [FIRST_QUERY]
    for steps in script.transactions:
        if any(script.predictions[number].events for number in steps):
            place = next(
                place
                for place, item in enumerate(script.items)
                if isinstance(item, Statement) and item.step == steps[0]
            )
            out.append(FIRST_QUERY + 1 + place)
    return out


def groups_of(script: Script, *, expected: Sequence[ExpectedGroup] | None = None) -> Groups:
    """The bodies of every transaction, with the facts that a server decides: ids, clocks, times. ``expected``: the
    groups of another log than the session's own."""
    groups: Groups = []
    found = expected_groups(script, SCHEMA) if expected is None else expected
    parents, queries = dependencies(script), query_ids(script)
    if expected is not None:  # one after the other
        parents, queries = list(range(-1, len(found))), list(range(FIRST_QUERY, FIRST_QUERY + len(found)))
    for index, group in enumerate(found):
        bodies: list[Any] = []
        for event in group.events:
            body: Any = event.body
            if isinstance(body, Gtid):
                body = replace(
                    body,
                    uuid=UUID_OF_SERVER,
                    gno=FIRST_NUMBER + index,
                    last_committed=FIRST_SEQUENCE + parents[index],
                    sequence_number=FIRST_SEQUENCE + index,
                    immediate_commit_timestamp=(STARTED + index) * 1_000_000 + index,
                    immediate_server_version=90704,
                )
            elif isinstance(body, Query):
                body = replace(body, thread_id=4711, execution_time=0)
            elif isinstance(body, TableMap | RowsBody):
                body = replace(body, table_id=200)
            elif isinstance(body, Xid):
                body = replace(body, xid=queries[index])
            bodies.append(body)
        groups.append(bodies)
    return groups


def write(
    groups: Groups, *, algorithm: Checksum = Checksum.CRC32, compression: bool = False, server_id: int = 33
) -> list[bytes]:
    """The events of all groups, as they stand in a log from position 4."""
    events: list[bytes] = []
    position = 4
    for bodies in groups:
        stamp = _second(bodies)

        def encode(body: Any, algorithm: Checksum, start: int | None, stamp: int = stamp) -> bytes:
            log_pos = 0 if start is None else None
            return encode_event(
                body, timestamp=stamp, server_id=server_id, log_pos=log_pos, start=start or 0, algorithm=algorithm
            )

        first, rest = bodies[:1], bodies[1:]
        if compression and isinstance(first[0], Gtid) and rest:
            rest = [TransactionPayload.compress(b"".join(encode(body, Checksum.NONE, None) for body in rest))]
        if isinstance(first[0], Gtid):
            others = sum(len(encode(body, algorithm, 0)) for body in rest)
            length = 0
            while length != (whole := len(encode(replace(first[0], transaction_length=length), algorithm, 0)) + others):
                length = whole
            if first[0].transaction_length is None:
                first = [replace(first[0], transaction_length=length)]
        for body in (*first, *rest):
            event = encode(body, algorithm, position)
            position += len(event)
            events.append(event)
    return events


def _second(bodies: list[Any]) -> int:
    """The second of the commit, in which everything happens."""
    times = (body.immediate_commit_timestamp for body in bodies if isinstance(body, Gtid))
    return next((time // 1_000_000 for time in times if time is not None), STARTED)


def read_backs(script: Script) -> list[list[ReadBackRow]]:
    """Size, free space and text of every JSON column of the rows read back; no row where one has no text."""
    out: list[list[ReadBackRow]] = []
    for item in script.items:
        if isinstance(item, ReadBack):
            found = [[_read(values[name]) for name in script.model.columns.json] for _, _, values in item.rows]
            rows = [tuple(chain.from_iterable(filter(None, cells))) for cells in found]
            out.append([] if _nests_too_deep(item) or any(None in cells for cells in found) else rows)
    return out


def _nests_too_deep(item: ReadBack) -> bool:
    """Whether a read-back ends with an error, because of one of its values."""
    return any(too_deep(value) for _, _, values in item.rows for value in values.values())


@lru_cache(4096)  # most documents are read again and again
def _read(stored: object) -> tuple[bytes | None, ...] | None:
    """Size, free space and text; ``None`` for a document that nests too deep, or that a known fault damaged so that
    even a lenient reader does not get through."""
    if stored is None:
        return None, None, None
    assert isinstance(stored, bytes)
    if too_deep(stored):
        return None
    try:
        text = format_text(decode(stored)).encode("utf-8", "surrogateescape")
        return b"%d" % len(stored), b"%d" % storage_free(stored), text
    except CodecError:
        return None


def read_back_errors(script: Script) -> list[int]:
    """The numbers with which read-backs end: 3157 for a document that nests too deep."""
    return [3157 * _nests_too_deep(item) for item in script.items if isinstance(item, ReadBack)]


def outcomes(script: Script) -> list[StatementOutcome]:
    """Rows changed, or the error."""
    return [
        StatementOutcome(0, prediction.error.number, prediction.error.message)
        if prediction.error is not None
        else StatementOutcome(prediction.changed)
        for prediction in script.predictions
    ]


def observe(
    script: Script,
    *,
    doctor: Callable[[Groups], None] = lambda _: None,
    patch: Callable[[list[bytes]], None] = lambda _: None,
    client: Callable[[list[StatementOutcome], list[list[ReadBackRow]]], None] = lambda _outcomes, _rows: None,
    algorithm: Checksum = Checksum.CRC32,
    compression: bool | None = None,
    server_id: int = 33,
) -> Observation:
    """The observation of the server. ``doctor`` changes bodies, ``patch`` finished events, ``client`` what the client
    got."""
    groups = groups_of(script)
    doctor(groups)
    session = script.case.session
    events = write(
        groups,
        algorithm=algorithm,
        compression=session.compression if compression is None else compression,
        server_id=server_id,
    )
    places = tuple(
        Place(file=0, start=start, others=0 if number else 2, floor=0 if number else 2, own=0 if number else 2)
        for number, start in enumerate(starts(events))
    )
    patch(events)
    answers, rows, errors = outcomes(script), read_backs(script), read_back_errors(script)
    client(answers, rows)
    return Observation(
        outcomes=tuple(answers),
        read_backs=tuple(map(tuple, rows)),
        read_back_errors=tuple(errors),
        events=tuple(events),
        server_version="9.7.4",
        thread_id=4711,
        schema=SCHEMA,
        log=LogFacts(
            server_id=33,
            server_uuid=str(UUID_OF_SERVER),
            version=90704,
            checksum=algorithm is Checksum.CRC32,
            clock=(STARTED * 1_000_000, (STARTED + len(groups)) * 1_000_000),
            executed=(((1, FIRST_NUMBER),), ((1, FIRST_NUMBER + len(places)),)),
            queries=(FIRST_QUERY - 1, FIRST_QUERY + len(script.items) + 1),
            sequence=0,
            writesets=True,
            alone=True,
            places=places,
        ),
    )


def starts(events: list[bytes]) -> Iterator[int]:
    """Where each transaction of the log begins."""
    position = 4
    for event in events:
        if event[4] == EventType.GTID:
            yield position
        position += len(event)


def rows_events(group: list[Any]) -> list[int]:
    """Places of the row events in a group."""
    return [place for place, body in enumerate(group) if isinstance(body, RowsBody)]


def is_update(body: Any) -> bool:
    return isinstance(body, RowsBody) and body.type in (EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS)
