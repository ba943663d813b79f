"""Row changes as a peer gives them, against those in the log, with the judge of decoders and its levels.

Structure and values are held against a peer. The types of JSON leaves, the third level, are held against one that
tells them: its normaliser declares the capability ``types``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Allowed, DecoderCase, Equality
from conformance.judge.decoding.difference import DifferenceKind
from conformance.judge.decoding.exact_json import parse
from conformance.judge.decoding.judge import is_member_number, judge
from conformance.judge.decoding.log_columns import tables_of
from conformance.judge.decoding.observed import Observed
from conformance.logs.row_change_lines import read_log
from conformance.reference.tables.charsets import COLLATIONS
from fuzz.violation import PeerDefect, together

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from conformance.judge.decoding.difference import Difference
    from conformance.judge.decoding.judge import Judgement
    from conformance.judge.decoding.log_columns import LogColumn

    Read = Callable[[bytes], Iterable[dict[str, Any]]]

TYPES: Final = "types"
_TEXTS: Final = frozenset(("CHAR column", "VARCHAR column", "TEXT column"))
_MEMBERS: Final = frozenset(("ENUM column", "SET column"))
_OPAQUE: Final = frozenset(("JSON BLOB", "JSON BIT", "JSON OPAQUE"))
_WIDE: Final = frozenset(("ucs2", "utf16", "utf16le", "utf32"))


def compare(log: bytes, read: Read, capabilities: Collection[str] = ()) -> None:
    """Raise :class:`PeerDefect` for the differences between the log and what ``read`` gives for it."""
    found = defects_in(case_of(log), capabilities, Observed(changes=list(read(log))))
    if found:
        raise together(found)


def case_of(log: bytes) -> DecoderCase:
    """A sound log as a Case. What the reference raises is a fault of the lab."""
    reading = read_log(log, "log.binlog")
    if reading.error is not None:
        raise reading.error
    return case_with(log, reading.lines)


def case_with(log: bytes, lines: Iterable[str], allowed: Allowed = Allowed.CHANGES) -> DecoderCase:
    """A log as a Case with these row changes."""
    expected = tuple(map(parse, lines))
    return DecoderCase(id="fuzz/log", title="", why="", requirements=(), log=log, expected=expected, allowed=allowed)


def defects_in(case: DecoderCase, capabilities: Collection[str], observed: Observed) -> list[PeerDefect]:
    """The differences that count between a Case and an answer which came, each with its rule."""
    return [as_defect(item, case) for item in counting(judge(case, capabilities, observed), capabilities)]


def counting(judgement: Judgement, capabilities: Collection[str]) -> list[Difference]:
    """The differences that count: of types only for a peer that tells them, or names of members that the log has."""
    types = TYPES in capabilities
    return [
        item for item in judgement.differences if types or item.level is not Equality.TYPE or is_member_number(item)
    ]


def as_defect(item: Difference, case: DecoderCase) -> PeerDefect:
    """A difference as what is found."""
    return PeerDefect(_rule(item, case), item.place, item.expected, item.got)


def _rule(item: Difference, case: DecoderCase) -> str:
    """The kind of difference, the kind of value, and the cause, where the cause is not chance."""
    if item.kind is DifferenceKind.MISSING_CHANGE:
        return f"{item.kind.value}: {'TRANSACTION_PAYLOAD_EVENT' if item.inner else item.event}"
    if item.kind is DifferenceKind.ABSENT_AS_NULL:
        return item.kind.value
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
