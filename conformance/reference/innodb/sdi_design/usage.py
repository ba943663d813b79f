"""A change of both copies in the order of the worklog's example: one is flushed before the commit, one behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.innodb.sdi_design.calls import Session
    from conformance.reference.innodb.sdi_design.pages import SdiKey


class Change(NamedTuple):
    """The change of a key; ``data`` is ``None`` where it is deleted."""

    key: SdiKey
    data: bytes | None


def change_both_copies(session: Session, tablespace: int, changes: Sequence[Change]) -> bool:
    """Make all changes and commit, or roll back; ``True`` is a failure (innodb-sdi A.5)."""
    if change_copy(session, tablespace, changes, 0):
        session.sdi_flush(tablespace)
        if change_copy(session, tablespace, changes, 1):
            session.ha_commit_trans()
            session.sdi_flush(tablespace)
            return False
    session.ha_rollback_trans()
    session.sdi_flush(tablespace)
    return True


def change_copy(session: Session, tablespace: int, changes: Sequence[Change], copy_num: int) -> bool:
    """Make the changes in one copy, up to the first that fails; ``True`` if none does."""
    return all(
        not session.sdi_delete(tablespace, key, copy_num)
        if data is None
        else not session.sdi_set(tablespace, key, data, len(data), copy_num)
        for key, data in changes
    )
