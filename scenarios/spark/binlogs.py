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
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from conformance.logs.parts import parts_of
from conformance.logs.rows.options import Layout, OptionError
from conformance.logs.rows.tables import fields_in
from scenarios.spark.batches import read_batches
from scenarios.spark.options import parse_options
from scenarios.spark.pushed import conditions_of
from scenarios.spark.schemas import BinlogPartition, files_of, schema_of, with_schema
from scenarios.spark.ship import prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from conformance.logs.rows.options import Options
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


class MysqlBinlog(DataSource):
    """The data source: :mod:`conformance.logs.rows.options` has its options."""

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
