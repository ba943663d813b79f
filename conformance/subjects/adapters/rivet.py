"""Adapter of rivet: one bounded run of ``rivet cdc`` for each Case, from a checkpoint at the Case's position.

Usage: rivet.py PROGRAM. Its lines have the values of a row in a list, without names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from talk import Refused, converse

_HEX = re.compile(r"\\x(?:[0-9a-f]{2})*")
_BYTES = re.compile(r"blob|binary|^bit|geom|point|linestring|polygon|vector")
PROGRAM = sys.argv[1]
VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
SCRATCH = tempfile.TemporaryDirectory()
CHECKPOINT = Path(SCRATCH.name) / "checkpoint"


def _run(server: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    address = f"{quote(server['user'])}:{quote(server['password'])}@{server['host']}:{server['port']}"
    return subprocess.run(
        [PROGRAM, "cdc", "--source-env", "RIVET_SOURCE", "--checkpoint", str(CHECKPOINT), "--json-errors"],
        env={**os.environ, "RIVET_SOURCE": f"mysql://{address}/{server['marker']['schema']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=server["timeout"],
    )


def _value(value: Any, kind: str) -> Any:
    """A value of a column of that type: texts, bytes and documents look alike, and TIME is in microseconds."""
    if value is None:
        return None
    if not isinstance(value, str):
        return {"index": value} if kind.startswith("enum") and isinstance(value, int) else _time(value, kind)
    if kind == "json":
        return {"json_text": value}
    # Bytes that are no UTF-8 are \\x and digits; others look like a text.
    raw = bytes.fromhex(value[2:]) if _HEX.fullmatch(value) else None
    if kind.startswith("set"):
        return {"index": int.from_bytes(value.encode() if raw is None else raw, "little")}
    if raw is not None or _BYTES.search(kind):
        return {"hex": (value.encode() if raw is None else raw).hex()}
    if kind == "date":
        return value.removesuffix(" 00:00:00")
    return value


def _time(value: Any, kind: str) -> Any:
    if not kind.startswith("time") or not isinstance(value, int):
        return value if isinstance(value, int) else json.dumps(value)
    seconds, micro = divmod(abs(value), 1_000_000)
    return f"{'-' * (value < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micro:06}"


def _image(row: list[Any] | None, columns: dict[str, str]) -> dict[str, Any] | None:
    """The values with the table's names. A list that is shorter than the table leaves only their places."""
    if row is None:
        return None
    if len(row) == len(columns):
        return {name: _value(value, kind) for value, (name, kind) in zip(row, columns.items(), strict=True)}
    return {f"@{number}": _value(value, "") for number, value in enumerate(row, 1)}


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Set the checkpoint, run, and take what was printed in front of the last marker."""
    server = request["server"]
    CHECKPOINT.unlink(missing_ok=True)
    try:
        run = _run(server)  # makes a checkpoint at the end of the log
        if not CHECKPOINT.exists():
            raise Refused(_error(run))
        checkpoint = json.loads(CHECKPOINT.read_text(encoding="utf-8"))
        checkpoint |= {"file": server["file"], "pos": server["position"]}
        CHECKPOINT.write_text(json.dumps(checkpoint), encoding="utf-8")
        run = _run(server)
        printed = run.stdout
        for _ in range(server.get("restarts", 0)):
            if run.returncode == 0:
                break
            run = _run(server)  # from the checkpoint that it keeps itself
            printed += run.stdout
    except subprocess.TimeoutExpired:
        raise Refused("rivet does not end", code="timed-out") from None
    sys.stderr.write(run.stderr)
    changes: list[dict[str, Any]] = []
    for line in printed.splitlines():
        found = json.loads(line, parse_float=str)
        if (found["schema"], found["table"]) == (server["marker"]["schema"], server["marker"]["table"]):
            if server["marker"]["end"] in (found["after"] or []):
                return {"changes": changes, "marks": []}
            continue
        columns = server["columns"].get(f"{found['schema']}.{found['table']}", {})
        changes.append(
            {
                "schema": found["schema"],
                "table": found["table"],
                "operation": found["op"],
                "before": _image(found["before"], columns),
                "after": _image(found["after"], columns),
            }
        )
    if run.returncode == 0:
        raise Refused("rivet ends before the last row", code="timed-out", changes=changes)
    raise Refused(_error(run), changes=changes)


def _error(run: subprocess.CompletedProcess[str]) -> str:
    for line in reversed(run.stderr.splitlines()):
        if line.startswith("{"):
            error = json.loads(line).get("error", line)
            return error if isinstance(error, str) else json.dumps(error)
    return run.stderr.strip() or f"exit status {run.returncode}"


converse(
    {
        "name": "rivet",
        "version": VERSION,
        "roles": ["decode"],
        "capabilities": ["server", "position", "member-numbers"],
        "input": "path",
    },
    {"decode": decode},
)
