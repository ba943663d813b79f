"""The parts of statements and events that steer transactions: XIDs of XA, and the savepoints that a ROLLBACK names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reference.portable import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.binlog.control_events import XaPrepare
    from conformance.reference.sql.statement_words import Word

_XID: Final = re.compile(r"XA\s+(\w+)\s+(X'[0-9A-Fa-f]*'\s*,\s*X'[0-9A-Fa-f]*'\s*,\s*\d+)", re.IGNORECASE | re.ASCII)


def xa_statement(text: bytes) -> tuple[str, str] | None:
    """The word behind XA in capitals, and the XID as :func:`xid_of` writes it; ``None`` without an XID."""
    match = _XID.match(text.decode("ascii", "replace"))
    return None if match is None else (match[1].upper(), match[2].replace(" ", "").upper())


def xid_of(event: XaPrepare) -> str:
    """The XID of an XA PREPARE."""
    return f"X'{event.gtrid.hex()}',X'{event.bqual.hex()}',{event.format_id}".upper()


def savepoint_of(words: Sequence[Word]) -> str | None:
    """The savepoint that a SAVEPOINT or ROLLBACK names; ``None`` where the whole transaction is rolled back."""
    names = [word for word in words[1:] if not word.among("WORK", "TO", "SAVEPOINT")]
    return folded(names[0].text) if names else None
