"""The facts that a source knows of itself and of its logs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.errors import CodecError
from conformance.servers.source.catalogue import fill, read_tables, row_metadata
from conformance.servers.source.gtids import GtidSet
from conformance.servers.source.packets import Refused
from conformance.servers.source.statements import Database
from conformance.servers.source.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.servers.source.catalogue import TableFacts
    from conformance.servers.source.log_files import LogFiles
    from conformance.servers.source.packets import Value

UUID_TEXT: Final = "0b1a5000-0000-4000-8000-000000000093"
SERVER_ID: Final = 93


@dataclass(slots=True, kw_only=True)
class Replica:
    """A client that registered itself (COM_REGISTER_SLAVE)."""

    server_id: int
    host: str
    port: int
    uuid: str = ""


@dataclass(slots=True)
class Facts:
    """The facts. ``table_logs``: the logs that tell of the tables, if not all of them. ``others``: variables."""

    logs: LogFiles
    version: str
    port: int = 0
    server_id: int = SERVER_ID
    uuid: UUID = field(default_factory=lambda: UUID(UUID_TEXT))
    gtid_mode: str = ""
    prepared: tuple[str, ...] = ()
    table_logs: LogFiles | None = None
    others: Mapping[str, Value] = field(default_factory=dict)
    replicas: dict[int, Replica] = field(default_factory=dict)
    variables: Variables = field(init=False)
    _database: Database | None = None
    _tables: list[TableFacts] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.variables = Variables(
            {
                **self.moving(),
                "binlog_row_metadata": self.others.get("binlog_row_metadata") or row_metadata(self.logs),
                "innodb_version": self.version,
                "version": self.version,
                **self.others,
            }
        )

    def moving(self) -> dict[str, Value]:
        """Variables that follow the logs."""
        logs = self.logs
        mode = self.gtid_mode or ("ON" if logs.only_gtids and logs.has_gtids else "OFF_PERMISSIVE")
        return {
            "binlog_checksum": logs.checksum,
            "gtid_executed": str(logs.executed),
            "gtid_purged": str(logs.purged),
            "gtid_mode": mode,
            "log_bin_basename": f"/binlog-lab/{logs.files[-1].name.rpartition('.')[0] or 'binlog'}",
            "port": self.port,
            "server_id": self.server_id,
            "server_uuid": str(self.uuid),
        }

    def database(self) -> Database:
        """The tables of INFORMATION_SCHEMA."""
        with self._lock:
            if self._database is None:
                self._database = Database()
                self._tables = read_tables(self.table_logs or self.logs, self.prepared)
                fill(self._database, self._tables)
            return self._database

    def tables(self) -> list[TableFacts]:
        """Return the known facts about tables."""
        self.database()
        return self._tables

    def forget_tables(self) -> None:
        """Read the definitions again when somebody asks: the logs changed, or nobody asks any more."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def gtids(self, text: Value) -> GtidSet:
        """A set from its text. Raises :class:`Refused`."""
        words = str(text or "")
        try:
            return GtidSet(PreviousGtids.parse(words).entries)
        except CodecError as error:
            raise Refused(1772, "HY000", f"Malformed GTID set specification '{words}'") from error
