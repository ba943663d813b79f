"""The events Case: one row event given to a server by hand, as data (``injection``).

Its id is a hash of what it does. Some Cases crash other people's software (hazard may-crash): those are stored with the
report of a run and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.cases.by_hand.injection import Demand, Injection
from conformance.cases.update_case import Hazard
from conformance.reference.errors import DecodeError

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
    item = case.injection
    out: dict[str, Any] = {
        "kind": case.kind,
        "id": case.id,
        "rev": case.rev,
        "requirements": list(case.requirements),
        "seed": case.seed,
        "needs": list(case.needs),
        "hazard": str(case.hazard),
        "name": item.name,
        "stored": None if item.stored is None else {"jsonb": item.stored.hex()},
        "image": item.image.hex(),
        "demand": item.demand.value,
        "number": item.number,
        "row_exists": item.row_exists,
    }
    return {**out, "note": case.note} if case.note else out


_KNOWN = frozenset(
    ("format", "kind", "id", "rev", "requirements", "seed", "needs", "hazard", "note", "name", "stored", "image",
     "demand", "number", "row_exists")
)  # fmt: skip


def load_event_case(data: Mapping[str, Any]) -> EventCase:
    """The Case of JSON data. Raises :class:`DecodeError`, or what a malformed value makes Python raise."""
    unknown = sorted(set(data) - _KNOWN)
    if unknown:
        raise DecodeError("case-format", "unknown keys", got=unknown)
    stored, number = data["stored"], data.get("number")
    return EventCase(
        id=str(data["id"]),
        rev=int(data.get("rev", 1)),
        requirements=tuple(map(str, data.get("requirements", ()))),
        seed=str(data.get("seed", "")),
        needs=tuple(map(str, data.get("needs", ()))),
        note=str(data.get("note", "")),
        injection=Injection(
            name=str(data.get("name", "")),
            stored=None if stored is None else bytes.fromhex(stored["jsonb"]),
            image=bytes.fromhex(data["image"]),
            demand=Demand(data.get("demand", Demand.EITHER.value)),
            number=None if number is None else int(number),
            hazard=str(Hazard(data.get("hazard", "none"))),
            row_exists=bool(data.get("row_exists", True)),
        ),
    )
