"""Rows of binary logs as Arrow batches in Spark's types, bounded by bytes."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from conformance.logs.rows.options import Content, Documents, Layout
from conformance.logs.rows.tuples import METADATA, Work, all_columns, columns_of, read_rows, selected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.logs.parts import Part
    from conformance.logs.rows.options import Options
    from conformance.logs.rows.tuples import Values
    from scenarios.spark.reports import Reporter

ROWS: Final = 10_000  # the most rows of a batch
_CONTENTS: Final = frozenset(("before", "after", "body", "documents", "diffs", "logged"))
_FIXED: Final = 10  # bytes of a column besides what its text and bytes have: a number, or an offset, and a validity bit
LARGEST: Final = (1 << 31) - (1 << 16)  # bytes of a row: what Arrow and Spark can hold
_NAMES: Final = pa.list_(pa.string())
_VARIANT: Final = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
_TYPES: Final = {
    "STRING": pa.string(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "BINARY": pa.binary(),
    "BOOLEAN": pa.bool_(),
    "VARIANT": _VARIANT,
}
_NESTED: Final = {
    "problem": pa.struct([("code", pa.string()), ("message", pa.string())]),
    "documents": pa.list_(
        pa.struct([("column", pa.string()), ("before", pa.binary()), ("after", pa.binary()), ("diffs", pa.binary())])
    ),
    "diffs": pa.list_(
        pa.struct([("column", pa.string()), ("operation", pa.string()), ("path", pa.string()), ("value", pa.string())])
    ),
    "logged": pa.struct([("before", _NAMES), ("after", _NAMES)]),
    METADATA: pa.struct(
        [
            *(("file_path", pa.string()), ("file_name", pa.string()), ("file_size", pa.int64())),
            *(("file_block_start", pa.int64()), ("file_block_length", pa.int64())),
            ("file_modification_time", pa.timestamp("us", tz="UTC")),
        ]
    ),
}
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")


class Stat(NamedTuple):
    """The size of a file in bytes, and the microseconds since 1970 of its last change."""

    size: int
    modified: int


def read_batches(
    part: Part, options: Options, reporter: Reporter | None = None, stat: Stat | None = None
) -> Iterator[pa.RecordBatch]:
    """The selected columns of a part's rows in batches of at most ``batch_bytes``, and at least one row. ``stat``: that
    of the log, where a part's file is a copy.
    """
    columns = columns_of(options)
    variants = _Variants(options, columns)
    chosen = _Chosen(part, options, stat)
    apart = [index for index, (name, _) in enumerate(columns) if name in ("documents", "diffs")]
    fixed = _FIXED * (len(columns) + 2 * len(options.fields))
    rows: list[Values] = []
    size = 0
    work = Work()
    without_value = _WithoutValue(columns)
    for row in read_rows(part, options, work):
        length = fixed + sum([len(value) if type(value) is bytes else _inside(value) for value in row])
        for index in apart:
            length += sum([_of_item(item) for item in row[index] or ()])
        if length > LARGEST:
            row, length = _without_contents(row, columns, length), fixed
        if rows and (size + length > options.batch_bytes or len(rows) == ROWS):
            yield chosen.batch(rows)
            rows, size = [], 0
        row = variants.of(row)
        without_value.look(row)
        rows.append(row)
        size += length
    if rows:
        yield chosen.batch(rows)
    if reporter is not None and options.content is not Content.PROBLEMS:
        reporter.send(part, options, work.problems, without_value.count, without_value.first)
    if options.metrics is not None:
        _note(part, options.metrics, work)


def _inside(value: Any) -> int:
    """Bytes of the texts of an image with columns of its own."""
    if type(value) is not dict:
        return 0
    return sum([len(item) for item in value.values() if type(item) in (bytes, str, list)])


def _of_item(item: Any) -> int:
    values = item.values() if type(item) is dict else item
    return sum([len(value or b"") + _FIXED for value in values])


def _without_contents(row: Values, columns: tuple[tuple[str, str], ...], length: int) -> Values:
    """A row that is too large for Spark, with the reason instead of its contents."""
    values = [None if name in _CONTENTS else value for (name, _), value in zip(columns, row, strict=True)]
    values[-1] = (b"too-large", f"the row has {length} bytes; expected at most {LARGEST}".encode())
    return tuple(values)


def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type of a plain type of Spark SQL."""
    decimal = _DECIMAL.fullmatch(kind)
    return pa.decimal128(int(decimal[1]), int(decimal[2])) if decimal else _TYPES[kind]


