"""Binary logs on any file system that Spark can read: HDFS, object stores, whatever Hadoop has a driver for.

    from scenarios.spark.hadoop import read_binlogs

    changes = read_binlogs(spark, "s3a://archive/binlogs/*", tables="shop.*")

A source in Python has no way to Hadoop's file systems. So Spark reads the files, with its own settings and credentials.
One task takes a whole file, of at most 2 GB, into the memory of its executor for a moment; larger files than a
partition it cuts, and Spark spreads the parts.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.logs.parts import Part, parts_of
from conformance.logs.paths import INDEX
from conformance.logs.rows.options import Field, Layout
from conformance.logs.rows.tables import fields_in, forms_in
from conformance.reference.binlog.header import HEADER, HEADER_SIZE, MAGIC
from conformance.reference.event_types import EventType
from scenarios.spark.batches import Stat, read_batches
from scenarios.spark.options import parse_options
from scenarios.spark.reports import Problems, Reporter, in_a_sentence
from scenarios.spark.schemas import schema_of
from scenarios.spark.session import is_connect
from scenarios.spark.ship import our_python, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.rows.options import Options

_FILE: Final = ("path", "length", "unix_micros(modificationTime) AS modified", "content")
_WHOLE: Final = ("CAST(NULL AS BIGINT) AS start", "CAST(NULL AS BIGINT) AS stop", "CAST(NULL AS BINARY) AS head")
_PIECES: Final = "path STRING, length BIGINT, modified BIGINT, start BIGINT, stop BIGINT, head BINARY, content BINARY"


def read_binlogs(spark: Any, path: str, **options: str) -> Any:
    """A DataFrame of the logs that a path or a pattern of Spark names, with the options of the data source."""
    parsed = parse_options({"path": path, **options})
    prepare(spark)
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", str(parsed.recursive))
    if parsed.name_filter is not None:
        reader = reader.option("pathGlobFilter", parsed.name_filter)
    files = reader.load(path).where(f"NOT endswith(path, '{INDEX}')")
    reporter = Reporter(None if is_connect(spark) else Problems(spark).accumulator)
    with our_python(spark):
        if parsed.layout is Layout.TYPED:
            found = files.select("path", "content").mapInArrow(_Forms(parsed), "path STRING, forms STRING")
            forms = [form for row in found.orderBy("path").collect() for form in json.loads(row["forms"])]
            fields = fields_in((name, tuple(Field(*item) for item in columns)) for name, columns in forms)
            parsed = replace(parsed, fields=fields)
        read, schema = _Read(parsed, reporter), schema_of(parsed)
        size = parsed.split_bytes
        parts, whole = files.selectExpr(f"sum(ceil(length / {size}))", "count(*)").first()
        if not whole or parts <= whole:
            return files.selectExpr(*_FILE[:3], *_WHOLE, "content").mapInArrow(read, schema)
        pieces = files.selectExpr(*_FILE).mapInArrow(_Cut(size), _PIECES)
        return pieces.repartition(int(parts)).mapInArrow(read, schema)


@contextmanager
def _copied(content: Any) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="binlog-lab-") as copy:
        copy.write(content.as_buffer())
        copy.flush()
        yield copy.name


class _Forms:
    """A function for ``mapInArrow``: names and contents of files in, the forms of their tables out."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for name, content in zip(*batch.columns, strict=True):
                with _copied(content) as file:
                    forms = json.dumps(forms_in(file, self.options))
                yield pa.RecordBatch.from_pydict({"path": [name.as_py()], "forms": [forms]})


class _Cut:
    """A function for ``mapInArrow``: names and contents of files in, their parts out, each with the log's beginning."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        numbers = [(name, pa.int64()) for name in ("length", "modified", "start", "stop")]
        schema = pa.schema([("path", pa.string()), *numbers, ("head", pa.binary()), ("content", pa.binary())])
        for batch in batches:
            for name, length, modified, content in zip(*batch.columns, strict=True):
                data = content.as_buffer()
                with _copied(content) as file:
                    parts = parts_of(file, self.size)
                for part in parts:
                    inside = data.slice(part.start or 0, (part.stop or data.size) - (part.start or 0))
                    head = None if part.start is None else _beginning(data)
                    stat = (name.as_py(), length.as_py(), modified.as_py())
                    row = (*stat, part.start, part.stop, head, inside.to_pybytes())
                    arrays = [pa.array([value], kind.type) for value, kind in zip(row, schema, strict=True)]
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _beginning(data: Any) -> bytes:
    """The magic number and the FORMAT_DESCRIPTION of a log that could be cut."""
    length = HEADER.unpack_from(data, len(MAGIC))[3]
    return bytes(data.slice(0, len(MAGIC) + length))


class _Read:
    """A function for ``mapInArrow``: files or parts of them in, rows out."""

    def __init__(self, options: Options, reporter: Reporter) -> None:
        self.options = options
        self.reporter = reporter

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for name, length, modified, start, stop, head, content in zip(*batch.columns, strict=True):
                with tempfile.NamedTemporaryFile(prefix="binlog-lab-") as copy:
                    first = start.as_py()
                    if first is not None:
                        copy.write(_filled(head.as_py(), first))
                        copy.seek(first)
                    copy.write(content.as_buffer())
                    copy.flush()
                    part = Part(copy.name, first, stop.as_py(), shown=name.as_py())
                    stat = Stat(length.as_py(), modified.as_py())
                    with in_a_sentence():
                        yield from read_batches(part, self.options, self.reporter, stat)


def _filled(head: bytes, start: int) -> bytes:
    """The beginning of a copy that has a part alone, at its place: the header of one event fills the gap before it, so
    that headers lead to the part, as in the log.
    """
    gap = start - len(head)
    if gap < HEADER_SIZE:
        return head
    return head + HEADER.pack(0, EventType.IGNORABLE, 0, gap, start & 0xFFFFFFFF, 0)
