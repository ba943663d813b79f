"""One document's pages before and after an update, for the sketch in the report: all of it read from the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.checks.lob_pages.article import ARRAY, STEPS
from conformance.checks.lob_pages.files import opened
from conformance.checks.lob_pages.run import create
from conformance.servers.roles.data_files import table_file
from conformance.stream import LobUpdate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.lob import PlainLob
    from conformance.servers.wire.connection import Connection

_SHORTER, _MOVED = STEPS[:2]
_MEMBERS: Final = "'a', REPEAT('a', 200), 'b', REPEAT('b', 18000), 'd', {}, 'z', REPEAT('z', 22000)"
_UPDATE: Final = _MOVED.at("$.d", "JSON_SET(j, '$.a', REPEAT('x', 150))")
_NEAR: Final = 8  # changed bytes with fewer equal ones between them are shown as one range


def lob_update(session: Connection, subject: str) -> LobUpdate:
    """Store a document around the article's array, update it, and describe its pages in both copies of the file.

    A member of the first page changes as well. With it the ranges have more than 100 bytes, so that pages are copied.
    """
    create(session)
    session.execute(f"INSERT INTO t VALUES (1, JSON_OBJECT({_MEMBERS.format(_array())}))")
    session.execute(f"UPDATE t SET j = {_SHORTER.at('$.d')}")
    before = opened(table_file(session)).rows[1].lob
    session.execute(f"UPDATE t SET j = {_UPDATE}")
    after = opened(table_file(session)).rows[1].lob
    assert before is not None
    assert after is not None
    return LobUpdate(subject=subject, statement=f"UPDATE t SET j = {_UPDATE}", length=after.length,
                     before=tuple(_pieces(before, None)), after=tuple(_pieces(after, before)))  # fmt: skip


def _array() -> str:
    assert _SHORTER.before == ARRAY
    return f"CAST('{_SHORTER.document}' AS JSON)"


def _pieces(lob: PlainLob, before: PlainLob | None) -> Iterator[dict[str, Any]]:
    """Each piece: its place in the document, and its pages, the current one first."""
    offset = 0
    for number, entry in enumerate(lob.entries):
        chain = (entry, *entry.older)
        pages = []
        for place, piece in enumerate(chain):
            new = before is not None and piece.page not in before.all_pages
            data = lob.read_piece(piece)
            source = lob.read_piece(chain[place + 1]) if new and place + 1 < len(chain) else data
            pages.append({
                "page": piece.page, "type": lob.space.page(piece.page).type_name, "version": piece.version,
                "length": piece.length, "live": place == 0, "new": new, "changed": _changed(source, data),
            })  # fmt: skip
        yield {"number": number + 1, "offset": offset, "pages": pages}
        offset += entry.length


def _changed(old: bytes, new: bytes) -> list[list[int]]:
    """Offset and length of what differs."""
    found: list[list[int]] = []
    for at, (one, other) in enumerate(zip(old, new, strict=True)):
        if one != other:
            if found and at - sum(found[-1]) < _NEAR:
                found[-1][1] = at + 1 - found[-1][0]
            else:
                found.append([at, 1])
    return found
