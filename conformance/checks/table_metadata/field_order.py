"""TABLE_MAP events whose optional fields stand in another order, given to the real client and a real server (TMNF4).

The client prints the same text, and a BINLOG statement stores the same row. The row is compared by CHECKSUM TABLE:
fields that are read for other columns change how a value is stored, or whether it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.cases.case_sql import binlog_statement
from conformance.checks.table_metadata.altered_maps import other_texts
from conformance.judge.problem import Problem
from conformance.reference.binlog.event import decode_event
from conformance.reference.tables.table_map import TableMap
from conformance.servers.errors import SqlError
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.table_metadata.run import Definition, DefinitionLog
    from conformance.reference.tables.metadata import MetadataField
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled:
    """An insert whose TABLE_MAP gets its fields in another order.

    ``written``: the TABLE_MAP as the server wrote it. ``plain``: the one with all fields of the table. ``event``: the
    event that has them in another order. ``rows``: the rows behind it.
    """

    item: Definition
    written: bytes
    plain: TableMap
    event: bytes
    rows: bytes


def another_order(draw: Draw, fields: Sequence[MetadataField]) -> list[MetadataField]:
    """The fields in an order that is not theirs: the reverse one, or any."""
    if draw.below(2):
        return [*reversed(fields)]
    found = draw.shuffled(fields)
    return found if found != [*fields] else [*found[1:], found[0]]


def with_other_orders(seed: str, definitions: Sequence[Definition], log: DefinitionLog) -> list[Shuffled]:
    """Each table that has two fields or more, with all the fields that binlog_row_metadata=FULL gives it."""
    behind = dict(pairwise(log.captured.events))
    found = []
    for number, item in enumerate(definitions):
        written = log.maps["MINIMAL"][number]
        event = decode_event(log.maps["FULL"][number], algorithm=log.algorithm)
        assert isinstance(event.body, TableMap)
        fields = event.body.metadata
        if len(fields) < 2:
            continue
        order = tuple(another_order(Stream("field-order", seed, number), fields))
        body = replace(event.body, metadata=order)
        found.append(
            Shuffled(
                item=item,
                written=written,
                plain=event.body,
                event=event._replace(body=body).encode(),
                rows=behind[written],
            )
        )
    return found


def judge_texts(made: Sequence[Shuffled], text: bytes) -> list[Problem]:
    """The client prints of each event what it prints of the fields in their own order."""
    return [
        _problem(one, "text", _words(expected), _words(shown)) for one, expected, shown, _ in other_texts(made, text)
    ]


def apply(session: Connection, description: bytes, made: Sequence[Shuffled]) -> list[tuple[str, str]]:
    """Apply each event as a BINLOG statement, with the server's own TABLE_MAP and with the other order: the checksum of
    the table that it leaves, or the error."""
    session.execute(binlog_statement(description))
    session.execute("SET SESSION gtid_next = 'AUTOMATIC'")
    return [(_applied(session, one, one.written), _applied(session, one, one.event)) for one in made]


def _applied(session: Connection, one: Shuffled, event: bytes) -> str:
    try:
        session.execute(binlog_statement(event + one.rows))
        return f"checksum {session.execute(f'CHECKSUM TABLE {one.item.name}').texts()[0][1]}"
    except SqlError as error:
        return f"error {error.number}"
    finally:
        session.execute(f"DELETE FROM {one.item.name}")


def judge_applied(made: Sequence[Shuffled], outcomes: Sequence[tuple[str, str]]) -> list[Problem]:
    """Each event leaves what the server's own leaves."""
    pairs = zip(made, outcomes, strict=True)
    return [_problem(one, "applied", plain, other) for one, (plain, other) in pairs if plain != other]


def _problem(one: Shuffled, what: str, expected: str, got: str) -> Problem:
    message = "the order of the fields changes what is read"
    return Problem(what, expected, got, message, statements=one.item.statements())


def _words(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")
