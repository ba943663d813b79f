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
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.extras import to_install

if find_spec("pyspark") is None:
    raise ModuleNotFoundError(
        f"scenarios.spark.binlogs needs Spark, the extra spark: {to_install('spark')}", name="pyspark"
    )

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from conformance.logs.parts import Part, parts_of
from conformance.logs.rows.options import PARTITION, Content, Layout, OptionError
from conformance.logs.rows.tables import fields_in, forms_in
from conformance.logs.rows.tuples import look_through, require_log
from scenarios.spark.batches import read_batches
from scenarios.spark.options import parse_options
from scenarios.spark.pushed import conditions_of
from scenarios.spark.reports import Problems, Reporter, in_a_sentence
from scenarios.spark.schemas import BinlogPartition, files_of, schema_of, with_schema
from scenarios.spark.session import is_connect
from scenarios.spark.ship import our_python, prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from conformance.logs.rows.options import Options
    from scenarios.spark.stream import BinlogStream

NAME: Final = "mysql-binlog"
_PARTITION: Final = "spark.sql.files.maxPartitionBytes"
_ENABLED: Final = "spark.sql.python.filterPushdown.enabled"
_PUSHES: Final = (4, 1)  # the first Spark that gives filters to sources in Python
_STREAMS: Final = (4, 2)  # the first that tells a stream's source where it is


def register(spark: SparkSession, *, push_filters: bool = True) -> Problems | None:
    """Make ``mysql-binlog`` known to a session, also one of Spark Connect; executors elsewhere get the package.

    Filters are pushed down where Spark can, which needs a setting of the session; ``push_filters=False`` leaves it. The
    answer lists the problems that queries meet; ``None`` with Spark Connect, where the tasks log them.
    """
    prepare(spark)
    pushes = push_filters and _version(spark.version) >= _PUSHES
    if pushes:
        spark.conf.set(_ENABLED, "true")
    problems = None if is_connect(spark) else Problems(spark)
    # A class of this session, which Spark ships as it is: with the session's accumulator and its setting.
    base = FilteringBinlog if pushes else MysqlBinlog
    own = {"accumulator": problems and problems.accumulator, "partition": spark.conf.get(_PARTITION, None)}
    with our_python(spark):
        spark.dataSource.register(type(base.__name__, (base,), own))
    return problems


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


class MysqlBinlog(DataSource):
    """The data source: :mod:`conformance.logs.rows.options` has its options."""

    accumulator: Any = None
    partition: str | None = None

    @classmethod
    def name(cls) -> str:
        return NAME

    @in_a_sentence()
    def schema(self) -> str:
        """The schema that the options select; this method also validates the options first."""
        options = self.parsed()
        if options.layout is Layout.TYPED:
            forms = (form for file in files_of(options) for form in forms_in(file, options))
            options = replace(options, fields=fields_in(forms))
        return schema_of(options)

    def parsed(self, *, streams: bool = False) -> Options:
        """The options, with the session's size of a partition."""
        given = dict(self.options)
        if self.partition is not None and not {"splitbytes", "maxpartitionbytes"} & set(map(str.lower, given)):
            given["maxPartitionBytes"] = self.partition
        return parse_options(given, streams=streams)

    @in_a_sentence()
    def reader(self, schema: StructType) -> BinlogReader:
        return BinlogReader(with_schema(self.parsed(), schema), self.accumulator)

    @in_a_sentence()
    def streamReader(self, schema: StructType) -> BinlogStream:  # noqa: N802 - Spark's name
        import pyspark

        from scenarios.spark.stream import BinlogStream

        if _version(pyspark.__version__) < _STREAMS:
            raise OptionError(f"readStream: expected Spark 4.2 or newer, got {pyspark.__version__}")
        return BinlogStream(with_schema(self.parsed(streams=True), schema), self.accumulator)


class FilteringBinlog(MysqlBinlog):
    """The source for sessions that push filters down; Spark refuses it in others."""

    @in_a_sentence()
    def reader(self, schema: StructType) -> FilteringReader:
        return FilteringReader(with_schema(self.parsed(), schema), self.accumulator)


class BinlogReader(DataSourceReader):
    """Plans partitions on the driver, reads them in tasks."""

    def __init__(self, options: Options, accumulator: Any = None) -> None:
        self.options = options
        self.reporter = Reporter(accumulator)

    @in_a_sentence()
    def partitions(self) -> list[BinlogPartition]:
        """The parts of all files. A file that is no log ends the query here, before a task reads another one.

        Small logs are looked through here, so that no query on them is silent: one that ``limit`` stops tells nothing.
        """
        options = self.options
        files = files_of(options)
        for file in files:
            require_log(file, options)
        if options.content is not Content.PROBLEMS and sum(Path(file).stat().st_size for file in files) <= PARTITION:
            for part in map(Part, files):
                self.reporter.send(part, options, look_through(part, options), planned=True)
        return [BinlogPartition(part) for file in files for part in parts_of(file, options.split_bytes)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, BinlogPartition)
        with in_a_sentence():
            yield from read_batches(partition.part, self.options, self.reporter)


class FilteringReader(BinlogReader):
    """A reader that leaves out what the query does not want before it decodes rows."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        self.options = replace(self.options, conditions=conditions_of(filters))
        return filters
