"""A data file that ends a server, as a script: the server exports it, and a table of the same definition takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.row_versions import IMPORT, ROW_FORMATS, statements
from conformance.harness.scripts.shell import END, head, variable
from conformance.requirements.crashes import ROW_VERSIONS
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.requirements.crashes import Crash

_SCHEMA: Final = "binlog_lab_import"
_ABOUT: Final = (
    f"A data file with {ROW_VERSIONS}, one that the server itself exports.",
    "It copies files: run it where the data directory of the server can be written to.",
)


def _sql(statements: list[str]) -> list[str]:
    return [f"cat <<'{END}'", *statements, END]


def data_file_script(crash: Crash) -> str | None:
    """A script for the shell; where the server dies, the client prints "Lost connection" behind the expected result.
    ``None``: nothing makes the damage."""
    if crash.damage != ROW_VERSIONS:
        return None
    create, *others = statements(Stream("script", ROW_VERSIONS).letters, ROW_FORMATS[0], long=True)
    before = [
        f"CREATE SCHEMA {_SCHEMA};",
        f"USE {_SCHEMA};",
        *(f"{statement};" for statement in (create, *others)),
        "FLUSH TABLES t FOR EXPORT;",
    ]
    behind = [
        "UNLOCK TABLES;",
        "DROP TABLE t;",
        f"{create.replace(', a int', '', 1)};",
        "ALTER TABLE t DISCARD TABLESPACE;",
    ]
    taking = [
        "SELECT 'the data file' AS next, 'the server lives, and takes it' AS expected;",
        f"{IMPORT};",
        "SELECT 'the server' AS checked, 'lives' AS expected, 'lives' AS got, 'as expected' AS verdict;",
    ]
    lines = [
        *head(_ABOUT, [variable("SOURCE")]),
        f'folder="$($SOURCE -N -e "SELECT @@datadir")/{_SCHEMA}"',
        'wait_until() { for _ in {1..300}; do "$@" && return; sleep 0.1; done; }',
        'gone() { [ ! -e "$1" ]; }',
        "{",  # one session: an export ends with it
        *_sql(before),
        'wait_until [ -e "$folder/t.cfg" ]',
        'cp "$folder"/t.* "$work"',
        *_sql(behind),
        'wait_until gone "$folder/t.cfg"',
        "sleep 1",
        'wait_until gone "$folder/t.ibd"',
        'cp "$work"/t.* "$folder"',
        *_sql(taking),
        "} | run $SOURCE",
    ]
    return "\n".join(lines) + "\n"
