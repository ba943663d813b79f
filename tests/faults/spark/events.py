"""Faults of the log: columns of the images, options and bits of a row, the event around it, and payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.cases import predict
from conformance.cases.row_images import RowImage
from conformance.reference.binlog import images, rows
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.event_types import EventType
from scenarios.engines import transactions
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from conformance.reference.binlog.event import Body


def _extra(kind: EventType, size: int) -> Plant:
    """Row events of a type with bytes of extra information, which every reader skips."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        make = rows.RowsBody

        def longer(**fields: Any) -> rows.RowsBody:
            extra = (rows.UnknownInfo(7, bytes(size)),) if fields["type"] == kind else ()
            return make(**{**fields, "extra": extra})

        patch.setattr(predict, "RowsBody", longer)

    return plant


def _long_options(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(images, "encode_packed", lambda number: b"\xfc" + number.to_bytes(2, "little"))


def _before(change: Callable[[Any, Any, RowImage, list[int] | None], list[int] | None]) -> Plant:
    """Other columns in before images: ``change`` gets table, key, image and the right columns."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = predict.__dict__["before_columns"]

        def columns(table: Any, key: Any, primary: Any, image: RowImage) -> list[int] | None:
            return change(table, key, image, right(table, key, primary, image))

        patch.setattr(predict, "before_columns", columns)

    return plant


def _after(change: Callable[[Any, Any, RowImage, list[int] | None], list[int] | None]) -> Plant:
    """Other columns in after images: ``change`` gets table, assigned columns, image and the right columns."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = predict.__dict__["after_columns"]

        def columns(table: Any, assigned: Any, image: RowImage) -> list[int] | None:
            return change(table, assigned, image, right(table, assigned, image))

        patch.setattr(predict, "after_columns", columns)

    return plant


def _in(image: RowImage, other: Callable[[Any, Any], list[int] | None]) -> Any:
    """``other`` columns in images of one kind, the right ones elsewhere."""
    return lambda table, chosen, kind, right: other(table, chosen) if kind is image else right


def _all_but_text(table: Any, _: Any) -> list[int]:
    return list(range(len(table.columns) - 1))


def _no_json(table: Any, _: Any) -> list[int]:
    return [0, *range(len(table.columns) - 2, len(table.columns) - 1)]


def _assigned(_: Any, chosen: Any) -> list[int]:
    return sorted(chosen)


def _key_or_first(_: Any, key: Any) -> list[int]:
    return sorted(key) or [0]


def _key_and_next(table: Any, key: Any) -> list[int] | None:
    return [*sorted(key), len(table.columns) - 2] if key else None


def _with_key(_: Any, chosen: Any) -> list[int]:
    return sorted({0, *chosen})


def _without_counter(table: Any, chosen: Any) -> list[int]:
    return sorted({*chosen} - {len(table.columns) - 2}) or sorted(chosen)


def _all_json(table: Any, chosen: Any) -> list[int]:
    return sorted({*chosen, *range(1, len(table.columns) - 2)})


def _null_bit(patch: pytest.MonkeyPatch) -> None:
    shared = images.RowWriter.shared_image

    def with_bits(self: images.RowWriter, row: Any) -> Any:
        found = sum(
            1 << self.table.json_columns.index(column)
            for (column, _), value in zip(self.after or (), row.after or (), strict=True)
            if column in self.table.json_columns and value is None
        )
        bits = (row.partial_columns or 0) | found
        return shared(self, row._replace(value_options=int(bits > 0), partial_columns=bits or None))

    patch.setattr(images.RowWriter, "shared_image", with_bits)


def _short_bits(patch: pytest.MonkeyPatch) -> None:
    shared = images.RowWriter.shared_image

    def short(self: images.RowWriter, row: Any) -> Any:
        data, chosen = shared(self, row)
        return data[:2], chosen

    patch.setattr(images.RowWriter, "shared_image", short)


def _written(write: Callable[[Any, Sequence[Body], bool], bytes]) -> Plant:
    """Transactions written in another way: ``write`` gets the right function, the events and the setting."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = transactions.written
        patch.setattr(transactions, "written", lambda bodies, *, compressed: write(right, bodies, compressed))

    return plant


def _beside(right: Any, bodies: Sequence[Body], compressed: bool) -> bytes:
    data: bytes = right(bodies, compressed=compressed)
    return data + right(bodies[2:3], compressed=False) if compressed else data


def _frame(frame: Callable[[bytes], bytes]) -> Plant:
    """Payloads with another zstd frame of the same events."""

    def compress(events: bytes, *_: Any) -> TransactionPayload:
        return TransactionPayload(payload=frame(events), uncompressed_size=len(events))

    return lambda patch: patch.setattr(TransactionPayload, "compress", staticmethod(compress))


def _raw_blocks(events: bytes, size: int, empty: int = 0) -> bytes:
    """A zstd frame of raw blocks (RFC 8878), after ``empty`` ones without content."""
    blocks = [b""] * empty + [events[start : start + size] for start in range(0, len(events), size)]
    head = b"\x28\xb5\x2f\xfd\xa0" + len(events).to_bytes(4, "little")  # one segment, content size in 4 bytes
    return head + b"".join(
        (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") + block
        for number, block in enumerate(blocks)
    )


def _unknown_field(patch: pytest.MonkeyPatch) -> None:
    right = TransactionPayload.compress

    def compress(events: bytes, *level: int) -> TransactionPayload:
        made = right(events, *level)
        return TransactionPayload(
            payload=made.payload, uncompressed_size=made.uncompressed_size, unknown=((77, bytes(1 << 10)),)
        )

    patch.setattr(TransactionPayload, "compress", staticmethod(compress))


def _lost_byte(patch: pytest.MonkeyPatch) -> None:
    right = TransactionPayload.compress
    patch.setattr(TransactionPayload, "compress", staticmethod(lambda events, *level: right(events[:-1])))


PARTIAL, FULL = EventType.PARTIAL_UPDATE_ROWS, EventType.UPDATE_ROWS
EVENT_FAULTS = (
    Fault("options/of-3-bytes", "", "It writes value_options in three bytes.", _long_options),
    Fault("on/a-byte-longer", "", "Its events with the option have a byte of extra information.", _extra(PARTIAL, 0)),
    Fault("on/300-bytes-longer", "", "They have 300 bytes of extra information.", _extra(PARTIAL, 299)),
    Fault("off/a-byte-longer", "", "Its events without the option have extra information.", _extra(FULL, 0)),
    Fault("off/300-bytes-longer", "", "They have 300 bytes of extra information.", _extra(FULL, 299)),
    Fault("before/minimal-is-whole", "", "MINIMAL before images have all columns.",
          _before(_in(RowImage.MINIMAL, lambda *_: None))),
    Fault("before/minimal-first-column", "", "Without a key they have the first column alone.",
          _before(_in(RowImage.MINIMAL, _key_or_first))),
    Fault("before/minimal-and-n", "", "They have the column n too.", _before(_in(RowImage.MINIMAL, _key_and_next))),
    Fault("before/full-without-text", "", "FULL before images leave out TEXT.",
          _before(_in(RowImage.FULL, _all_but_text))),
    Fault("before/full-is-key", "", "FULL before images have the key alone.",
          _before(_in(RowImage.FULL, _key_or_first))),
    Fault("after/full-is-assigned", "", "FULL after images have what was assigned alone.",
          _after(_in(RowImage.FULL, _assigned))),
    Fault("after/full-without-text", "", "FULL after images leave out TEXT.",
          _after(_in(RowImage.FULL, _all_but_text))),
    Fault("after/minimal-is-whole", "", "MINIMAL after images have all columns.",
          _after(_in(RowImage.MINIMAL, lambda *_: None))),
    Fault("after/minimal-and-key", "", "They have the key too.", _after(_in(RowImage.MINIMAL, _with_key))),
    Fault("after/minimal-all-json", "", "They have every JSON column.", _after(_in(RowImage.MINIMAL, _all_json))),
    Fault("after/minimal-without-n", "", "They leave out the counter.",
          _after(_in(RowImage.MINIMAL, _without_counter))),
    Fault("before/noblob-without-json", "", "NOBLOB before images leave out JSON.",
          _before(_in(RowImage.NOBLOB, _no_json))),
    Fault("before/noblob-is-whole", "", "NOBLOB before images keep TEXT.",
          _before(_in(RowImage.NOBLOB, lambda *_: None))),
    Fault("after/noblob-is-whole", "", "NOBLOB after images keep TEXT.", _after(_in(RowImage.NOBLOB, lambda *_: None))),
    Fault("after/noblob-is-assigned", "", "NOBLOB after images have what was assigned alone.",
          _after(_in(RowImage.NOBLOB, _assigned))),
    Fault("bits/for-null", "", "It sets the partial bit of a column that is NULL.", _null_bit),
    Fault("bits/of-one-byte", "", "It writes one byte of partial bits at most.", _short_bits),
    Fault("payload/never", "", "It never compresses.", _written(lambda right, b, _: right(b, compressed=False))),
    Fault("payload/always", "", "It always compresses.", _written(lambda right, b, _: right(b, compressed=True))),
    Fault("payload/row-beside-it", "", "It logs the row event once more behind the payload.", _written(_beside)),
    Fault("payload/a-byte-lost", "", "The payload lacks the last byte.", _lost_byte),
    Fault("payload/unknown-field", "", "The payload has an unknown field of 1 KB.", _unknown_field),
    Fault("payload/empty-blocks", "", "The frame has 1,000 empty blocks.",
          _frame(lambda events: _raw_blocks(events, 1 << 16, 1_000))),
    Fault("payload/blocks-of-a-byte", "", "The frame has a block for every byte.",
          _frame(lambda events: _raw_blocks(events, 1))),
)  # fmt: skip
"""Faults of images, row events and payloads (binlog-events 10, 11, 15)."""
