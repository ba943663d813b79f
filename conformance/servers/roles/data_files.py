"""The data files of a running server, complete on disk: no page of them waits in the buffer pool (innodb-undo 8).

:func:`table_file` copies the file of one table through the server itself, so a server in a container needs nothing
else (innodb-sdi B.9). LOAD_FILE needs an empty ``secure_file_priv``, which the lab's own servers have.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from conformance.servers import clock
from conformance.servers.errors import ServerError, ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.wire.connection import Connection

OWN_FILE: Final = "TABLESPACE = innodb_file_per_table"  # of a table, whatever the server's default is
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
    try:
        for name in _LIMITS:
            connection.execute(f"SET GLOBAL {name} = 0")
        if not clock.until(lambda: not connection.execute(_DIRTY).number(), _PATIENCE_SECONDS, _PAUSE_SECONDS):
            raise ServerUnavailable("the server does not write its dirty pages")
        yield
    finally:
        for name, value in reversed(list(zip(_LIMITS, before, strict=True))):
            connection.execute(f"SET GLOBAL {name} = {float(value or 0)}")


def undo_files(connection: Connection) -> list[str]:
    """The files of the undo tablespaces, by their names in the data directory."""
    found = connection.execute("SELECT file_name FROM information_schema.files WHERE file_type = 'UNDO LOG'").texts()
    return sorted(str(name) for (name,) in found)


def readable(connection: Connection) -> bool:
    """Whether this session may read the server's data files by LOAD_FILE."""
    return connection.execute("SELECT @@GLOBAL.secure_file_priv").scalar() == ""


def table_file(connection: Connection, table: str = "t") -> bytes:
    """The file of a table of the session's schema, written out whole. Other sessions that write to it wait."""
    connection.execute(f"FLUSH TABLES {table} FOR EXPORT")
    try:
        path = f"CONCAT(@@GLOBAL.datadir, DATABASE(), '/{table}.ibd')"
        ((data,),) = connection.execute(f"SELECT LOAD_FILE({path})").rows
    finally:
        connection.execute("UNLOCK TABLES")
    if data is None:
        raise ServerError(f"the server does not give its file {table}.ibd: LOAD_FILE is NULL")
    return data


def transaction_id(connection: Connection) -> int:
    """The id of the session's open transaction. A pause comes first: the table with it is refreshed each 0.1 s."""
    ask = "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = CONNECTION_ID()"
    clock.sleep(0.15)  # the server's own SLEEP would last an hour where somebody sets its clock back by one
    return connection.execute(ask).number()
