"""Adapter of go-mysql's canal, as the program of the npm package @solashi/go-mysql-binlog-node runs it.

Usage: go_mysql.py DIRECTORY, where DIRECTORY has the node_modules. The program is started for each Case and reads from
the Case's position; its own JSON lines become changes, and what it logs as an error is its refusal.
"""

from __future__ import annotations

import base64
import json
import platform
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from talk import Refused, converse

_PACKAGE = "@solashi/go-mysql-binlog-node"
_DRAINED = 0.3  # seconds for what the program printed before its error
_BYTES = re.compile(r"blob|geom|point|linestring|polygon|vector")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def _program(directory: Path) -> Path:
    """An executable copy of the prebuilt program: packages are installed without their scripts."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    return directory / "node_modules" / _PACKAGE / "prebuilds" / f"linux-{machine}"


def _lines(stream: Any, name: str, out: queue.Queue[tuple[str, str]]) -> None:
    for line in stream:
        out.put((name, line.rstrip("\n")))
    out.put((name, ""))


def _bytes(value: str) -> dict[str, str] | None:
    """Return the bytes that the program's base64 holds, in hex; ``None`` for a text.

    The program writes bytes that are UTF-8 as a text, and all others in base64.
    """
    if not value or not _BASE64.fullmatch(value):
        return None
    found = base64.b64decode(value)
    try:
        found.decode()
    except UnicodeDecodeError:
        return {"hex": found.hex()}
    return None


def _text(value: str, kind: str) -> Any:
    """A text as the program shows it; bytes of a TEXT that are no UTF-8 are in base64."""
    charset = kind.rpartition(" CHARACTER SET ")[2]
    is_bytes = "text" in kind.partition(" ")[0] and not charset.startswith("utf8")
    return (_bytes(value) if is_bytes else None) or value


def _value(value: Any, kind: str) -> Any:
    """A value of a column of that type: the program's JSON tells neither bytes nor documents from texts."""
    if value is None:
        return None
    if isinstance(value, list):
        return ",".join(map(str, value))
    if kind == "json":
        return {"json_text": value if isinstance(value, str) else json.dumps(value)}
    if kind.startswith("bit") and isinstance(value, int):
        size = (int(kind[4:-1]) + 7) // 8
        return {"hex": (value % (1 << 8 * size)).to_bytes(size, "big").hex()}  # an int64 in Go
    if not isinstance(value, str):
        return value if isinstance(value, int) else json.dumps(value)
    if _BYTES.search(kind):
        return _bytes(value) or {"hex": value.encode().hex()}
    if kind.startswith(("datetime", "timestamp")):
        return value.replace("T", " ").removesuffix("Z")
    return value if kind.startswith(("enum", "set")) else _text(value, kind)


def _changes(event: dict[str, Any], columns: dict[str, dict[str, str]]) -> list[dict[str, Any]]:
    table = {"schema": event["table"]["schema"], "table": event["table"]["name"]}
    kinds = columns.get(f"{table['schema']}.{table['table']}", {})

    def image(row: dict[str, Any]) -> dict[str, Any]:
        return {name: _value(value, kinds.get(name, "")) for name, value in row.items()}

    found = [table | {"operation": "insert", "before": None, "after": image(row)} for row in event.get("insert") or []]
    found += [
        table | {"operation": "update", "before": image(row["old"]), "after": image(row["new"])}
        for row in event.get("update") or []
    ]
    return found + [
        table | {"operation": "delete", "before": image(row), "after": None} for row in event.get("delete") or []
    ]


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Run the program from the Case's position to its last marker."""
    server = request["server"]
    config = {
        "hostname": server["host"],
        "port": server["port"],
        "username": server["user"],
        "password": server["password"],
        "tableRegexes": [".*\\..*"],
        # The program reads "pos", whatever its wrapper calls it.
        "binlogPosition": {"name": server["file"], "pos": server["position"]},
    }
    pipe = subprocess.PIPE
    with subprocess.Popen([PROGRAM], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stdin
            child.stdin.write(json.dumps({"type": "connect", "config": config}) + "\n")
            child.stdin.flush()
            return _read(child, server)
        finally:
            child.kill()


def _read(child: subprocess.Popen[str], server: dict[str, Any]) -> dict[str, Any]:
    arriving: queue.Queue[tuple[str, str]] = queue.Queue()
    for name, stream in (("out", child.stdout), ("err", child.stderr)):
        threading.Thread(target=_lines, args=(stream, name, arriving), daemon=True).start()
    changes: list[dict[str, Any]] = []
    marker, said = server["marker"], ""
    while True:
        try:
            name, line = arriving.get(timeout=_DRAINED if said else server["timeout"])
        except queue.Empty:
            if said:
                raise Refused(said, changes=changes) from None
            raise Refused("the program prints nothing more", code="timed-out", changes=changes) from None
        if not line and child.poll() is not None:
            raise Refused(said or f"the program ended with status {child.returncode}", changes=changes)
        if name == "err":
            print(line, file=sys.stderr)
            if "got error:" in line or line.startswith("panic:"):
                said = line.partition("got error: ")[2] or line
            continue
        if not line.startswith("{"):
            continue
        message = json.loads(line, parse_float=str)
        if message["type"] in ("connect_error", "error"):
            raise Refused(str(message.get("error")), changes=changes)
        if message["type"] == "binlog_change":
            for change in _changes(message["event"], server["columns"]):
                if (change["schema"], change["table"]) != (marker["schema"], marker["table"]):
                    changes.append(change)
                elif change["after"]["word"] == marker["end"]:
                    return {"changes": changes, "marks": []}


DIRECTORY = Path(sys.argv[1])
with tempfile.TemporaryDirectory() as scratch:
    PROGRAM = str(shutil.copy(_program(DIRECTORY), scratch))
    Path(PROGRAM).chmod(0o700)
    manifest = json.loads((DIRECTORY / "node_modules" / _PACKAGE / "package.json").read_text(encoding="utf-8"))
    converse(
        {
            "name": "go-mysql",
            "version": "1.11.0",
            "note": f"canal, as {_PACKAGE} {manifest['version']} runs it",
            "roles": ["decode"],
            "capabilities": ["server", "position"],
            "input": "path",
        },
        {"decode": decode},
    )
