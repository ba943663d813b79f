"""The servers behind the one that a Case runs on: one replica, or a chain, with the settings that matter there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.cases.row_images import RowImage


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    """The settings of a replica's applier. The last three change only what the replica logs itself."""

    image: RowImage
    partial_json: bool
    workers: int
    metadata: str = "MINIMAL"
    rows_query: bool = False
    compression: bool = False

    def variables(self) -> dict[str, str]:
        """The global variables."""
        return {
            "binlog_row_image": f"'{self.image}'",
            "binlog_row_value_options": "'PARTIAL_JSON'" if self.partial_json else "''",
            "replica_parallel_workers": str(self.workers),
            "binlog_row_metadata": self.metadata,
            "binlog_rows_query_log_events": str(int(self.rows_query)),
            "binlog_transaction_compression": str(int(self.compression)),
            "replica_checkpoint_period": "1",  # milliseconds until the applied position is told; 300 by default
        }

    def __str__(self) -> str:
        """SQL for people."""
        shown = {name: value for name, value in self.variables().items() if name != "replica_checkpoint_period"}
        return f"SET GLOBAL {', '.join(f'{name}={value}' for name, value in shown.items())}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltRows:
    """The replica's rows are made anew when ``after`` steps of the Case were applied.

    ``make`` names the new form of each document. ``copied``: the same value without free space. ``padded``: the same
    value with free space, as one more value was removed in place. ``retyped``: the value that a server reads from its
    text. ``numbers``: numbers get other types, drawn from ``seed``. ``dumped``: the replica is loaded from mysqldump.
    """

    after: int
    make: str
    seed: str = ""


MAKES = ("copied", "padded", "retyped", "numbers", "dumped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """``replicas``: each follows the server before it; the first follows the server of the Case."""

    gtid: bool
    replicas: tuple[ReplicaSettings, ...]
    rebuild: RebuiltRows | None = None

    @property
    def needs(self) -> str:
        """The catalogue's name for this many servers."""
        return f"{len(self.replicas) + 1}S"
