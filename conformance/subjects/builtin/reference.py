"""The kit's own reference as a conversation; its changes are the lines of ``decode --format jsonl --types``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.errors import CodecError
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of
from conformance.subjects.capabilities import FILE, TYPES
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from conformance.version import __version__

if TYPE_CHECKING:
    from conformance.subjects.answers import Subject
    from conformance.subjects.builtin.install import Installed


def open_subject(_: Installed) -> Subject:
    """The reference in a process of its own, as any other subject."""
    return Conversation([sys.executable, "-m", __name__], name="reference", limits=Limits(request=60.0))


def answer(request: dict[str, Any]) -> str:
    """The answer as JSON text. Changes are written as the reference prints them: ``json`` would alter their numbers."""
    if request["method"] == "hello":
        hello = {"name": "reference", "version": __version__, "roles": ["decode"], "capabilities": [FILE, TYPES]}
        return f'"result": {json.dumps(hello)}'
    if request["method"] != "decode":
        return '"result": {}'
    lines: list[str] = []
    error = ""
    changes = RowChanges(tagged=True)
    changes.start_file(request["path"])
    try:
        reader = FileReader(expand=True, rules_for=rules_of)
        reader.decoder.unread = UnreadEvents(stops=True)
        with Path(request["path"]).open("rb") as file:
            for event in read_events(file, reader=reader):
                try:
                    lines += changes.event(event, None)
                except CodecError as problem:
                    raise event.located(problem) from problem
    except CodecError as problem:
        told = {"code": problem.code, "message": str(problem), "position": problem.offset}
        error = f'"error": {json.dumps(told)}, '
    delivered = f'"changes": [{", ".join(lines)}]'
    return error + delivered if error else f'"result": {{{delivered}, "marks": []}}'


def main() -> None:
    """Answer until ``bye``."""
    for line in sys.stdin:
        request = json.loads(line)
        text = f'{{"id": {request["id"]}, {answer(request)}}}\n'
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
        if request["method"] == "bye":
            return


if __name__ == "__main__":
    main()
