"""Initialised data directories of images, kept in the user's cache and unpacked into the volume of every new server.

An image makes its data directory at the first start, with a temporary server and accounts: some seconds. The image's
own entry point does so once for each content of an image, with a random password for root. The password is stored
beside the archive, readable by this user only. Measured on 9.7.4: a server of an archive answers after 1.3 s, one that
initialises itself after 5 s.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.servers.containers.files import new_archive, owner_of, read_tree
from conformance.servers.containers.image import DATA
from conformance.servers.install.cache import building, cache_root, locked, make_directory, require_space

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from docker.models.containers import Container

    from conformance.servers.containers.image import Image
    from conformance.servers.install.cache import Narrate

_SPACE: Final = 400 << 20
# Written while the server runs, and of one server only; the log of the first start is no part of a server's life.
_OWN: Final = ("auto.cnf", "binlog.", "mysql.sock", "mysqld.pid", "ib_buffer_pool", "#innodb_temp", "ibtmp1")
OPTIONS: Final[dict[str, str | None]] = {"skip-log-bin": None, "loose-innodb-redo-log-capacity": "8M"}


@dataclass(frozen=True, slots=True)
class DataTemplate:
    """``archive`` holds members named relative to the data directory. ``owner``: uid and gid of the files."""

    archive: Path
    password: str
    owner: tuple[int, int]


Initialised: TypeAlias = "Callable[[DataTemplate], AbstractContextManager[Container]]"


def data_template(image: Image, initialised: Initialised, narrate: Narrate) -> DataTemplate:
    """The data template of this image, made on first use.

    ``initialised`` gives a stopped container in which the image has made its data directory.
    """
    name = f"image-{image.version}-{image.id.partition(':')[2][:12]}"
    directory = cache_root() / "templates" / name
    if not (directory / "template.json").is_file():
        make_directory(directory.parent)
        with locked(cache_root() / "templates.lock", narrate, "builds a data directory template"):
            if not (directory / "template.json").is_file():
                require_space(directory.parent, _SPACE, "a data directory template")
                narrate(f"initialising a data directory of {image.name} (once)")
                with building(directory) as temporary:
                    _make(image, initialised, temporary)
    record = json.loads((directory / "template.json").read_text(encoding="utf-8"))
    return DataTemplate(directory / "data.tar.gz", record["password"], (record["uid"], record["gid"]))


def _make(image: Image, initialised: Initialised, directory: Path) -> None:
    password = secrets.token_urlsafe(18)
    with initialised(DataTemplate(Path(), password, (0, 0))) as container:
        uid, gid = _store(container, directory / "data.tar.gz")
    record = {"image": image.name, "id": image.id, "password": password, "uid": uid, "gid": gid}
    descriptor = os.open(directory / "template.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(record, file)


def _store(container: Container, path: Path) -> tuple[int, int]:
    """Compress the data directory's copyable files; return the account that owns them."""
    owner = owner_of(container, "mysql")
    with gzip.open(path, "wb", compresslevel=1) as file, new_archive(file) as target:
        for member, content in read_tree(container, DATA):
            if not member.name or member.name.startswith(_OWN) or not (member.isfile() or member.isdir()):
                continue
            member.uid, member.gid = owner  # Podman names root as the owner of all files
            member.uname = member.gname = ""
            target.addfile(member, content)
    return owner
