"""Initialised data directories, made once per server build and copied for every start.

Initialising takes about 3 s (observed on 9.7.4), copying 0.04 s. The key names the program and its size and time, so a
rebuilt mysqld never gets a directory that another build initialised. Each page size has a template of its own, as
``innodb_page_size`` is fixed at initialisation.
"""
# ruff: noqa: S603, S607 (starting programs is the job of this module)

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from conformance.requirements.versions import dialect_of
from conformance.servers.child_process import run_child
from conformance.servers.errors import StartFailed
from conformance.servers.install.cache import (
    Narrate,
    building,
    cache_root,
    locked,
    make_directory,
    require_space,
    silent,
)

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

_SECONDS: Final = 600
SPACE: Final = 400 << 20  # bytes that making a template may take
_SMALL_REDO = "--loose-innodb-redo-log-capacity=8M"  # the server grows it to its own setting at start


PAGE_SIZE: Final = "innodb-page-size"
"""The option of a server whose value its template must have."""


def template(installation: Installation, narrate: Narrate = silent, *, page_size: str | None = None) -> Path:
    """The data directory to copy, built under a lock on first use. ``page_size``: InnoDB's, as its option takes it."""
    directory = template_directory(installation, page_size=page_size)
    data = directory / "data"
    if data.is_dir():
        return data
    make_directory(directory.parent)
    with locked(cache_root() / "templates.lock", narrate, "builds a data directory template"):
        if data.is_dir():
            return data
        require_space(directory.parent, SPACE, "a data directory template")
        narrate(f"initialising a data directory template for MySQL {installation.version} (once)")
        with building(directory) as temporary:
            whole = temporary / "whole"
            _initialise(installation, whole, temporary, page_size)
            copy_template(whole, temporary / "data")  # with holes: each further copy is twice as fast
            shutil.rmtree(whole)
            record = {"mysqld": str(installation.mysqld), "version": installation.version}
            (temporary / "template.json").write_text(json.dumps(record), encoding="utf-8")
    return data


def template_directory(installation: Installation, *, page_size: str | None = None) -> Path:
    """Where the template of these programs is, or will be: its ``data``, and ``template.json``, which names them."""
    stat = installation.mysqld.stat()
    key = hashlib.sha256(
        json.dumps([str(installation.mysqld.resolve()), stat.st_size, stat.st_mtime_ns, installation.version]).encode()
    ).hexdigest()[:12]
    pages = "" if page_size is None else f"-pages-{page_size}"
    return cache_root() / "templates" / f"{installation.version}-{key}{pages}"


def _initialise(installation: Installation, data: Path, work: Path, page_size: str | None) -> None:
    if not dialect_of(installation.number).server.initialises_itself:
        if page_size is not None:
            raise StartFailed(f"MySQL {installation.version} brings a data directory with a page size of its own")
        _copy_shipped(installation, data)
        return
    log = work / "initialize.log"
    command = [
        *installation.launcher,
        str(installation.mysqld),
        "--no-defaults",
        *installation.options,
        "--initialize-insecure",
        f"--datadir={data}",
        f"--log-error={log}",
        "--secure-file-priv=",
        "--loose-mysqlx=OFF",
        _SMALL_REDO,
        *([] if page_size is None else [f"--{PAGE_SIZE}={page_size}"]),
        *(["--user=root"] if os.geteuid() == 0 else []),
    ]
    answer = run_child(command, seconds=_SECONDS)
    if answer.returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else answer.text + answer.words
        late = answer.returncode is None
        how = f"does not end within {_SECONDS} s" if late else f"fails with status {answer.returncode}"
        raise StartFailed(f"{installation.mysqld} --initialize-insecure {how}", detail=text[-3000:])
    (data / "auto.cnf").unlink(missing_ok=True)  # the copy's own server UUID
    # The initialisation ended with a clean shutdown, so these hold nothing that is needed. Each start would read all of
    # their pages (16 MiB on 9.7.4, a tenth of its time); it makes new files instead.
    for doublewrite in data.glob("*.dblwr"):
        doublewrite.unlink()


def _copy_shipped(installation: Installation, data: Path) -> None:
    """Copy a data directory that a package ships: servers before 5.7.6 cannot initialise themselves."""
    here = installation.mysqld.parent
    for shipped in (here / "data", here / "data/mysql", here.parent / "data"):
        if (shipped / "mysql/user.frm").is_file():
            shutil.copytree(shipped, data)
            (data / "auto.cnf").unlink(missing_ok=True)
            return
    raise StartFailed(
        f"MySQL {installation.version} cannot initialise a data directory and brings none",
        "put an initialised directory named 'data' beside the program",
    )


def copy_template(source: Path, target: Path) -> None:
    """Copy a data directory for one server: keep holes, and share blocks where the file system can."""
    copied = None
    if shutil.which("cp"):
        copied = subprocess.run(
            ["cp", "-R", "--reflink=auto", "--sparse=always", str(source), str(target)],
            capture_output=True,
            check=False,
        )
    if copied is None or copied.returncode != 0:  # no cp, or one without GNU's options
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
