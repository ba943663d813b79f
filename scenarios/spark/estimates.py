"""The estimate on Spark: logs through the data source ``mysql-binlog``, figures by Spark SQL.

Every task has a part of a log: its events in order, with the TABLE_MAPs that its rows need. The module keeps the tasks'
output, because each question reads all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.header import HEADER, HEADER_SIZE, Checksum, Header
from conformance.reference.event_types import EventType
from scenarios.estimate.meter import TEXTS, Measurement, Meter
from scenarios.estimate.questions import TABLE, Figures, figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PART: Final = "32m"  # bytes of a log that a task reads
BATCH: Final = 2000  # measurements
_READ: Final = (
    "file", "position", "inner", "event", "type", "timestamp", "server_id", "size", "log_pos", "flags", "checksum",
    "body", "problem",
)  # fmt: skip


_SOURCE: Final = {"content": "events", "body": "true", "problems": "rows", "timestampType": "bigint"}


def ddl() -> str:
    """The schema of a measurement for Spark."""
    return ", ".join(f"`{name}` {'STRING' if name in TEXTS else 'BIGINT'}" for name in Measurement._fields)


def estimate(spark: Any, files: Sequence[str], *, part: str = PART, limit: int | None = None) -> Figures:
    """The figures of these logs, which driver and executors must be able to read. ``limit``: the most bytes of a
    compressed transaction.
    """
    from scenarios.spark.binlogs import NAME, register

    register(spark)
    source = spark.read.format(NAME).options(**_SOURCE).option("maxPartitionBytes", part)
    if limit is not None:
        source = source.option("maxUncompressed", str(limit))
    measured = source.load(list(files)).select(*_READ).mapInArrow(measure_events, ddl()).cache()
    measured.createOrReplaceTempView(TABLE)
    try:
        return figures(lambda text: [tuple(row) for row in spark.sql(text).collect()])
    finally:
        spark.catalog.dropTempView(TABLE)
        measured.unpersist()


def measure_events(batches: Iterator[Any]) -> Iterator[Any]:
    """The function for ``mapInArrow``: the events of one part in, its measurements out."""
    import pyarrow as pa

    types = [(name, pa.string() if name in TEXTS else pa.int64()) for name in Measurement._fields]
    schema = pa.schema(types)

    def batch(found: list[Measurement]) -> Any:
        columns = zip(schema, zip(*found, strict=True), strict=True)
        return pa.RecordBatch.from_arrays([pa.array(values, field.type) for field, values in columns], schema=schema)

    waiting: list[Measurement] = []
    for item in _measurements(row for events in batches for row in events.to_pylist()):
        waiting.append(item)
        if len(waiting) == BATCH:
            yield batch(waiting)
            waiting = []
    if waiting:
        yield batch(waiting)


def _measurements(rows: Iterable[Mapping[str, Any]]) -> Iterator[Measurement]:
    meters: dict[str, Meter] = {}
    decoder = EventDecoder(algorithm=Checksum.NONE, verify=False)
    for row in rows:
        meter = meters.get(row["file"])
        if meter is None:
            meter = meters[row["file"]] = Meter(row["file"])
            decoder = EventDecoder(algorithm=Checksum.NONE, verify=False)
        if row["problem"] is not None:
            yield meter.problem(row["position"], row["problem"]["code"], row["problem"]["message"])
            continue
        inner = row["inner"]
        if row["type"] == EventType.FORMAT_DESCRIPTION:  # says of checksums what is not so of these bodies
            meter.count(row["event"], row["size"], inside=inner is not None)
            continue
        header = Header(row["timestamp"], row["type"], row["server_id"], row["size"], row["log_pos"], row["flags"])
        body = row["body"]
        event = decoder.decode(HEADER.pack(*header._replace(length=HEADER_SIZE + len(body))) + body, row["position"])
        yield from meter.feed(event._replace(header=header, checksum=row["checksum"], inner=inner))
    for meter in meters.values():
        yield from meter.finish()
