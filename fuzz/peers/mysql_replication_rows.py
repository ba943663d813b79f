"""Compares the row changes that python-mysql-replication reads from sound logs with what is in the logs."""

from __future__ import annotations

import hashlib
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from fuzz.peers.comparison.refusals import reading
from fuzz.peers.comparison.row_changes import compare
from fuzz.peers.comparison.vendor_lines import MYSQL_REPLICATION
from fuzz.sound.byte_draw import ByteDraw
from fuzz.sound.logs import log

try:  # imported with this module, so that the peer's code is instrumented too
    from pymysqlreplication.row_event import RowsEvent

    from conformance.subjects.adapters.mysql_replication_log import events_of
    from conformance.subjects.adapters.mysql_replication_values import changes_of
except ImportError:
    RowsEvent = None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.peers.comparison.vendor_lines import Lines
PACKAGE: Final = "mysql-replication"
MODULE: Final = "pymysqlreplication"
INVARIANT: Final = "Row changes in a log that a server could have written come all, in order, and with their values."
INSTRUMENT: Final[tuple[str, ...]] = (MODULE,)
MAX_LEN: Final = 512
DICTIONARY: Final[tuple[bytes, ...]] = ()


def read(data: bytes) -> list[dict[str, Any]]:
    """The changes of a log as the peer reads them, in the form of the protocol."""
    if RowsEvent is None:
        raise ModuleNotFoundError(f"pip install {PACKAGE}")
    with reading(MODULE):
        events = events_of(BytesIO(data))
        return [change for event in events if isinstance(event, RowsEvent) for change in changes_of(event)]


def log_of(data: bytes) -> bytes:
    """The log that these decisions make."""
    return log(ByteDraw(data))


def vendor_lines(log: bytes, file: str) -> Lines:
    """The lines with which the peer's vendor reads a log."""
    return MYSQL_REPLICATION.of(log, file)


def check(data: bytes) -> None:
    """Check the log that these decisions make."""
    compare(log_of(data), read)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Decisions at random: a few hundred logs with most types, and the simplest log."""
    yield "simplest", b""
    for number in range(300):
        yield f"random-{number}", hashlib.shake_128(b"%d" % number).digest(40 + number % 7 * 40)
