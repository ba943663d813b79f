"""Features of events that readers are known to stumble over, with the Cases that have each, and how to avoid it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import XaPrepare
from conformance.reference.binlog.gtid import GtidTagged
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import V1_TYPES, LazyRows, included
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import split_diffs
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.tables.table_map import TableMap


_EXPAND: Final = ", or rewrite the log with binlog-lab expand"
_OF_ONE: Final = (
    (" events", " event"), (" of tables ", " of a table "), ("compressed transactions", "a compressed transaction"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Feature:
    """``title``: words for the events that have it. ``avoid``: the setting of the writer, empty if there is none.

    ``cases`` have this feature and no other that ``controls`` lack. A tool that does not read the controls fails for
    another reason: then its outcome is not measured. ``twins``: for each Case the one that differs in the setting
    alone, a further control.
    """

    title: str
    avoid: str
    cases: tuple[str, ...]
    controls: tuple[str, ...] = ("columns/int",)
    twins: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """The change of the writer that avoids the events, without the other way."""
        return self.avoid.partition(_EXPAND)[0]

    @property
    def expands(self) -> bool:
        """Whether ``expand`` rewrites the events."""
        return _EXPAND in self.avoid

    def counted(self, events: int) -> str:
        """The title behind the number of events."""
        title = self.title
        for plural, singular in _OF_ONE if events == 1 else ():
            title = title.replace(plural, singular, 1)
        return f"{events} {title}"

    def controls_of(self, case: str) -> tuple[str, ...]:
        """The Cases that a tool must read before its answer to this one says anything."""
        return (*self.controls, self.twins[self.cases.index(case)]) if self.twins else self.controls


_PLAIN: Final = frozenset(("utf8mb4", "utf8mb3", "ascii", "binary"))  # character sets that UTF-8 reads
_PARTIAL_OFF: Final = f"binlog_row_value_options=''{_EXPAND}"
_WITH_DOCUMENT: Final = ("checksums/crc32",)
FEATURES: Final = {
    "partial-diffs": Feature(
        "PARTIAL_UPDATE_ROWS events (39) with diffs of a document",
        _PARTIAL_OFF,
        ("diffs/replace-scalar", "diffs/insert-member", "diffs/remove-member"),
        _WITH_DOCUMENT,
    ),
    "partial-several-diffs": Feature(
        "PARTIAL_UPDATE_ROWS events (39) with several diffs of one document",
        _PARTIAL_OFF,
        ("diffs/three-in-one-column", "diffs/ten-in-one-column", "diffs/same-path-twice"),
        _WITH_DOCUMENT,
    ),
    "partial-unchanged": Feature(
        "PARTIAL_UPDATE_ROWS events (39) with a document that did not change",
        f"{_PARTIAL_OFF}; or binlog_row_image=MINIMAL",
        ("diffs/noblob-unchanged", "diffs/empty-list"),
        _WITH_DOCUMENT,
    ),
    "partial-plain": Feature(
        "PARTIAL_UPDATE_ROWS events (39) without diffs", _PARTIAL_OFF, ("updates/no-json-column", "updates/key-change")
    ),
    "payload": Feature(
        "TRANSACTION_PAYLOAD events (40): compressed transactions",
        f"binlog_transaction_compression=OFF{_EXPAND}",
        ("payload/insert", "payload/update", "payload/delete"),
        _WITH_DOCUMENT,
    ),
    "tagged-gtid": Feature(
        "GTID_TAGGED events (42)",
        "GTIDs without a tag",
        ("gtid/tagged", "gtid/tagged-automatic", "gtid/tagged-between"),
        ("gtid/normal",),
    ),
    "vector": Feature(
        "row events of tables with a VECTOR column and its dimension", "", ("columns/vector", "columns/vector-large")
    ),
    "json": Feature("row events with a whole document of a JSON column", "", ("jsonb/int16", "checksums/crc32")),
    "geometry": Feature("row events with a value of a GEOMETRY column", "", ("columns/point", "columns/geometry")),
    "partial-image": Feature(
        "row events with images that lack columns",
        "binlog_row_image=FULL",
        ("images/minimal-update", "images/minimal-delete", "images/noblob-update"),
        ("images/8-columns",),
    ),
    "no-names": Feature(
        "row events of tables without column names in the log",
        "binlog_row_metadata=FULL",
        ("metadata/switched",),
        ("columns/int", "columns/varchar"),
    ),
    "no-names-binary": Feature(
        "row events of tables without column names in the log, with a BINARY or BLOB column",
        "binlog_row_metadata=FULL",
        ("versions/base-minimal",),
        ("metadata/switched", "columns/bigint", "columns/decimal-10-2", "columns/datetime", "columns/blob"),
    ),
    "no-members": Feature(
        "row events of tables with ENUM or SET columns whose members are not in the log",
        "binlog_row_metadata=FULL",
        ("columns/enum-minimal", "columns/set-minimal"),
        ("metadata/switched",),
        ("columns/enum", "columns/set"),
    ),
    "no-names-charset": Feature(
        "row events of tables without column names in the log, with text in another character set than utf8mb4",
        "binlog_row_metadata=FULL",
        ("charsets/latin1-minimal", "charsets/utf16-minimal", "charsets/gbk-minimal", "charsets/sjis-minimal"),
        ("metadata/switched",),
        ("charsets/latin1", "charsets/utf16", "charsets/gbk", "charsets/sjis"),
    ),
    "partial-image-unnamed": Feature(
        "row events with images that lack columns, without column names in the log",
        "binlog_row_metadata=FULL, or binlog_row_image=FULL",
        ("images/65-columns-minimal-unnamed",),
        ("images/65-columns-minimal", "metadata/switched"),
    ),
    "xa": Feature(
        "XA_PREPARE events (38)",
        "transactions without XA",
        ("xa/committed", "xa/one-phase"),
        _WITH_DOCUMENT,
    ),
    "rows-v1": Feature(
        "row events of version 1 (23 to 25)",
        "log_bin_use_v1_row_events=OFF",
        ("versions/5.7.44-rows-v1-bare",),
        ("versions/5.7.44-rows-v2-bare",),
    ),
}


def features_of(event: Event) -> Iterator[str]:
    """The features of one event. Of PARTIAL_UPDATE_ROWS, the rows are read."""
    body = event.body
    match body:
        case TransactionPayload():
            yield "payload"
        case GtidTagged():
            yield "tagged-gtid"
        case XaPrepare():
            yield "xa"
        case LazyRows():
            yield from _of_rows(body)


def _of_rows(body: LazyRows) -> Iterator[str]:
    if body.type in V1_TYPES:
        yield "rows-v1"
    table = body.table
    if table is None:
        return
    if body.type == EventType.PARTIAL_UPDATE_ROWS:
        yield from _of_partial(body)
    elif _has_value(body, types.JSON):
        yield "json"
    if any(info.type.type == types.VECTOR and info.dimension is not None for info in table.described):
        yield "vector"
    if _has_value(body, types.GEOMETRY):
        yield "geometry"
    count = len(table.columns)
    bitmaps = (bitmap for bitmap in (body.before_columns, body.after_columns) if bitmap is not None)
    lacking = any(len(included(bitmap, count)) < count for bitmap in bitmaps)
    unnamed = all(info.name is None for info in table.described)
    if unnamed:
        yield "no-names"
        yield from _of_columns(table)
    if lacking:
        yield "partial-image-unnamed" if unnamed else "partial-image"


def _of_columns(table: TableMap) -> Iterator[str]:
    """Yield the further features of a table without column names, for what else its columns lack."""
    kinds = [info.type.real_type for info in table.described]
    if any(
        kind in (types.ENUM, types.SET) and not info.members for kind, info in zip(kinds, table.described, strict=True)
    ):
        yield "no-members"
    charsets = {
        COLLATIONS[info.collation].charset
        for kind, info in zip(kinds, table.described, strict=True)
        if info.collation in COLLATIONS and kind != types.VECTOR  # it has the character set binary too
    }
    if "binary" in charsets:
        yield "no-names-binary"
    if charsets - _PLAIN:
        yield "no-names-charset"


def _has_value(body: LazyRows, kind: int) -> bool:
    """Whether a row has a value that is not NULL in a column of this type."""
    table = body.map()
    if all(column.type != kind for column in table.columns):
        return False
    count = len(table.columns)
    for row in body.rows():
        for image, bitmap in ((row.before, body.before_columns), (row.after, body.after_columns)):
            columns = included(bitmap or 0, count)
            for index, value in zip(columns, image or (), strict=False):
                if value is not None and table.columns[index].type == kind:
                    return True
    return False


def _of_partial(body: LazyRows) -> Iterator[str]:
    """Which kinds of partial values the rows have."""
    most, unchanged = 0, False
    for row in body.rows():
        for value in row.after or ():
            if isinstance(value, PartialJson):
                most = max(most, len(split_diffs(value.diffs)))
                unchanged = unchanged or not value.diffs
    if most:
        yield "partial-several-diffs" if most > 1 else "partial-diffs"
    if unchanged:
        yield "partial-unchanged"
    if not most and not unchanged:
        yield "partial-plain"
