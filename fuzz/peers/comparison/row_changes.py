"""Row changes as a peer gives them, against those in the log, with the judge of decoders and its levels.

Structure and values are held against a peer. The types of JSON leaves, the third level, are held against one that
tells them: its normaliser declares the capability ``types``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import DecoderCase, Equality
from conformance.judge.decoding.difference import DifferenceKind
from conformance.judge.decoding.exact_json import parse
from conformance.judge.decoding.judge import judge
from conformance.judge.decoding.log_columns import tables_of
from conformance.judge.decoding.observed import Observed
from conformance.logs.row_change_lines import read_log
from conformance.reference.tables.charsets import COLLATIONS
from fuzz.violation import PeerDefect

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from conformance.judge.decoding.difference import Difference
    from conformance.judge.decoding.log_columns import LogColumn

    Read = Callable[[bytes], Iterable[dict[str, Any]]]

TYPES: Final = "types"
_TEXTS: Final = frozenset(("CHAR column", "VARCHAR column", "TEXT column"))
_MEMBERS: Final = frozenset(("ENUM column", "SET column"))
_OPAQUE: Final = frozenset(("JSON BLOB", "JSON BIT", "JSON OPAQUE"))
_WIDE: Final = frozenset(("ucs2", "utf16", "utf16le", "utf32"))


def compare(log: bytes, read: Read, capabilities: Collection[str] = ()) -> None:
    """Raise :class:`PeerDefect` for the first difference between the log and what ``read`` gives for it."""
    reading = read_log(log, "log.binlog")
    if reading.error is not None:
        raise reading.error
    case = DecoderCase(
        id="fuzz/log", title="", why="", requirements=(), log=log, expected=tuple(map(parse, reading.lines))
    )
    judgement = judge(case, capabilities, Observed(changes=list(read(log))))
    for item in judgement.differences:
        if item.level is not Equality.TYPE or TYPES in capabilities:
            raise PeerDefect(_rule(item, case), item.place, item.expected, item.got)


def _rule(item: Difference, case: DecoderCase) -> str:
    """The kind of difference, the kind of value, and the cause, where the cause is not chance."""
    if item.kind is DifferenceKind.MISSING_CHANGE:
        return f"{item.kind.value}: {'TRANSACTION_PAYLOAD_EVENT' if item.inner else item.event}"
    what, cause = item.what.replace(" UNSIGNED column", " column"), item.cause
    if item.kind is DifferenceKind.ALTERED and what in _TEXTS:
        what, cause = _text(_column(item, case)), ""
    elif item.kind is DifferenceKind.ALTERED and what in _MEMBERS:
        what, cause = "member of ENUM or SET", ""
    elif what in _OPAQUE:
        what = "JSON opaque value"
    return ": ".join(filter(None, (item.kind.value, what, cause)))


def _text(column: LogColumn | None) -> str:
    known = None if column is None or column.collation is None else COLLATIONS.get(column.collation)
    if known is None:
        return "text"
    if known.charset in _WIDE:
        return "text in a character set of wide characters"
    return f"text in a {'single' if known.max_bytes == 1 else 'multi'}-byte character set"


def _column(item: Difference, case: DecoderCase) -> LogColumn | None:
    """The column that a difference is about."""
    if item.change is None:
        return None
    table = tables_of(case).of(case.expected[item.change])
    _, _, name = item.place.split(".", 2)  # changes[n].after.name
    return None if table is None else table.column(name)
