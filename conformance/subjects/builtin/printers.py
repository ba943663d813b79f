"""mysqlbinlog and mariadb-binlog as subjects: each prints a log, and the lab reads the text; ibd2sdi prints JSON."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import SDI
from conformance.servers.errors import ServerError
from conformance.servers.install.bundle import Bundle, cached, pinned_version
from conformance.servers.install.installation import own_loader
from conformance.servers.install.server_packages import fits
from conformance.servers.program_identity import believed
from conformance.servers.programs import LocalProgram
from conformance.subjects.answers import Answer, Failure, Hello, Mark, SubjectUnavailable
from conformance.subjects.builtin.printed_log import read_printed
from conformance.subjects.capabilities import FILE, NUMBERS
from conformance.subjects.child import Child, Limits, Stopped, ending
from conformance.subjects.one_shot import PLACE, OneShot

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase
    from conformance.subjects.answers import Subject
    from conformance.subjects.builtin.install import Installed

_OPTIONS: Final = ("--no-defaults", "-vv", "--base64-output=DECODE-ROWS", "--print-table-metadata")


class Printer:
    """A program that is started for each log."""

    def __init__(self, program: list[str], hello: Hello, *, mariadb: bool = False) -> None:
        self._program = program
        self._mariadb = mariadb
        self._hello = hello
        self._limits = Limits()

    def hello(self) -> Hello:
        """The introduction, as the installation gives it."""
        return self._hello

    def decode(self, _case: DecoderCase | None, path: str) -> Answer:
        """Print a log and read the text."""
        begun = time.perf_counter()
        failure: Failure | None = None
        detail = error = ""
        with (
            TemporaryDirectory(prefix="binlog-lab-") as loads,  # it writes the files of LOAD DATA statements
            Child([*self._program, *_OPTIONS, f"--local-load={loads}", path], self._limits) as child,
        ):
            try:
                output = child.read(self._limits.request)
            except Stopped as stop:
                failure, detail, output = stop.failure, stop.detail, child.said()
            status = child.status() or 0
            stderr = child.stderr()
        printed = read_printed(output, mariadb=self._mariadb)
        if failure is None and status < 0:
            failure, detail = Failure.CRASHED, ending(status)
        elif failure is None and status:
            error = f"exit status {status}: {_reason(stderr, self._program[-1])}"
        elif failure is None and printed.problem:
            failure, detail = Failure.GARBLED, printed.problem
        return Answer(
            changes=tuple(printed.changes),
            marks=tuple(Mark(message=message, position=position) for message, position in printed.marks),
            error=error,
            failure=failure,
            detail=detail,
            stderr=stderr,
            seconds=time.perf_counter() - begun,
        )

    def close(self) -> None:
        """Do nothing: each log has a process of its own, which has ended."""


def _reason(stderr: str, program: str) -> str:
    """The line that tells the error; warnings stand before and behind it."""
    text = stderr.replace("\a", "").replace(program, Path(program).name)
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["nothing on standard error"])[0]


def open_mysqlbinlog(there: Installed) -> Subject:
    """The mysqlbinlog of the lab's bundle."""
    return Printer(*_of_bundle(there))


def open_ibd2sdi(there: Installed) -> Subject:
    """The ibd2sdi of the lab's bundle."""
    program, hello = _of_bundle(there)
    return OneShot([*program, PLACE], hello=replace(hello, roles=(SDI,), capabilities=()))


def _of_bundle(there: Installed) -> tuple[list[str], Hello]:
    """The command of a program of the bundle, and its introduction."""
    name = there.entry.name
    try:
        installation = _bundle().installation()
        program = installation.program(name)
        believed(LocalProgram(program, name=name), name, installation.number)
    except ServerError as error:
        raise SubjectUnavailable(f"{name}: {error}") from error
    return program, _hello(there, installation.version, installation.origin)


def _bundle() -> Bundle:
    """The bundle of the pinned version."""
    wanted = pinned_version()
    return next(bundle for bundle in cached() if fits(bundle.version, wanted))


def program_of(there: Installed) -> list[str]:
    """The command of an installed printer."""
    if there.directory is None:
        return list(_bundle().installation().program(there.entry.name))
    root = there.directory / "root"
    return [*own_loader(root), str(root / "usr/bin/mariadb-binlog")]


def open_mariadb_binlog(there: Installed) -> Subject:
    """MariaDB's program, started through the loader of the packages around it."""
    package = dict(there.packages).get("mariadb-client", "")
    version = package.partition(":")[2].partition("-")[0]
    return Printer(program_of(there), _hello(there, version, f"Debian {package}"), mariadb=True)


def _hello(there: Installed, version: str, note: str) -> Hello:
    return Hello(name=there.entry.name, version=version, capabilities=(FILE, NUMBERS), note=note)
