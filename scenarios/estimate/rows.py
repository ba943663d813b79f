"""Bytes of one updated row in the log with each row image, partial JSON on and off (binlog-events 10,
binlog-events 11).

A log with FULL images has every value that the other images choose from. A log with another image allows judging only
that image and its parts.

A FULL image does not show which columns a statement assigned. With MINIMAL, changed columns count as assigned, and
``most`` counts every column as assigned. The log names the primary key's columns only with binlog_row_metadata=FULL.
Without it the first column counts as the key, ``least`` counts the shortest column, and ``most`` the whole row.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.row_images import RowImage, after_columns, before_columns
from conformance.reference.cursor import bitmap_size, included
from conformance.reference.tables.columns import BLOB, JSON, PartialJson, codec, value_size, write_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.reference.binlog.images import Row
    from conformance.reference.binlog.rows import LazyRows, RowsBody
    from conformance.reference.tables.table_map import TableMap
    from scenarios.estimate.costs import FieldCost

OPTIONS: Final = 1  # bytes of value_options, which every row has with the option on
_LEAST_SAVED: Final = 5  # bytes by which diffs are smaller than the document they replace


class RowCost(NamedTuple):
    """Bytes of a row with one image; the names are those of :class:`.costs.FieldCost`."""

    image: RowImage
    whole: int
    least: int
    leaves: int
    members: int
    most: int


class Layout:
    """The table of an event's rows, and the columns in its images."""

    def __init__(self, table: TableMap, event: LazyRows | RowsBody) -> None:
        assert event.before_columns is not None
        assert event.after_columns is not None
        self.table = table
        count = len(table.columns)
        self.before = included(event.before_columns, count)
        self.after = included(event.after_columns, count)
        self.json = frozenset(table.json_columns)
        self.bits = bitmap_size(len(self.json))
        parts = [(info.key_position, i) for i, info in enumerate(table.described) if info.key_position is not None]
        self.key = [index for _, index in sorted(parts)]
        self.named = any(info.name is not None for info in table.described)
        every = tuple(range(count))
        self.image = RowImage.MINIMAL
        if self.before == self.after == every:
            self.image = RowImage.FULL
        elif self.json <= {*self.before} and self._others_are_blobs(self.before) and self._others_are_blobs(self.after):
            self.image = RowImage.NOBLOB
        self._fixed = [value_size(column) for column in table.columns]
        self._codecs = [
            codec(column, unsigned=sign) for column, sign in zip(table.columns, table.unsigned, strict=True)
        ]

    def _others_are_blobs(self, there: Sequence[int]) -> bool:
        columns = self.table.columns
        return all(columns[index].type == BLOB for index in range(len(columns)) if index not in there)

    @property
    def key_known(self) -> bool:
        """Whether the log says which columns identify a row."""
        return bool(self.key) or self.named

    def size(self, index: int, value: object) -> int:
        """Bytes of a value in an image; 0 for NULL."""
        if value is None:
            return 0
        if isinstance(value, PartialJson):
            return 4 + len(value.diffs)
        if isinstance(value, bytes) and self.table.columns[index].type == JSON:
            return 4 + len(value)
        return self._fixed[index] or len(write_value(self._codecs[index], value))

    @cached_property
    def _minimal_before(self) -> list[int] | None:
        key = self.key if self.key or self.named else [0]
        return before_columns(self.table, key, key, RowImage.MINIMAL)

    def sizes(self, columns: Sequence[int], values: Iterable[object]) -> dict[int, int]:
        """Bytes of the values in an image, by column."""
        return {index: self.size(index, value) for index, value in zip(columns, values, strict=True)}

    def logged(self, row: Row) -> int:
        """Bytes of the row as it stands in the log."""
        assert row.before is not None
        assert row.after is not None
        size = _image(self.sizes(self.before, row.before)) + _image(self.sizes(self.after, row.after))
        if row.value_options is None:
            return size
        return size + OPTIONS + (self.bits if row.value_options else 0)

    def costs(self, row: Row, fields: Mapping[int, FieldCost]) -> list[RowCost]:
        """The cost with each image that can be judged. ``fields``: the costs of the JSON columns of the after image."""
        assert row.before is not None
        assert row.after is not None
        old = dict(zip(self.before, row.before, strict=True))
        before = self.sizes(self.before, row.before)
        after = self.sizes(self.after, row.after)
        if self.image is RowImage.MINIMAL:
            return [self._cost(RowImage.MINIMAL, before, before, before, after, after, fields)]
        changed = {
            index
            for index, value in zip(self.after, row.after, strict=True)
            if (fields[index].most > 4 if index in fields and index in self.json else old.get(index) != value)
            or index not in old
        }
        changed |= {index for index in fields if (old[index] is None) != (fields[index].whole == 0)}
        out = []
        for image in (RowImage.FULL, RowImage.NOBLOB) if self.image is RowImage.FULL else (RowImage.NOBLOB,):
            own = image is self.image
            first = before if own else _chosen(before, before_columns(self.table, self._any_key, self.key, image))
            then = after if own else _chosen(after, after_columns(self.table, changed, image))
            out.append(self._cost(image, first, first, first, then, then, fields))
        chosen = _chosen(before, self._minimal_before)
        least = most = chosen
        if not self.key_known:
            shortest = min(before, key=before.__getitem__)
            least, most = {shortest: before[shortest]}, before
        then = {index: after[index] for index in sorted(changed)}
        out.append(self._cost(RowImage.MINIMAL, chosen, least, most, then, after, fields))
        return out

    @property
    def _any_key(self) -> list[int]:
        """The columns of some key: an image that is not MINIMAL depends only on whether a key exists."""
        return self.key if self.key or self.named else [0]

    def _cost(
        self,
        image: RowImage,
        before: Mapping[int, int],
        least_before: Mapping[int, int],
        most_before: Mapping[int, int],
        after: Mapping[int, int],
        most_after: Mapping[int, int],
        fields: Mapping[int, FieldCost],
    ) -> RowCost:
        first = _image(before)
        documents = [fields[index] for index in after if index in fields]
        others = bitmap_size(len(after)) + sum(size for index, size in after.items() if index not in fields)
        every = [fields[index] for index in most_after if index in fields]
        rest = bitmap_size(len(most_after)) + sum(size for index, size in most_after.items() if index not in fields)
        whole = others + sum(cost.whole for cost in documents)
        least = min(self._bits([cost.least for cost in documents], documents) + others, whole)
        most = self._bits([cost.most for cost in every], every) + rest
        if any(cost.least < cost.whole for cost in every):
            most = max(most, self.bits + rest + sum(cost.most for cost in every) - _LEAST_SAVED)
        return RowCost(
            image,
            first + whole,
            _image(least_before) + OPTIONS + least,
            first + OPTIONS + others + self._bits([cost.leaves for cost in documents], documents),
            first + OPTIONS + others + self._bits([cost.members for cost in documents], documents),
            _image(most_before) + OPTIONS + most,
        )

    def _bits(self, taken: list[int], documents: list[FieldCost]) -> int:
        """Bytes of the JSON columns' values and, if one of them is logged as diffs, of the partial bits."""
        partial = any(size < cost.whole for size, cost in zip(taken, documents, strict=True))
        return sum(taken) + (self.bits if partial else 0)


def _image(sizes: Mapping[int, int]) -> int:
    """Bytes of an image: null bits and values."""
    return bitmap_size(len(sizes)) + sum(sizes.values())


def _chosen(sizes: Mapping[int, int], columns: Sequence[int] | None) -> Mapping[int, int]:
    return sizes if columns is None else {index: sizes[index] for index in columns if index in sizes}


class Packing:
    """How rows of a statement share events (binlog-events 10.1): the rule of :func:`split_rows`, from sizes alone."""

    __slots__ = ("_base", "_limit", "_sizes")

    def __init__(self, base: int, limit: int = 8192) -> None:
        self._base = base
        self._limit = limit
        self._sizes: dict[object, int] = {}

    def starts(self, variant: object, size: int) -> bool:
        """Add a row; return whether it is the first of an event."""
        filled = self._sizes.get(variant)
        if filled is None or filled + size > self._limit:
            self._sizes[variant] = self._base + size
            return True
        self._sizes[variant] = filled + size
        return False
