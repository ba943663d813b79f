"""Binary logs on any file system that Spark can read: HDFS, object stores, whatever Hadoop has a driver for.

    from scenarios.spark.hadoop import read_binlogs

    changes = read_binlogs(spark, "s3a://archive/binlogs/*", tables="shop.*")

A source in Python has no way to Hadoop's file systems. So Spark reads the files, with its own settings and credentials,
and each task takes whole files. A file has at most 2 GB, and all of it is in the memory of an executor for a moment.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from conformance.logs.parts import Part
from conformance.logs.paths import INDEX
from conformance.logs.rows.options import Layout, OptionError
from scenarios.spark.batches import read_batches
from scenarios.spark.options import parse_options
from scenarios.spark.schemas import schema_of
from scenarios.spark.ship import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.rows.options import Options


def read_binlogs(spark: Any, path: str, **options: str) -> Any:
    """A DataFrame of the logs that a path or a pattern of Spark names, with the options of the data source.

    Without ``splitBytes`` and typed rows: both need to read a file before the tasks do.
    """
    parsed = parse_options({"path": path, **options})
    if parsed.layout is not Layout.ANY or parsed.split_bytes is not None:
        raise OptionError("read_binlogs: has neither splitBytes nor schema=typed; got one of them")
    prepare(spark)
    files = spark.read.format("binaryFile").load(path).where(f"NOT endswith(path, '{INDEX}')")
    return files.select("path", "content").mapInArrow(_Read(parsed), schema_of(parsed))


class _Read:
    """The function for ``mapInArrow``: names and contents of files in, rows out."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            names, contents = batch.columns
            for name, content in zip(names, contents, strict=True):
                with tempfile.NamedTemporaryFile(prefix="binlog-lab-") as copy:
                    copy.write(content.as_buffer())
                    copy.flush()
                    yield from read_batches(Part(copy.name, shown=name.as_py()), self.options)
