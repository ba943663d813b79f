"""Rows by rivet alone: one run of its command `cdc`, from a checkpoint. Usage: show.py PROGRAM."""

import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path


class Number(Decimal):
    """A number with its digits: JSON does not say whether it is a DECIMAL or a DOUBLE."""


def plain(value, kind):
    """A value of a column of that type. Bytes that are no UTF-8 are backslash, x and digits."""
    if kind == "json" and isinstance(value, str):
        return json.loads(value, parse_float=Number)
    if isinstance(value, str) and re.fullmatch(r"\\x(?:[0-9a-f]{2})*", value):
        value = bytes.fromhex(value[2:])
    if isinstance(value, str) and kind.startswith(("bit", "set")):
        value = value.encode()
    if isinstance(value, bytes) and kind.startswith("set"):
        return int.from_bytes(value, "little")  # one bit for each member
    if isinstance(value, str) and kind == "date":
        return value.removesuffix(" 00:00:00")
    return value


def image(values, columns):
    """A row by column names. rivet gives a list without names; the table's names fit if the list has all columns."""
    names = list(columns) if values and len(values) == len(columns) else None
    if values is None or names is None:
        return values and {f"@{place}": value for place, value in enumerate(values, 1)}
    return {name: plain(value, columns[name]) for name, value in zip(names, values, strict=True)}


def rows(log):
    checkpoint = Path(tempfile.mkdtemp()) / "checkpoint"
    checkpoint.write_text(json.dumps({"file": SERVER["file"], "pos": SERVER["position"]}))
    address = "mysql://{user}:{password}@{host}:{port}/{schema}".format(**SERVER)
    words = [sys.argv[1], "cdc", "--source-env", "RIVET_SOURCE", "--checkpoint", checkpoint, "--json-errors"]
    environment = {**os.environ, "RIVET_SOURCE": address}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=50, check=False)
    for line in done.stdout.splitlines():
        row = json.loads(line, parse_float=Number)
        if row["schema"] == SERVER["schema"]:  # a row of another table, behind the log
            return
        columns = SERVER["columns"].get("{schema}.{table}".format(**row), {})
        yield row["op"], image(row["before"], columns), image(row["after"], columns)
    said = [json.loads(line)["error"] for line in done.stderr.splitlines() if line.startswith("{")]
    raise ValueError(said[-1] if said else f"exit status {done.returncode}, before the row behind the log")