class _WithoutValue:
    """Counts the rows whose ``problem`` is about a value; the first stands for all."""

    def __init__(self, columns: tuple[tuple[str, str], ...]) -> None:
        names = [name for name, _ in columns]
        self.event = names.index("event") if names[-1] == "problem" else None
        self.count = 0
        self.first: str | None = None

    def look(self, row: Values) -> None:
        """Count a row, if it is one. The rows of damage have no event."""
        if self.event is None or row[-1] is None or row[self.event] is None:
            return
        self.count += 1
        self.first = self.first or f"{row[-1][1].decode()} at offset {row[1]}"


class _Chosen:
    """Batches of the selected columns."""

    def __init__(self, part: Part, options: Options, stat: Stat | None) -> None:
        self.part = part
        self.columns = columns = all_columns(options)
        self.width = len(columns_of(options))
        places = selected(options)
        wanted = METADATA in [columns[place][0] for place in places]
        self.metadata = _metadata(part, stat) if wanted else None
        self.pick = itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],) if places else ()
        image = pa.struct([(field.name, arrow_type(field.kind)) for field in options.fields])
        nested = _NESTED | ({"before": image, "after": image} if options.layout is Layout.TYPED else {})
        self.schema = pa.schema(
            [(name, nested.get(name) or arrow_type(kind)) for name, kind in map(columns.__getitem__, places)]
        )

    def batch(self, rows: list[Values]) -> pa.RecordBatch:
        values = tuple(zip(*rows, strict=True))
        columns: Iterable[Any] = self.pick((*values, *self._added(rows)))
        arrays = [pa.array(values, field.type) for field, values in zip(self.schema, columns, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _added(self, rows: list[Values]) -> Iterator[Any]:
        """The columns that are in no tuple."""
        for name, _ in self.columns[self.width :]:
            if name == METADATA:
                yield [self.metadata] * len(rows)
            else:
                yield [f"{self.part.name}: {row[-1][1].decode()}" if row[-1] else None for row in rows]


def _metadata(part: Part, stat: Stat | None) -> dict[str, Any]:
    """The file of a part, and the part as its block, in the words of Spark's own ``_metadata``."""
    if stat is None:
        found = Path(part.file).stat()
        stat = Stat(found.st_size, found.st_mtime_ns // 1000)
    start = part.start or 0
    return {
        "file_path": part.name if part.shown is not None else Path(part.name).as_uri(),
        "file_name": part.name.rpartition("/")[2],
        "file_size": stat.size,
        "file_block_start": start,
        "file_block_length": (stat.size if part.stop is None else part.stop) - start,
        "file_modification_time": stat.modified,
    }


class _Variants:
    """Rows with documents as Spark's VARIANT. A text without such a form (16 MB is its limit) becomes null, with the
    reason.
    """

    def __init__(self, options: Options, columns: tuple[tuple[str, str], ...]) -> None:
        typed = options.layout is Layout.TYPED
        wanted = options.documents is Documents.VARIANT
        self.images = [i for i, (name, _) in enumerate(columns) if wanted and name in ("before", "after")]
        self.fields = [field.name for field in options.fields if field.kind == "VARIANT"] if typed else None

    def of(self, row: Values) -> Values:
        if not self.images:
            return row
        values = list(row)
        for index in self.images:
            image = row[index]
            if image is None:
                continue
            if self.fields is None:
                values[index] = self._variant(image.decode(), values, "an image")
            else:
                values[index] = image | {
                    name: self._variant(image[name], values, f"column {name}")
                    for name in self.fields
                    if image.get(name) is not None
                }
        return tuple(values)

    def _variant(self, text: str, values: list[Any], what: str) -> tuple[bytes, bytes] | None:
        from pyspark.sql.types import VariantVal

        try:
            found = VariantVal.parseJson(text)
            return found.value, found.metadata
        except Exception as error:  # noqa: BLE001 - of several kinds, and Spark's own
            size = len(text.encode())
            values[-1] = (b"no-variant", f"{what} of {size} bytes has no VARIANT: {error}".encode())
            return None


def _note(part: Part, folder: str, work: Work) -> None:
    """Leave what a task did as a file of its own; a task that runs again replaces it."""
    name = sha256(repr((part.name, part.start, part.stop)).encode()).hexdigest()[:20]
    record = {"file": part.name, "start": part.start, "stop": part.stop}
    text = json.dumps(record | {"bytes_read": work.read, "bytes_decoded": work.decoded, "rows": work.rows})
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.json").write_text(text + "\n", "utf-8")
