"""The GTIDs of logs that tests and benchmarks write: transactions of one server, one after another."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from conformance.reference.binlog.gtid import Gtid

_SERVER: Final = UUID("6d31aba5-e4a6-11f1-9d7e-02fc00000001")


def gtid(number: int) -> Gtid:
    """The GTID of transaction ``number``, from 1. It is committed a microsecond after the one before, which it waits
    for."""
    return Gtid(
        uuid=_SERVER,
        gno=number,
        last_committed=number - 1,
        sequence_number=number,
        immediate_commit_timestamp=1795154439830779 + number,
        immediate_server_version=90704,
    )
