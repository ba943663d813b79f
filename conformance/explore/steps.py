"""Steps of a workload: statements as data, for one session and two schemas."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OPEN: Final = "⟦"
"""Stands before an expression that a twin computes as ``IF(1, ..., NULL)``: then no update of it is partial."""
CLOSE: Final = "⟧"
SNAPSHOT: Final = "snapshot"
"""The step at which a reader begins a transaction that must see its rows to the end."""
KILL_SOURCE: Final = "-- kill -9 the source, start it again"
KILL_REPLICA: Final = "-- kill -9 the replica, start it again"
"""Steps that end a server of a durable world, which starts it again. Open transactions are lost on both sides."""
DISCONNECT: Final = "-- the session ends, another one goes on"
KILL_SESSION: Final = "-- KILL of the session, another one goes on"
PURGE: Final = "-- PURGE of the binary logs before this episode"
RESTART: Final = "-- STOP REPLICA, START REPLICA with other workers: "
"""Stands before the number of workers; replicas of a group have none of their own, and go on."""
IN_NO_SCRIPT: Final = (KILL_SOURCE, KILL_REPLICA, DISCONNECT, KILL_SESSION)
"""Steps that a script for client programs cannot take."""
SIDE: Final = "⌖"
"""Stands for a letter that differs between the two schemas, in names that the server knows but once (XA)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement. ``shape`` and ``features`` are names of the census; ``alone``: not repeated in the twin schema.

    Neighbours with the same number ``together``, above 0, run at the same time, those of one session in their order.
    """

    text: str
    shape: str
    session: int = 0
    features: tuple[str, ...] = ()
    alone: bool = False
    together: int = 0

    @property
    def base(self) -> str:
        """The statement as a user writes it."""
        return self.text.replace(OPEN, "").replace(CLOSE, "").replace(SIDE, "x")

    @property
    def twin(self) -> str:
        """The statement without a partial function at the top of an assigned value."""
        return self.text.replace(OPEN, "IF(1, ").replace(CLOSE, ", NULL)").replace(SIDE, "y")

    def with_text(self, text: str) -> Step:
        """The step with another statement."""
        return replace(self, text=text)


Script = tuple[Step, ...]


def dump_script(script: Sequence[Step]) -> list[dict[str, Any]]:
    """The script as JSON values, without what is as usual."""
    return [{name: value for name, value in asdict(step).items() if value or name == "text"} for step in script]


def load_script(data: Iterable[dict[str, Any]]) -> Script:
    """The script that :func:`dump_script` gave."""
    return tuple(Step(**{**entry, "features": tuple(entry.get("features", ()))}) for entry in data)


def quoted(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def json_literal(value: object) -> str:
    """A document as a string literal."""
    return quoted(json.dumps(value, ensure_ascii=False))
