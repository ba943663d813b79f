"""What a campaign is about to do, on the disk before it does it: for when the lab itself, or the machine, goes down.

One line an input, its place, handed to the system before the input is sent. A batch that was judged is settled, so the
file begins anew with each. A campaign that ends in order takes its journal away; one that is found tells where an
earlier campaign was broken off.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from conformance.servers.run.process_identity import is_running, start_time
from fuzz.campaigns.inputs import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SUFFIX: Final = ".journal"


class Broken(NamedTuple):
    """A campaign that did not end: the words of its command, and the inputs of its last batch that it had begun."""

    command: str
    places: tuple[Place, ...]


class Journal:
    """Of one campaign, in a directory for all of them."""

    def __init__(self, directory: Path, command: str) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = directory / f"{os.getpid()}{_SUFFIX}"
        head = {"command": command, "pid": os.getpid(), "start": start_time(os.getpid())}
        self._head = json.dumps(head).encode() + b"\n"
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.settle()

    def settle(self) -> None:
        """What was written so far has been judged."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, self._head, 0)
        os.lseek(self._file, 0, os.SEEK_END)

    def begin(self, place: Place) -> None:
        """This input is sent next."""
        os.write(self._file, f"{place}\n".encode("ascii"))

    def close(self) -> None:
        """The end of the campaign, in order."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def broken(directory: Path) -> Iterator[Broken]:
    """Campaigns whose process is gone; each is told of once."""
    for path in sorted(directory.glob(f"*{_SUFFIX}")):
        try:
            head, *lines = path.read_text(encoding="ascii").splitlines()
            record = json.loads(head)
            alive = is_running(int(record["pid"]), str(record["start"]))
            places = tuple(Place.parse(line) for line in lines if line)
        except (OSError, ValueError, KeyError):
            continue  # torn, or just being written
        if not alive:
            path.unlink(missing_ok=True)
            yield Broken(str(record["command"]), places)
