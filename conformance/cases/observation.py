"""What a server did with an update Case: counts, errors, rows read back, and the bytes of its binary log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """The answer to one statement: rows changed, or the error's number and text."""

    changed: int
    error: int | None = None
    message: str = ""


ReadBackRow = tuple[bytes | None, ...]
"""Storage size, storage free and text of each JSON column, as the server sent them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The run of one Case. ``outcomes`` are parallel to the Case's steps, ``read_backs`` to the script's read-backs.

    ``read_back_errors`` are parallel to ``read_backs``: the number of the error that ended the SELECT, 0 for none;
    empty where nobody noted them. ``refused``: statements around the updates (INSERT, BEGIN, COMMIT), with the error.
    ``events`` are the whole events that the Case's own session wrote after its table existed, in log order.
    """

    outcomes: tuple[StatementOutcome, ...]
    read_backs: tuple[tuple[ReadBackRow, ...], ...]
    read_back_errors: tuple[int, ...] = ()
    refused: tuple[tuple[str, StatementOutcome], ...] = ()
    events: tuple[bytes, ...]
    server_version: str
    thread_id: int
    schema: str
