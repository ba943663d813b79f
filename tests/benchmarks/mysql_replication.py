"""python-mysql-replication over a file: it has no file reader, so it gets the events one by one.

    python tests/benchmarks/mysql_replication.py [--print] FILE

Decodes every event; ``--print`` writes each row as Python shows it, the least that a program would do with it.
Imports nothing of the kit, so that a process has the peer's own costs alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

_TABLE_MAP = 19
_FIRST = 4  # where the first event of a file is


class _Control:
    charset = "utf8mb4"

    def _get_dbms(self) -> str:
        return "mysql"


class Peer:
    """Reads the events of a file."""

    def __init__(self) -> None:
        from pymysql.protocol import MysqlPacket
        from pymysqlreplication.packet import BinLogPacketWrapper

        self.packet = MysqlPacket
        self.wrapper = BinLogPacketWrapper
        self.allowed = set(BinLogPacketWrapper._BinLogPacketWrapper__event_map.values())
        self.control = _Control()
        self.tables: dict[int, Any] = {}

    def event(self, data: bytes) -> Any:
        """One event, as the peer wraps it."""
        return self.wrapper(
            self.packet(b"\0" + data, "utf8"), self.tables, self.control, (9, 7, 4), True, self.allowed,
            None, None, None, None, False, False, False, True, False,
        )  # fmt: skip

    def __call__(self, data: bytes, *, show: bool = False) -> int:
        """The number of changed rows."""
        updates = 0
        pos = _FIRST
        while pos < len(data):
            length = int.from_bytes(data[pos + 9 : pos + 13], "little")
            wrapped = self.event(data[pos : pos + length])
            pos += length
            event = wrapped.event
            if wrapped.event_type == _TABLE_MAP:
                self.tables[event.table_id] = event.get_table()
            elif hasattr(event, "rows"):
                updates += len(event.rows)
                if show:
                    for row in event.rows:
                        sys.stdout.write(f"{row}\n")
        return updates


if __name__ == "__main__":
    Peer()(Path(sys.argv[-1]).read_bytes(), show="--print" in sys.argv)
