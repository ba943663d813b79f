"""The kit's own reference as a conversation; its changes are the lines of ``decode --format jsonl --types``.

Of data files it gives what ``rows`` and ``sdi`` print.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.cases.decoder_case import DECODE, ROWS, SDI
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.errors import CodecError
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of
from conformance.subjects.capabilities import FILE, TYPES
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from conformance.user_errors import UserError
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
        roles, capabilities = [DECODE, ROWS, SDI], [FILE, TYPES]
        hello = {"name": "reference", "version": __version__, "roles": roles, "capabilities": capabilities}
        return f'"result": {json.dumps(hello)}'
    if request["method"] in (ROWS, SDI):
        return _stored(request["method"], request["path"])
    if request["method"] != DECODE:
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


def _stored(role: str, path: str) -> str:
    """The answer about a data file: what it has, and the errors."""
    from conformance.data_files.whole_file import read_dictionary, read_rows

    rows: list[str] = []
    entries = ""
    problems: list[str] = []
    try:
        if role == ROWS:
            rows += (line for line, _ in read_rows(path, problems.append, tagged=True))
        else:
            entries = read_dictionary(path, problems.append).decode("utf-8", "surrogatepass")
    except UserError as problem:
        problems.append(str(problem))
    found = f"[{', '.join(rows)}]" if role == ROWS else entries.replace("\n", " ") or "[]"
    if problems:
        error = {"code": "damaged", "message": "; ".join(dict.fromkeys(problems))}
        return f'"error": {json.dumps(error)}, "{role}": {found}'
    return f'"result": {{"{role}": {found}}}'


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
