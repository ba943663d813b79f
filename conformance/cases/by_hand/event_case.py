"""The events Case: one row event given to a server by hand, as data (``injection``).

Its id is a hash of what it does. Some Cases crash other people's software (hazard may-crash): those are stored with the
report of a run and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.cases.by_hand.injection import Demand, Injection
from conformance.cases.update_case import Hazard

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCase:
    """One injection with the frame that all Cases have."""

    kind: ClassVar[str] = "events"

    id: str
    rev: int = 1
    requirements: tuple[str, ...] = ()
    seed: str = ""
    needs: tuple[str, ...] = ()
    note: str = ""
    injection: Injection

    @property
    def hazard(self) -> Hazard:
        """The harm it may do to a server."""
        return Hazard(self.injection.hazard)


def dump_event_case(case: EventCase) -> dict[str, Any]:
    """A Case as JSON data, without the frame that all kinds share (``files``)."""
    return dump_injection(case.injection)


def dump_injection(item: Injection) -> dict[str, Any]:
    """An injection as JSON data, without its hazard."""
    return {
        "name": item.name,
        "stored": None if item.stored is None else {"jsonb": item.stored.hex()},
        "image": item.image.hex(),
        "demand": item.demand.value,
        "number": item.number,
        "row_exists": item.row_exists,
    }


EVENT_KEYS: Final = frozenset(("name", "stored", "image", "demand", "number", "row_exists"))


def load_event_case(data: Mapping[str, Any], frame: Mapping[str, Any]) -> EventCase:
    """The Case of JSON data. Raises what a malformed value makes Python raise."""
    return EventCase(**frame, injection=load_injection(data))


def load_injection(data: Mapping[str, Any]) -> Injection:
    """The injection of JSON data. Raises what a malformed value makes Python raise."""
    stored, number = data["stored"], data.get("number")
    return Injection(
        name=str(data.get("name", "")),
        stored=None if stored is None else bytes.fromhex(stored["jsonb"]),
        image=bytes.fromhex(data["image"]),
        demand=Demand(data.get("demand", Demand.EITHER.value)),
        number=None if number is None else int(number),
        hazard=str(Hazard(data.get("hazard", "none"))),
        row_exists=bool(data.get("row_exists", True)),
    )
