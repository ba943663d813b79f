"""Records to CSV, or to a file of Apache Parquet, under one list of names."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from conformance.extras import to_install
from conformance.user_errors import CouldNotRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from conformance.console import Output

_MANY: Final = 10_000  # records of a row group
EXTRA: Final = "parquet"
_TO_QUOTE: Final = frozenset(',"\r\n')  # characters for which a name stands in quotes


class Absent(Enum):
    """A value that does not exist: a column that is not in the image, a GTID where there is none."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
Value: TypeAlias = str | int | float | Absent | None


class Kind(Enum):
    """The type of a column in Parquet."""

    TEXT = "string"
    INTEGER = "int64"
    UNSIGNED = "uint64"
    FLOAT = "float64"


class Records(Protocol):
    """Records in, bytes out."""

    def add(self, values: Sequence[Value]) -> None:
        """Write one record."""
        ...

    def close(self) -> None:
        """Write the end."""
        ...


class CsvRecords:
    r"""Comma-separated values (RFC 4180; lines end with LF), behind a line with the names.

    Text stands in double quotes. SQL NULL is ``\N``, as MySQL's own files have it; a value that does
    not exist is an empty field.
    """

    def __init__(self, output: Output, names: Iterable[str]) -> None:
        self._output = output
        self._write(name if _TO_QUOTE.isdisjoint(name) else _quoted(name) for name in names)

    def add(self, values: Sequence[Value]) -> None:
        self._write(map(_field, values))

    def _write(self, fields: Iterable[str]) -> None:
        self._output.write(",".join(fields).encode("utf-8", "backslashreplace") + b"\n")

    def close(self) -> None:
        """Nothing waits."""


def _field(value: Value) -> str:
    if value is ABSENT:
        return ""
    if value is None:
        return "\\N"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def require_parquet() -> None:
    """Raise :class:`CouldNotRun` where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise CouldNotRun("Parquet needs pyarrow, which is not here", hint=f"to get it: {to_install(EXTRA)}") from None


class ParquetRecords:
    """A Parquet file. SQL NULL and values that do not exist are null.

    Raises :class:`CouldNotRun` without pyarrow, and where the file cannot be written.
    """

    def __init__(self, path: Path, columns: Sequence[tuple[str, Kind]]) -> None:
        require_parquet()
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._arrow: Any = pa
        self._schema = pa.schema([pa.field(name, getattr(pa, kind.value)()) for name, kind in columns])
        self._waiting: list[Sequence[Value]] = []
        try:
            self._file = path.open("wb")
        except OSError as problem:
            raise CouldNotRun(f"{path}: {problem.strerror or problem}") from problem
        self._writer: Any = pq.ParquetWriter(self._file, self._schema)

    def add(self, values: Sequence[Value]) -> None:
        self._waiting.append(values)
        if len(self._waiting) >= _MANY:
            self._put()

    def _put(self) -> None:
        columns = list(zip(*self._waiting, strict=True)) if self._waiting else [()] * len(self._schema)
        arrays = [
            self._arrow.array(map(_known, values), type=field.type)
            for values, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._waiting = []

    def close(self) -> None:
        with self._file:
            if self._waiting:
                self._put()
            self._writer.close()


def _known(value: Value) -> str | int | float | None:
    if value is ABSENT or value is None:
        return None
    if isinstance(value, str):  # bytes that are no text are escaped, as in the other forms
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value
