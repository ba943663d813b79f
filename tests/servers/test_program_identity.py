"""A client program says what it is before it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.child_process import Ended
from conformance.servers.errors import ProgramUnusable, ServerUnavailable
from conformance.servers.program_identity import own_program, problem_of
from conformance.servers.programs import LocalProgram

if TYPE_CHECKING:
    from pathlib import Path

NEW, OLD = (9, 7, 4), (5, 6, 24)
OWN = [
    ("mysqlbinlog  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", NEW),
    ("/usr/bin/mysql  Ver 9.7.5 for Linux on x86_64 (MySQL Community Server - GPL)", NEW),
    ("mysqlbinlog  Ver 8.0.45 for Linux on x86_64 (Source distribution)", (8, 0, 45)),
    ("mysqlbinlog Ver 3.4 for Linux at x86_64", OLD),
    ("mysql  Ver 14.14 Distrib 5.6.24, for linux-glibc2.5 (x86_64) using  EditLine wrapper", OLD),
]
OTHERS = [
    ("mysqlbinlog  Ver 3.5 for debian-linux-gnu at x86_64, from MariaDB 10.11.19", NEW, "it is MariaDB's"),
    ("mariadb-binlog from 11.8.2-MariaDB, client 3.5 for debian-linux-gnu (x86_64)", NEW, "it is MariaDB's"),
    ("mysqlbinlog Ver 3.4 for debian-linux-gnu at x86_64", NEW, "it is none of MySQL 9.7"),
    ("mysqlbinlog  Ver 8.0.45 for Linux on x86_64", NEW, "it is none of MySQL 9.7"),
    ("hello", NEW, "asked for its version it says 'hello'"),
    ("", NEW, "asked for its version it says ''"),
]


def said(text: str, code: int | None = 0, words: str = "") -> Ended:
    return Ended(code, text.encode(), words.encode())


@pytest.mark.parametrize(("text", "number"), OWN)
def test_a_servers_own_program_is_known(text: str, number: tuple[int, int, int]) -> None:
    assert problem_of(said(text), number) == ""


@pytest.mark.planted("FR3", "FR7")
@pytest.mark.parametrize(("text", "number", "words"), OTHERS)
def test_another_program_is_known(text: str, number: tuple[int, int, int], words: str) -> None:
    assert problem_of(said(text), number).startswith(words)


def test_what_it_says_is_shown_without_its_path() -> None:
    problem = problem_of(said(f"/{'long/' * 40}mysqlbinlog Ver 3.5 for debian-linux-gnu at x86_64"), NEW)
    assert problem.endswith("asked for its version it says 'mysqlbinlog Ver 3.5 for debian-linux-gnu at x86_64'")


def test_a_name_that_is_only_in_a_warning_is_seen() -> None:
    warning = "mysqlbinlog: Deprecated program name. Use '/usr/bin/mariadb-binlog' instead"
    assert problem_of(said("mysqlbinlog  Ver 9.7 for Linux", words=warning), NEW).startswith("it is MariaDB's")


@pytest.mark.parametrize(("code", "words"), [(127, "fails with status 127"), (-11, "status -11"), (None, "not end")])
def test_a_program_that_cannot_say_it(code: int | None, words: str) -> None:
    assert words in problem_of(said("", code, "error while loading shared libraries"), NEW)


class Served:
    """A server with one client program."""

    id, number = "served", NEW

    def __init__(self, *words: str) -> None:
        self.words = words

    def client_program(self, name: str) -> LocalProgram:
        if not self.words:
            raise ServerUnavailable(f"served brings no programs, so there is no {name}")
        return LocalProgram(self.words)


def test_what_cannot_be_used_is_told_from_what_was_never_there(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable, match="brings no programs") as absent:
        own_program(Served(), "mysqlbinlog")  # type: ignore[arg-type]
    assert not isinstance(absent.value, ProgramUnusable)
    for words in (("false",), (str(tmp_path / "gone"),), ("echo", "mysqlbinlog  Ver 3.5, from MariaDB")):
        with pytest.raises(ProgramUnusable, match="the server's own mysqlbinlog cannot be used"):
            own_program(Served(*words), "mysqlbinlog")  # type: ignore[arg-type]
    assert own_program(Served("echo", OWN[0][0]), "mysqlbinlog").run([]).returncode == 0  # type: ignore[arg-type]
