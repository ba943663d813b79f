"""A private MariaDB: its packages come from Debian through apt and are unpacked, not installed; it runs from there."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.servers.install.cache import cache_root
from conformance.servers.install.installation import own_loader
from conformance.servers.wire.connection import Address, Connection, connect
from conformance.subjects.builtin.catalogue import Package
from conformance.subjects.builtin.debian import fetch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSION: Final = "1:10.11."
_PACKAGES: Final = ("mariadb-server-core", "mariadb-client-core")
_CLIENTS: Final = ("mariadb-client", "mariadb-server")  # mariadb-binlog, and the plugin that keeps keys
_SYSTEM: Final = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")


def fetched() -> bool:
    """Whether :func:`programs` needs no archive."""
    return _missing(_place() / "root") is None


def _place() -> Path:
    return cache_root() / "subjects" / "mariadb-server"


def _missing(root: Path) -> str | None:
    wanted = ("usr/sbin/mariadbd", "usr/bin/mariadb-binlog", "usr/lib/mysql/plugin/file_key_management.so")
    return next((name for name in wanted if not (root / name).exists()), None)


def programs() -> Path:
    """The unpacked packages, in the user's cache."""
    place = _place()
    if _missing(place / "root") is not None:
        place.mkdir(parents=True, exist_ok=True)
        lock = os.open(place / "lock", os.O_CREAT | os.O_RDWR)
        names = (*_PACKAGES, *_CLIENTS)
        wanted = tuple(Package(kind="apt", name=name, version=VERSION, suite="bookworm") for name in names)
        fetch(wanted, place, lock, lambda _: None, lambda _: None)
        os.close(lock)
    return place / "root"


def program(name: str) -> list[str]:
    """The words that run a client program."""
    root = programs()
    return [*own_loader(root), str(root / "usr/bin" / name), "--no-defaults"]


@dataclass(frozen=True, slots=True)
class Running:
    """A running server: its data directory, its port on 127.0.0.1, and a session of root."""

    directory: Path
    port: int
    session: Connection

    @property
    def address(self) -> Address:
        """Where further sessions of root log in."""
        return Address(socket=f"{self.directory}/socket", user="root")


@contextmanager
def server(options: Sequence[str] = ("--skip-grant-tables",)) -> Iterator[Connection]:
    """A session of a private server; both end with the block."""
    with running(options) as found:
        yield found.session


@contextmanager
def running(options: Sequence[str] = ()) -> Iterator[Running]:
    """A private server with an empty data directory; it ends with the block."""
    root = programs()
    share = root / "usr/share/mysql"
    with TemporaryDirectory(prefix="binlog-lab-") as directory, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        words = [
            *own_loader(root), str(root / "usr/sbin/mariadbd"), "--no-defaults", f"--datadir={directory}",
            f"--basedir={root / 'usr'}", f"--lc-messages-dir={share}", f"--plugin-dir={root / 'usr/lib/mysql/plugin'}",
            "--innodb-flush-log-at-trx-commit=0",
        ]  # fmt: skip
        if os.getuid() == 0:
            words.append("--user=root")
        tables = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
        tables += b"\n".join((share / name).read_bytes() for name in _SYSTEM)
        subprocess.run([*words, "--skip-grant-tables", "--bootstrap"], input=tables, capture_output=True, check=False)
        path = f"{directory}/socket"
        run = [*words, f"--socket={path}", f"--port={port}", "--bind-address=127.0.0.1", "--server-id=95", *options]
        with (
            Path(directory, "errors").open("wb") as log,
            subprocess.Popen([*run, "--relay-log=relay"], stdout=log, stderr=log) as child,
        ):
            try:
                deadline = time.monotonic() + 60
                while not Path(path).exists() and child.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.1)
                with connect(Address(socket=path, user="root")) as session:
                    yield Running(Path(directory), port, session)
            finally:
                child.terminate()
                child.wait(60)
