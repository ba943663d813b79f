"""Unusual but legitimate machines, on which the blocks hold as everywhere: how each differs from an empty system."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLAIN: Final = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The set-up before a block. ``mounts``: shell lines in the system's namespace, with its ``$root``.

    ``lines`` come before the block, in its shell. ``folder`` is the clone's place below the user's home.
    """

    mounts: str = ""
    lines: str = ""
    folder: str = "binlog-lab"
    environment: Mapping[str, str] = field(default_factory=dict)


MACHINES: Final = {
    PLAIN: Machine(),
    "no-shm": Machine(mounts='umount "$root/dev/shm"\nrmdir "$root/dev/shm"\n'),
    "small-shm": Machine(mounts='mount -o remount,size=1m "$root/dev/shm"\n'),
    "home-on-another-file-system": Machine(
        mounts='mount -t tmpfs -o mode=1777 tmpfs "$root/mnt"\n',
        environment={"HOME": "/mnt"},
    ),
    "home-read-only": Machine(
        mounts='mount -t tmpfs -o ro tmpfs "$root/mnt"\n',
        environment={"HOME": "/mnt", "BINLOG_LAB_CACHE": "/var/tmp/lab"},
    ),
    "c-locale": Machine(environment={"LANG": "C", "LC_ALL": "C"}),
    "umask-077": Machine(lines="umask 077\n"),
    "one-core": Machine(lines='taskset --pid --cpu-list 0 "$$" >/dev/null\n'),
    "spaces-and-umlauts": Machine(folder="Käse und Brot/größe"),
}


def with_wheels(machine: Machine, wheels: Path) -> Machine:
    """The machine with a folder of wheels, which pip takes before those of the index."""
    place = "/srv/wheels"
    mounts = f'mkdir -p "$root{place}"\nmount --bind -o ro {shlex.quote(str(wheels))} "$root{place}"\n'
    return replace(
        machine, mounts=machine.mounts + mounts, environment={**machine.environment, "PIP_FIND_LINKS": place}
    )
