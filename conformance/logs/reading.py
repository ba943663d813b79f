"""Events and row changes of one log: a file, its bytes, or an open stream."""

from __future__ import annotations

import json
from contextlib import ExitStack
from decimal import Decimal
from io import BytesIO, TextIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from conformance.reference.binlog import files
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event


def read_events(log: str | Path | bytes | BinaryIO, *, verify: bool = True) -> Iterator[Event]:
    """Yield the events of a log in their order, those of compressed transactions in the place of the payload.

    ``log``: a path, the bytes of a file, or a binary stream. ``verify``: whether checksums are compared. Raises
    :class:`DecodeError` where the log is damaged, behind the events that stand before, and :class:`Unsupported` for an
    encrypted one. An event of an unknown type has its bytes as an ``Opaque`` body. Raises TypeError for another kind of
    ``log``, and OSError, when the first event is asked for.
    """
    return _events(log, files.FileReader(verify=verify, expand=True, rules_for=rules_of))


def _events(log: str | Path | bytes | BinaryIO, reader: files.FileReader) -> Iterator[Event]:
    with ExitStack() as stack:
        if isinstance(log, bytes):
            file: BinaryIO = BytesIO(log)
        elif isinstance(log, str | Path):
            file = stack.enter_context(Path(log).open("rb"))
        elif not _is_binary_stream(log):
            raise TypeError(f"a log is a path, the bytes of a file or a binary stream, not {type(log).__name__}")
        else:
            file = log
        yield from files.read_events(file, reader=reader)


def _is_binary_stream(log: object) -> bool:
    return hasattr(log, "read") and not isinstance(log, TextIOBase)


def read_rows(log: str | Path | bytes | BinaryIO, *, types: bool = False) -> Iterator[dict[str, Any]]:
    """Yield an object for each changed row, as ``decode --format jsonl`` prints it (docs: formats).

    ``before`` and ``after`` have the values by column; a document that is logged as diffs has its diffs. A number of a
    document that no float holds, such as a DECIMAL of 20 digits, is a :class:`decimal.Decimal`. ``types``:
    values of documents that have no plain JSON form are tagged with their type. Raises as :func:`read_events`, and
    :class:`Unsupported` for an event of an unknown type that may not be ignored.
    """
    reader = files.FileReader(expand=True, rules_for=rules_of)
    reader.decoder.unread = UnreadEvents(stops=True)
    changes = RowChanges(tagged=types)
    changes.start_file(str(log) if isinstance(log, str | Path) else "")
    for event in _events(log, reader):
        for line in changes.event(event):
            yield json.loads(line, parse_float=_number)


def _number(text: str) -> float | Decimal:
    """A number with a point or an exponent, without loss."""
    number = float(text)
    return number if Decimal(repr(number)) == (exact := Decimal(text)) else exact
