"""Tables as text, or as one JSON object, with their rows in order."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from conformance.console import Output
from conformance.logs.spools import FileSpool, SortedSpool
from conformance.messages import counted, printable
from conformance.user_errors import InputCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.logs.replaying.aligned import Alignment
    from conformance.reference.replay.table_state import TableState


def print_tables(tables: Sequence[TableState], form: str) -> None:
    """Print tables as text, or as one JSON object."""
    from conformance.reference.errors import CodecError

    output, spool = Output(), FileSpool()
    lines = _json_lines if form == "json" else _aligned_lines if sys.stdout.isatty() else _text_lines
    try:
        for line in lines(tables):
            spool.add(line.encode("utf-8", "backslashreplace") + b"\n")
    except CodecError as error:
        if form == "json":
            spool.close()  # half of an object is of no use
        raise InputCorrupt(f"a value of the final tables cannot be shown: {error}") from error
    finally:
        if not spool.closed:
            for piece in spool.take():
                output.write(piece)
            spool.close()
        output.flush()


def _in_turn(tables: Iterable[TableState]) -> Iterator[TableState]:
    """The tables, each without what was computed for its lines once they are written: there may be many columns."""
    for state in tables:
        yield state
        state.forget_derived()


def _text_lines(tables: Iterable[TableState]) -> Iterator[str]:
    for state in _in_turn(tables):
        rows = sorted_rows(state, numeric=True)
        yield f"{'.'.join(state.name)}: {counted(len(state.rows), 'row')}"
        yield "  " + "\t".join(state.column_names())
        for row in rows:
            yield "  " + "\t".join(_texts(row))


def _texts(row: Sequence[str | None]) -> list[str]:
    return ["NULL" if value is None else one_line(value) for value in row]


def _shown(row: Sequence[str | None]) -> list[str]:
    """The texts as a terminal shows them, so that their widths are known."""
    return [printable(text) for text in _texts(row)]


def _measured(alignment: Alignment) -> Callable[[Sequence[str | None]], None]:
    return lambda row: alignment.measure(_shown(row))


def _aligned_lines(tables: Iterable[TableState]) -> Iterator[str]:
    """The lines for a terminal: columns below each other, those of numbers to the right. No value is cut."""
    from conformance.logs.replaying.aligned import Alignment

    for state in _in_turn(tables):
        alignment = Alignment(_shown(state.column_names()), [info.type.is_numeric for info in state.infos()])
        rows = sorted_rows(state, numeric=True, met=_measured(alignment))
        yield f"{'.'.join(state.name)}: {counted(len(state.rows), 'row')}"
        yield alignment.head()
        yield from map(alignment.line, map(_shown, rows))


def _json_lines(tables: Sequence[TableState]) -> Iterator[str]:
    """The lines of one JSON object, as :mod:`json` indents it by one space."""
    if not tables:
        yield "{}"
        return
    yield "{"
    for number, state in enumerate(_in_turn(tables), 1):
        yield f" {_json('.'.join(state.name), 0)}: {{"
        yield f'  "columns": {_json(state.column_names(), 2)},'
        left = len(state.rows)
        yield '  "rows": [' if left else '  "rows": []'
        for row in sorted_rows(state):
            left -= 1
            yield f"   {_json(row, 3)}{',' if left else ''}"
        if state.rows:
            yield "  ]"
        yield " }," if number < len(tables) else " }"
    yield "}"


def _json(value: object, level: int) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1).replace("\n", "\n" + " " * level)


def sorted_rows(
    state: TableState, *, numeric: bool = False, met: Callable[[Sequence[str | None]], None] | None = None
) -> Iterator[Sequence[str | None]]:
    """The rows of a table in order. All are read, and given to ``met``, before the first is returned."""
    from conformance.reference.replay.tables_text import row_order, rows_text

    spool = SortedSpool(row_order(state, numeric=numeric))
    for row in rows_text(state):
        spool.add(row)
        if met is not None:
            met(row)
    return spool.take()


def one_line(value: str) -> str:
    """Text on one line, without tabs."""
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
