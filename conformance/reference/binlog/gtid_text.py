"""The name of a transaction as the server writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import EventType

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body


def gtid_text(body: Body) -> str | None:
    """``UUID:NUMBER`` or ``UUID:TAG:NUMBER``; ``None`` for an anonymous transaction and for other events."""
    if not isinstance(body, (Gtid, GtidTagged)) or body.type == EventType.ANONYMOUS_GTID:
        return None
    tag = f"{body.tag}:" if isinstance(body, GtidTagged) and body.tag else ""
    return f"{body.uuid}:{tag}{body.gno}"
