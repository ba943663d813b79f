"""Checks reach files and programs of a server only through the server: so they run on processes and in containers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2] / "conformance"
_FOLDERS = ("checks", "harness", "servers/roles")
_MODULES = frozenset({"subprocess", "shutil"})
# What only a server of one kind has, and what makes a path or a command of this machine of it.
_NAMES = frozenset({"data_directory", "installation", "files_readable", "client", "program"})
_ALLOWED = {
    "checks/costs/check_throughput.py": {"installation"},  # callgrind counts instructions of a process
    # No programs of a server: the kit's own decode; scripts in a decoder's environment, and a decoder's own tool chain.
    "checks/boundaries/check_told_files.py": {"subprocess"},
    "checks/decoders/accusations/proof.py": {"subprocess"},
    "checks/decoders/accusations/readers/go_mysql.py": {"subprocess"},
    "checks/decoders/accusations/readers/innodb_utils.py": {"subprocess"},
    "checks/decoders/accusations/readers/printed_text.py": {"subprocess"},
    "checks/decoders/accusations/readers/rivet.py": {"subprocess"},
    "checks/decoders/accusations/readers/zongji.py": {"subprocess"},
}


def uses(text: str) -> set[str]:
    """Modules that start programs or copy files, and members of a server that belong to one kind of server."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & _MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} & _MODULES
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            if node.attr in _NAMES and (owner == "server" or owner.endswith("_server")):
                found.add(node.attr)
    return found


def test_no_check_starts_a_program_or_opens_a_file_of_a_server_itself() -> None:
    found = {}
    for folder in _FOLDERS:
        for path in sorted((_ROOT / folder).rglob("*.py")):
            name = path.relative_to(_ROOT).as_posix()
            if seen := uses(path.read_text("utf-8")) - _ALLOWED.get(name, set()):
                found[name] = seen
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from shutil import copyfile",
        "(server.data_directory / 'ibdata1').read_bytes()",
        "[*self.server.program('mysqlbinlog'), '-v']",
        "old_server.client('mysql')",
    ],
)
def test_what_would_break_that_is_seen(text: str) -> None:
    assert uses(text)
