"""The data files of a running server, complete on disk: no page of them waits in the buffer pool (innodb-undo 8)."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.wire.connection import Connection

_LIMITS: Final = ("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct")  # in the order of lowering
_DIRTY: Final = (
    "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = 'Innodb_buffer_pool_pages_dirty'"
)
_PATIENCE_SECONDS: Final = 120
_PAUSE_SECONDS: Final = 0.05


@contextmanager
def pages_written(connection: Connection) -> Iterator[None]:
    """Every page of every tablespace is in its file, also undo pages, whatever snapshots are open.

    ``FLUSH TABLES ... FOR EXPORT`` writes the pages of the tables only. Nothing may write to the server meanwhile.
    """
    before = [connection.execute(f"SELECT @@GLOBAL.{name}").scalar() for name in _LIMITS]
    end = time.monotonic() + _PATIENCE_SECONDS
    try:
        for name in _LIMITS:
            connection.execute(f"SET GLOBAL {name} = 0")
        while int(connection.execute(_DIRTY).scalar() or 0):
            if time.monotonic() > end:
                raise ServerUnavailable("the server does not write its dirty pages")
            time.sleep(_PAUSE_SECONDS)
        yield
    finally:
        for name, value in reversed(list(zip(_LIMITS, before, strict=True))):
            connection.execute(f"SET GLOBAL {name} = {float(value or 0)}")


def undo_files(connection: Connection) -> list[Path]:
    """The files of the undo tablespaces."""
    folder = Path(str(connection.execute("SELECT @@datadir").texts()[0][0]))
    found = connection.execute("SELECT file_name FROM information_schema.files WHERE file_type = 'UNDO LOG'").texts()
    return sorted(folder / str(name) for (name,) in found)
