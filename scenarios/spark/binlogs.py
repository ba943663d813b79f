"""``spark.read.format("mysql-binlog").load(path)``: row changes or events of binary logs as a DataFrame.

    from scenarios.spark.binlogs import register

    register(spark)
    changes = spark.read.format("mysql-binlog").option("tables", "shop.*").load("/var/lib/mysql/binlog.*")

A part of a file is a partition, and each task reads its part alone. Filters are not pushed down (Spark refuses sources
that could, unless a setting allows it); the options ``types``, ``tables`` and ``body`` do it at the source.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from scenarios.binlogs.files import find_logs
from scenarios.binlogs.options import OptionError, parse_options
from scenarios.binlogs.parts import Part, parts_of
from scenarios.binlogs.rows import columns_of, read_rows
from scenarios.spark.ship import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from scenarios.binlogs.options import Options
    from scenarios.binlogs.rows import Values

NAME: Final = "mysql-binlog"
ROWS: Final = 10_000  # the most rows of a batch
_CONTENTS: Final = frozenset(("before", "after", "body", "documents"))
_FIXED: Final = 10  # bytes of a column besides what its text and bytes have: a number, or an offset, and a validity bit
LARGEST: Final = (1 << 31) - (1 << 16)  # bytes of a row: what Arrow and Spark can hold
_STRUCT: Final = pa.struct([("code", pa.string()), ("message", pa.string())])
_DOCUMENT: Final = pa.struct(
    [("column", pa.string()), ("before", pa.binary()), ("after", pa.binary()), ("diffs", pa.binary())]
)
_VARIANT: Final = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
_TYPES: Final = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "BINARY": pa.binary(),
    "VARIANT": _VARIANT,
    "STRUCT": _STRUCT,
    "ARRAY": pa.list_(_DOCUMENT),
}


def register(spark: SparkSession) -> None:
    """Make ``mysql-binlog`` known to a session, also one of Spark Connect; executors elsewhere get the package."""
    prepare(spark)
    spark.dataSource.register(MysqlBinlog)


class BinlogPartition(InputPartition):
    """The part that a task reads."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part = part


class MysqlBinlog(DataSource):
    """The data source: :mod:`scenarios.binlogs.options` has its options."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        """The schema that the options select; this method also validates the options first."""
        return schema_of(parse_options(self.options))

    def reader(self, schema: StructType) -> BinlogReader:
        options = parse_options(self.options)
        expected = [name for name, _ in columns_of(options)]
        if schema.fieldNames() != expected:
            raise OptionError(f"a schema of one's own: expected the columns {', '.join(expected)}, or none")
        return BinlogReader(options)


class BinlogReader(DataSourceReader):
    """Plans partitions on the driver, reads them in tasks."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def partitions(self) -> list[BinlogPartition]:
        """The parts of all files; an unreadable file is a part too, whose reader reports it.

        Names are absolute: executors have working directories of their own.
        """
        options = self.options
        files = sorted({str(Path(file).absolute()) for path in options.paths for file in find_logs(path)})
        return [BinlogPartition(part) for file in files for part in parts_of(file, options.split_bytes)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, BinlogPartition)
        return read_batches(partition.part, self.options)


def schema_of(options: Options) -> str:
    """The schema for Spark."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns_of(options))


def read_batches(part: Part, options: Options) -> Iterator[pa.RecordBatch]:
    """The rows of a part in batches of at most ``batch_bytes``, and at least one row."""
    columns = columns_of(options)
    schema = pa.schema([(name, _TYPES[kind.split("<")[0]]) for name, kind in columns])
    apart = next((index for index, (name, _) in enumerate(columns) if name == "documents"), None)
    images = [index for index, (_, kind) in enumerate(columns) if kind == "VARIANT"]
    fixed = _FIXED * len(columns)
    rows: list[Values] = []
    size = 0
    for row in read_rows(part, options):
        length = fixed + sum([len(value) for value in row if type(value) is bytes])
        if apart is not None:
            length += sum([len(value or b"") + _FIXED for document in row[apart] or () for value in document])
        if length > LARGEST:
            row, length = _without_contents(row, columns, length), fixed
        if rows and (size + length > options.batch_bytes or len(rows) == ROWS):
            yield _batch(rows, schema)
            rows, size = [], 0
        rows.append(_as_variant(row, images) if images else row)
        size += length
    if rows:
        yield _batch(rows, schema)


def _batch(rows: list[Values], schema: pa.Schema) -> pa.RecordBatch:
    columns: list[Any] = []
    for field, values in zip(schema, zip(*rows, strict=True), strict=True):
        columns.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _without_contents(row: Values, columns: tuple[tuple[str, str], ...], length: int) -> Values:
    """A row that is too large for Spark, with the reason instead of its contents."""
    values = [None if name in _CONTENTS else value for (name, _), value in zip(columns, row, strict=True)]
    values[-1] = (b"too-large", f"the row has {length} bytes; expected at most {LARGEST}".encode())
    return tuple(values)


def _as_variant(row: Values, images: list[int]) -> Values:
    """The row with its images as Spark's VARIANT. An image without such a form (16 MB is its limit) becomes null, with
    the reason.
    """
    from pyspark.sql.types import VariantVal

    values = list(row)
    for index in images:
        if row[index] is None:
            continue
        try:
            found = VariantVal.parseJson(row[index].decode())
            values[index] = (found.value, found.metadata)
        except Exception as error:  # noqa: BLE001 - of several kinds, and Spark's own
            values[index] = None
            values[-1] = (b"no-variant", f"an image of {len(row[index])} bytes has no VARIANT: {error}".encode())
    return tuple(values)
