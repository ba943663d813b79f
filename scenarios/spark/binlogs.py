"""``spark.read.format("mysql-binlog").load(path)``: row changes or events of binary logs as a DataFrame.

    from scenarios.spark.binlogs import register

    register(spark)
    changes = spark.read.format("mysql-binlog").option("tables", "shop.*").load("/var/lib/mysql/binlog.*")

A part of a file is a partition, and each task reads its part alone. Filters on schema, table, operation, event and
timestamp are pushed down (Spark 4.1). Spark does not tell a Python source which columns a query needs: the option
``columns`` or a schema of some columns does. ``readStream`` follows a growing log (:mod:`.stream`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from scenarios.binlogs.files import find_logs
from scenarios.binlogs.options import Field, Layout, OptionError, parse_options
from scenarios.binlogs.parts import Part, parts_of
from scenarios.binlogs.rows import columns_of, selected
from scenarios.binlogs.tables import fields_in
from scenarios.spark.batches import read_batches
from scenarios.spark.pushed import conditions_of
from scenarios.spark.ship import prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from scenarios.binlogs.options import Options
    from scenarios.spark.stream import BinlogStream

NAME: Final = "mysql-binlog"
_ENABLED: Final = "spark.sql.python.filterPushdown.enabled"
_PUSHES: Final = (4, 1)  # the first Spark that gives filters to sources in Python
_STREAMS: Final = (4, 2)  # the first that tells a stream's source where it is


def register(spark: SparkSession, *, push_filters: bool = True) -> None:
    """Make ``mysql-binlog`` known to a session, also one of Spark Connect; executors elsewhere get the package.

    Filters are pushed down where Spark can, which needs a setting of the session; ``push_filters=False`` leaves it.
    """
    prepare(spark)
    pushes = push_filters and _version(spark.version) >= _PUSHES
    if pushes:
        spark.conf.set(_ENABLED, "true")
    spark.dataSource.register(FilteringBinlog if pushes else MysqlBinlog)


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


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
        options = parse_options(self.options)
        if options.layout is Layout.TYPED:
            options = replace(options, fields=fields_in(files_of(options), options))
        return schema_of(options)

    def reader(self, schema: StructType) -> BinlogReader:
        return BinlogReader(with_schema(parse_options(self.options), schema))

    def streamReader(self, schema: StructType) -> BinlogStream:  # noqa: N802 - Spark's name
        import pyspark

        from scenarios.spark.stream import BinlogStream

        if _version(pyspark.__version__) < _STREAMS:
            raise OptionError(f"readStream: expected Spark 4.2 or newer, got {pyspark.__version__}")
        return BinlogStream(with_schema(parse_options(self.options), schema))


class FilteringBinlog(MysqlBinlog):
    """The source for sessions that push filters down; Spark refuses it in others."""

    def reader(self, schema: StructType) -> FilteringReader:
        return FilteringReader(with_schema(parse_options(self.options), schema))


class BinlogReader(DataSourceReader):
    """Plans partitions on the driver, reads them in tasks."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def partitions(self) -> list[BinlogPartition]:
        """The parts of all files; an unreadable file is a part too, whose reader reports it."""
        options = self.options
        return [BinlogPartition(part) for file in files_of(options) for part in parts_of(file, options.split_bytes)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, BinlogPartition)
        return read_batches(partition.part, self.options)


class FilteringReader(BinlogReader):
    """A reader that leaves out what the query does not want before it decodes rows."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        self.options = replace(self.options, conditions=conditions_of(filters))
        return filters


def files_of(options: Options) -> list[str]:
    """The files of all paths. Names are absolute: executors have working directories of their own."""
    return sorted({str(Path(file).absolute()) for path in options.paths for file in find_logs(path)})


def schema_of(options: Options) -> str:
    """The schema for Spark."""
    columns = columns_of(options)
    return ", ".join(f"`{name}` {kind}" for name, kind in [columns[place] for place in selected(options)])


def with_schema(options: Options, schema: StructType) -> Options:
    """The options for a schema of Spark: that of :func:`schema_of`, or one that a user gave, of some columns."""
    typed = ("before", "after") if options.layout is Layout.TYPED else ()
    if typed:
        options = replace(options, fields=_fields(schema))
    known = dict(columns_of(options))
    for given in schema.fields:
        kind = known.get(given.name)
        if kind is None or (given.name not in typed and given.dataType.simpleString() != _plain(kind)):
            raise OptionError(
                f"a schema of one's own: expected some of {', '.join(known)}, with their types;"
                f" got {given.name} {given.dataType.simpleString()}"
            )
    return replace(options, columns=tuple(schema.fieldNames()))


def _fields(schema: StructType) -> tuple[Field, ...]:
    """The columns of the table, from the schemas of its images."""
    images = [
        tuple(Field(item.name, item.dataType.simpleString().upper()) for item in getattr(given.dataType, "fields", ()))
        for given in schema.fields
        if given.name in ("before", "after")
    ]
    if len(set(images)) > 1 or () in images:
        raise OptionError("a schema of one's own: expected before and after with the same columns of the table")
    return images[0] if images else ()


def _plain(kind: str) -> str:
    """A type as Spark writes it in short."""
    return kind.lower().replace(": ", ":").replace(", ", ",")
