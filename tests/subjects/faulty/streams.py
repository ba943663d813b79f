"""Faulty decoders that lose events, or say nothing where they should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.query import Query
from conformance.reference.errors import CodecError
from tests.subjects.faulty.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event

_PARTIAL = "PARTIAL_UPDATE_ROWS_EVENT"
_KNOWN = {
    "FORMAT_DESCRIPTION_EVENT", "PREVIOUS_GTIDS_LOG_EVENT", "GTID_LOG_EVENT", "ANONYMOUS_GTID_LOG_EVENT", "QUERY_EVENT",
    "GTID_TAGGED_LOG_EVENT", "TABLE_MAP_EVENT", "WRITE_ROWS_EVENT", "UPDATE_ROWS_EVENT", "DELETE_ROWS_EVENT", _PARTIAL,
    "WRITE_ROWS_EVENT_V1", "UPDATE_ROWS_EVENT_V1", "DELETE_ROWS_EVENT_V1", "XID_EVENT", "XA_PREPARE_LOG_EVENT",
    "ROTATE_EVENT", "STOP_EVENT", "TRANSACTION_PAYLOAD_EVENT",
}  # fmt: skip


class DropsEvent39(Reader):
    def keep(self, event: Event) -> bool:
        return event.name != _PARTIAL


class DropsInsert(Reader):
    def keep(self, event: Event) -> bool:
        return not event.name.startswith("WRITE_ROWS")


class DropsEvent39Inside40(Reader):
    def keep(self, event: Event) -> bool:
        return event.name != _PARTIAL or event.inner is None


class DropsPayloads(Reader):
    def keep(self, event: Event) -> bool:
        return event.inner is None


class StopsAt(Reader):
    """Ends at the first event that it does not know, as if the log ended there."""

    over = False

    def decode(self, path: str) -> Iterator[dict[str, Any]]:
        self.over = False
        yield from super().decode(path)

    def keep(self, event: Event) -> bool:
        self.over = self.over or not self.known(event.name)
        return not self.over

    def known(self, name: str) -> bool:
        """Whether the subject reads events of this type."""
        return name in _KNOWN


class StopsAtATaggedGtid(StopsAt):
    def known(self, name: str) -> bool:
        return "TAGGED" not in name


class StopsWithoutChecksums(StopsAt):
    def keep(self, event: Event) -> bool:
        self.over = self.over or (event.checksum is None and event.inner is None)
        return not self.over


class LosesRowsBehindUnknownEvents(Reader):
    """Loses its place at an event that it does not know, and finds it again behind the next rows."""

    lost = False

    def keep(self, event: Event) -> bool:
        if event.name not in _KNOWN:
            self.lost = True
        if "ROWS_EVENT" not in event.name or not self.lost:
            return True
        self.lost = False
        return False


class GtidsWithoutTag(Reader):
    def change(self, change: dict[str, Any]) -> dict[str, Any]:
        parts = (change["gtid"] or "").split(":")
        return {**change, "gtid": f"{parts[0]}:{parts[-1]}"} if len(parts) == 3 else change


class DropsXa(Reader):
    """Waits for the commit, and never meets that of a prepared transaction."""

    capabilities = ("file", "types", "committed")
    inside = False

    def keep(self, event: Event) -> bool:
        if isinstance(event.body, Query):
            self.inside = event.body.text.upper().startswith(b"XA START")
        return not self.inside


class NamesInLowerCase(Reader):
    def change(self, change: dict[str, Any]) -> dict[str, Any]:
        return {**change, "schema": change["schema"].lower(), "table": change["table"].lower()}


class OneRowsEventForAMap(Reader):
    """Reads only the rows event that comes directly behind a TABLE_MAP."""

    last = ""

    def keep(self, event: Event) -> bool:
        previous, self.last = self.last, event.name
        return "ROWS_EVENT" not in event.name or "ROWS_EVENT" not in previous


class RolledBackAsCommitted(Reader):
    """Declares that it waits for the commit, and does not."""

    capabilities = ("file", "types", "committed")


class QuietAboutDamage(Reader):
    def decode(self, path: str) -> Iterator[dict[str, Any]]:
        try:
            yield from super().decode(path)
        except CodecError:
            return


class RepeatsBeforeAnError(Reader):
    """Gives what is in its buffer once more when it meets damage."""

    def decode(self, path: str) -> Iterator[dict[str, Any]]:
        last = None
        try:
            for change in super().decode(path):
                yield (last := change)
        except CodecError:
            if last is not None:
                yield last
            raise
