"""The session of a statement in the log, as far as its QUERY event describes it (binlog-events 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusText
from conformance.reference.replay.statements import DefaultCharset
from conformance.reference.tables.charsets import COLLATIONS

_SERVER: Final = 2  # place of collation_server in the status variable CHARSET


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """``None``: the event does not say it. ``seconds``: its timestamp. ``server``: the collation of new schemas.

    ``increment``: the step of AUTO_INCREMENT, and its offset.
    """

    seconds: int = 0
    microseconds: int | None = None
    sql_mode: int = 0
    time_zone: str | None = None
    explicit_timestamps: bool | None = None
    increment: tuple[int, int] = (1, 1)
    server: DefaultCharset | None = None


UNKNOWN_SESSION: Final = SessionFacts()


def session_facts(query: Query, seconds: int) -> SessionFacts:
    """The facts of the event. ``seconds``: the timestamp of its header."""
    numbers = {item.code: item.value for item in query.status if isinstance(item, StatusInteger)}
    lists = {item.code: item.values for item in query.status if isinstance(item, StatusIntegers)}
    texts = {item.code: item.text for item in query.status if isinstance(item, StatusText)}
    zone = texts.get(Status.TIME_ZONE)
    explicit = numbers.get(Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP)
    collations = lists.get(Status.CHARSET)
    step, offset = lists.get(Status.AUTO_INCREMENT, (1, 1))
    return SessionFacts(
        seconds=seconds,
        microseconds=numbers.get(Status.MICROSECONDS),
        sql_mode=numbers.get(Status.SQL_MODE, 0),
        time_zone=None if zone is None else zone.decode("utf-8", "replace"),
        explicit_timestamps=None if explicit is None else bool(explicit),
        increment=(step, offset),
        server=_charset(collations[_SERVER]) if collations else None,
    )


def _charset(collation: int) -> DefaultCharset | None:
    known = COLLATIONS.get(collation)
    return None if known is None else DefaultCharset(known.charset, known.name, certain=False)
