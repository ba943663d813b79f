"""``spark.readStream.format("mysql-binlog")``: the logs of a server as they grow and rotate.

An offset is a file's name, a position, and the last GTID before it. Spark writes the end of each batch into its
checkpoint before it reads the batch, and reads the same bytes again after a failure: no row is lost or comes twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, SupportsTriggerAvailableNow

from conformance.logs.following import Logs, Offset
from scenarios.spark.batches import read_batches
from scenarios.spark.reports import Reporter, in_a_sentence
from scenarios.spark.schemas import BinlogPartition, files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

    from conformance.logs.rows.options import Options


class BinlogStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets on the driver, parts between them in tasks."""

    def __init__(self, options: Options, accumulator: Any = None) -> None:
        self.options = replace(options, follows=True)
        self.reporter = Reporter(accumulator)
        self.until: Offset | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names
        return self._logs().start(self.options.starting_offset)._asdict()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self.options.bytes_per_trigger
        return ReadAllAvailable() if most is None else ReadMaxBytes(most)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        logs, begin = self._logs(), Offset(**start)
        most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        end = logs.latest(begin, most)
        return (end if self.until is None else min(end, self.until, key=logs.place))._asdict()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        logs = self._logs()
        self.until = logs.latest(logs.start("latest"))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[BinlogPartition]:
        parts = self._logs().parts(Offset(**start), Offset(**end), self.options.split_bytes)
        return [BinlogPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, BinlogPartition)
        with in_a_sentence():
            yield from read_batches(partition.part, self.options, self.reporter)

    def _logs(self) -> Logs:
        return Logs(files_of(self.options))
