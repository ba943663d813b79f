"""Final tables as CSV or Parquet: ``apply --format csv`` and ``--format parquet``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.console import Output
from conformance.logs.records import CsvRecords, Kind, ParquetRecords, require_parquet
from conformance.logs.replaying.tables_output import sorted_rows
from conformance.reference.errors import CodecError
from conformance.reference.tables import columns as types
from conformance.reference.text.columns import INTEGERS
from conformance.user_errors import CouldNotRun, InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.logs.records import Records, Value
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.tables.metadata import ColumnInfo

_NUMBERS: Final = {Kind.INTEGER: int, Kind.UNSIGNED: int, Kind.FLOAT: float}


def print_csv(tables: Sequence[TableState]) -> None:
    """Print the one table as CSV, to standard output. Raises :class:`Usage` for several."""
    if len(tables) > 1:
        names = ", ".join(".".join(state.name) for state in tables)
        raise Usage(f"--format csv is for one table, got {names}", hint="--table SCHEMA.TABLE chooses one")
    output = Output()
    try:
        for state in tables:
            _write(state, CsvRecords(output, state.column_names()), [Kind.TEXT] * len(state.column_names()))
    finally:
        output.flush()


def prepare_directory(directory: Path) -> None:
    """Make the directory of Parquet files. Raises :class:`Usage` if it is not empty, :class:`CouldNotRun` otherwise."""
    require_parquet()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise Usage(f"{directory} is not empty", hint="give a new or empty directory")
    except OSError as problem:
        raise CouldNotRun(f"{directory}: {problem.strerror or problem}") from problem


def write_parquet(tables: Sequence[TableState], directory: Path) -> None:
    """Write ``SCHEMA.TABLE.parquet`` into the directory for each table, and print the names.

    Integers, FLOAT and DOUBLE have number types; every other value is the text that ``--format json`` has.
    """
    output = Output()
    for state in tables:
        kinds = [kind_of(info) for info in state.infos()]
        path = directory / (".".join(state.name).replace("/", "%2F") + ".parquet")
        _write(state, ParquetRecords(path, list(zip(state.column_names(), kinds, strict=True))), kinds)
        output.write(f"{path}\n".encode())
    output.flush()


def kind_of(info: ColumnInfo) -> Kind:
    """The Parquet type of a column."""
    if info.type.type in INTEGERS:
        return Kind.UNSIGNED if info.unsigned else Kind.INTEGER
    return Kind.FLOAT if info.type.type in (types.FLOAT, types.DOUBLE) else Kind.TEXT


def _write(state: TableState, records: Records, kinds: Sequence[Kind]) -> None:
    try:
        for row in sorted_rows(state, numeric=True):
            records.add([_value(value, kind) for value, kind in zip(row, kinds, strict=True)])
    except CodecError as error:
        raise InputCorrupt(f"a value of the final tables cannot be shown: {error}") from error
    finally:
        records.close()
        state.forget_derived()


def _value(value: str | None, kind: Kind) -> Value:
    return value if value is None or kind is Kind.TEXT else _NUMBERS[kind](value)
