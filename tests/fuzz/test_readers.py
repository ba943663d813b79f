"""Everything in the reference that takes bytes or text from outside is reached by a target."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.targets import load, target_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

REFERENCE = Path(__file__).parents[2] / "conformance" / "reference"
OUTSIDE = frozenset(("bytes", "bytearray", "BinaryIO"))
TEXTS = frozenset(("text", "sql"))  # parameters that hold a whole text, not a name or a word of ours

ELSEWHERE = {
    "binlog/encrypted_file.py:encrypted": "writes; the target file-stream reads what it wrote",
    "binlog/mariadb/compression.py:compressed": "writes what our own encoder made",
    "binlog/gtid.py:body_with_length": "writes: gives an event that was read another length",
    "binlog/header.py:kind_of": "looks at one byte, for the judges of captured logs (tests/judge/updates)",
    "binlog/payload.py:TransactionPayload.compress": "writes what our own encoder made",
    "binlog/writer.py:FileWriter.copy": "writes: gives an event that was read another position",
    "binlog/writer.py:FileWriter.place": "writes: the same for an event of a payload",
    "binlog/plain_log.py:plain_log": "looks at four bytes; the target file-stream reads what is behind them",
    "dialect.py:ServerTerms.named": "takes statements of our own",
    "encryption/aes.py:Encryption.cbc": "locks the passwords that our own writer takes",
    "innodb/pages.py:names_a_tablespace": "looks at 64 bytes; the target sdi reads what is behind them",
    "replay/later_changes.py:LaterChanges.statement": "takes a statement that was read; the text is for messages",
    "replay/later_changes.py:LaterChanges.unknown": "takes the text of a message",
    "replay/expansion.py:Expansion.event": "writes: puts bytes of an event that was read into another file",
    "sql/datetime_text.py:parse_datetime": "takes an option of the command line, in a pattern of fixed widths",
    "sql/row_expressions.py:read_value": "takes an option of the command line; the target sql-expression reads more",
    "text/stored_rows.py:one_line": "takes a name that was read",
    "text/binlog_statements.py:MemorySpool.add": "takes what was printed of a statement whose end is another event",
    "text/binlog_statements.py:Spool.add": "a protocol; takes what was printed",
}

# The model of WL#7053 reads what it wrote itself.
DESIGN = (
    "calls.py:Session.sdi_get_by_id",
    "calls.py:Session.sdi_get_by_name",
    "calls.py:Session.sdi_set",
    "transactions.py:Engine.write",
    "tree.py:Tree.free_blob",
    "tree.py:write_blob",
)
ELSEWHERE |= {f"innodb/sdi_design/{name}": "a model: takes values of its own tests" for name in DESIGN}


def readers() -> Iterator[str]:
    """``path:qualified.name`` of every public function with a parameter for bytes or text."""
    for path in sorted(REFERENCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        scopes: list[ast.Module | ast.ClassDef] = [tree]
        scopes += [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        for scope in scopes:
            for node in scope.body:
                if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and takes_input(node):
                    prefix = f"{scope.name}." if isinstance(scope, ast.ClassDef) else ""
                    yield f"{path.relative_to(REFERENCE).as_posix()}:{prefix}{node.name}"


def takes_input(function: ast.FunctionDef) -> bool:
    for argument in (*function.args.args, *function.args.kwonlyargs):
        if argument.annotation is None:
            continue
        words = {node.id for node in ast.walk(argument.annotation) if isinstance(node, ast.Name)}
        if isinstance(argument.annotation, ast.Constant) and isinstance(argument.annotation.value, str):
            words |= set(argument.annotation.value.replace("|", " ").split())
        if words & OUTSIDE or ("str" in words and argument.arg in TEXTS):
            return True
    return False


def reached() -> set[str]:
    """The functions of the reference that the targets call for their seeds, as ``path:qualified.name``."""
    calls: set[str] = set()
    root = f"{REFERENCE}/"

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            calls.add(f"{frame.f_code.co_filename[len(root) :]}:{frame.f_code.co_qualname}")

    before = sys.getprofile()
    for name in target_names():
        target = load(name)
        for _, data in target.seeds():
            sys.setprofile(profile)
            try:
                target.check(data)
            finally:
                sys.setprofile(before)
    return calls


def test_every_reader_of_the_reference_is_reached_by_a_target() -> None:
    found = set(readers())
    assert len(found) > 80
    assert set(ELSEWHERE) <= found
    # In a process of its own: what other tests have left in caches would not be called again.
    root = REFERENCE.parents[1]
    command = [sys.executable, "-m", "tests.fuzz.test_readers"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    assert sorted(found - set(done.stdout.split()) - set(ELSEWHERE)) == []


if __name__ == "__main__":
    print("\n".join(reached()))  # noqa: T201
