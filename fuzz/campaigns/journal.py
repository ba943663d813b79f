"""The journal of a campaign: inputs noted on the disk before they run, in case the lab or the machine goes down.

The journal has one line for each input, its place, handed to the system before the lab sends the input. After a batch
was judged, the file begins anew. A campaign that ends in order removes its journal; a remaining journal shows where an
earlier campaign was broken off.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.servers.closing import Closing
from conformance.servers.run.process_identity import is_running, start_time
from fuzz.campaigns.inputs import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SUFFIX: Final = ".journal"


class Broken(NamedTuple):
    """A campaign that was broken off: the words of its command, and the inputs of its last batch that it had begun."""

    command: str
    places: tuple[Place, ...]


class Journal(Closing):
    """The journal of one campaign, in a directory for all of them."""

    def __init__(self, directory: Path, command: str) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = directory / f"{os.getpid()}{_SUFFIX}"
        head = {"command": command, "pid": os.getpid(), "start": start_time(os.getpid())}
        self._head = json.dumps(head).encode() + b"\n"
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.settle()

    def settle(self) -> None:
        """Forget the noted inputs, which have been judged."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, self._head, 0)
        os.lseek(self._file, 0, os.SEEK_END)

    def begin(self, place: Place) -> None:
        """Note the input that is sent next."""
        os.write(self._file, f"{place}\n".encode("ascii"))

    def close(self) -> None:
        """Remove the journal at an orderly end of the campaign."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)


def broken(directory: Path) -> Iterator[Broken]:
    """Campaigns whose process is gone; each is reported once."""
    for path in sorted(directory.glob(f"*{_SUFFIX}")):
        try:
            head, *lines = path.read_text(encoding="ascii").splitlines()
            record = json.loads(head)
            alive = is_running(int(record["pid"]), str(record["start"]))
            places = tuple(Place.parse(line) for line in lines if line)
        except (OSError, ValueError, KeyError):
            continue  # a torn line, or one that is just being written
        if not alive:
            path.unlink(missing_ok=True)
            yield Broken(str(record["command"]), places)
