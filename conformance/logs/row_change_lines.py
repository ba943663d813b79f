"""The reference's reading of a log: the lines of ``decode --format jsonl --types``, raw and with diffs applied."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.binlog.files import FileReader
from conformance.reference.errors import CodecError
from conformance.reference.replay.engine import Replay
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class Reading(NamedTuple):
    """The row changes in front of the end, or of the error."""

    lines: tuple[str, ...]
    error: CodecError | None


def read_log(log: bytes, name: str, *, resolve: bool = False, sparse: int = 0, verify: bool = True) -> Reading:
    """Read a whole log. ``sparse``: see ``DecoderCase``; the zeros are passed over at once."""
    lines: list[str] = []
    try:
        lines.extend(_lines(log, name, resolve, sparse, verify))
    except CodecError as error:
        return Reading(tuple(lines), error)
    return Reading(tuple(lines), None)


def _lines(log: bytes, name: str, resolve: bool, sparse: int, verify: bool) -> Iterator[str]:
    changes = RowChanges(tagged=True)
    changes.start_file(name)
    replay = Replay(lenient=True) if resolve else None
    reader = FileReader(expand=True, verify=verify, rules_for=rules_of)
    first = int.from_bytes(log[13:17], "little") + 4 if sparse else len(log)
    for number, piece in enumerate((log[:first], log[first:])):
        if number and sparse:
            reader.skip_to(reader.position + sparse)
        file = BytesIO(piece)
        while data := file.read(1 << 16):
            reader.feed(data)
            for event in reader.events():
                if replay is not None:
                    replay.other(event)
                for line in changes.event(event, None if replay is None else replay.row):
                    yield line.encode("utf-8", "backslashreplace").decode()
    reader.finish()
