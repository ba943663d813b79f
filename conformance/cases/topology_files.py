"""The topology of a Case as JSON data; see ``files``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.cases.row_images import RowImage
from conformance.cases.topology import MAKES, RebuiltRows, ReplicaSettings, Topology
from conformance.reference.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOG: Final = {"metadata": "MINIMAL", "rows_query": False, "compression": False}  # left out where they are so


def dump_topology(topology: Topology) -> dict[str, Any]:
    """The topology as JSON data."""
    out: dict[str, Any] = {
        "gtid": topology.gtid,
        "replicas": [
            {
                "row_image": str(item.image),
                "partial_json": item.partial_json,
                "workers": item.workers,
                **{name: getattr(item, name) for name in _LOG if getattr(item, name) != _LOG[name]},
            }
            for item in topology.replicas
        ],
    }
    if topology.rebuild is not None:
        rebuild = topology.rebuild
        out["rebuild"] = {"after": rebuild.after, "make": rebuild.make, "seed": rebuild.seed}
    return out


def load_topology(data: Mapping[str, Any], steps: int) -> Topology:
    """The topology of JSON data. ``steps``: how many the Case has."""
    replicas = tuple(
        ReplicaSettings(
            image=RowImage(item["row_image"]),
            partial_json=bool(item["partial_json"]),
            workers=int(item["workers"]),
            metadata=str(item.get("metadata", "MINIMAL")),
            rows_query=bool(item.get("rows_query", False)),
            compression=bool(item.get("compression", False)),
        )
        for item in data["replicas"]
    )
    if not 1 <= len(replicas) <= 2:
        raise DecodeError("case-replicas", "a Case is for one replica or two", got=len(replicas))
    rebuild = None
    if data.get("rebuild") is not None:
        item = data["rebuild"]
        rebuild = RebuiltRows(after=int(item["after"]), make=str(item["make"]), seed=str(item.get("seed", "")))
        if rebuild.make not in MAKES:
            raise DecodeError("case-rebuild", "unknown way to make rows", expected=" ".join(MAKES), got=rebuild.make)
        if not 0 <= rebuild.after <= steps:
            raise DecodeError("case-rebuild", "not a number of steps", expected=f"0 to {steps}", got=rebuild.after)
        if len(replicas) > 1:
            raise DecodeError("case-rebuild", "rows are made anew on a pair only", got=f"{len(replicas)} replicas")
    return Topology(gtid=bool(data["gtid"]), replicas=replicas, rebuild=rebuild)
