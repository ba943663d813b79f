"""Rows of a log as mysqlbinlog or mariadb-binlog prints them. Usage: show.py PROGRAM..."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

OPERATIONS = {"INSERT INTO": "insert", "UPDATE": "update", "DELETE FROM": "delete"}


def rows(log):
    place = Path(tempfile.mkdtemp()) / "log.binlog"
    place.write_bytes(log)
    words = [*sys.argv[1:], "--no-defaults", "-vv", "--base64-output=DECODE-ROWS", f"--local-load={place.parent}"]
    done = subprocess.run([*words, str(place)], capture_output=True, timeout=50, check=False)
    text = done.stdout.decode("utf-8", "replace")
    for operation in re.findall(r"^### (INSERT INTO|UPDATE|DELETE FROM) `", text, re.MULTILINE):
        yield OPERATIONS[operation], {}, {}  # what the values are, this script does not say
    if done.returncode < 0:
        raise SystemExit(f"the program died of signal {-done.returncode}")
    said = re.search(r"^.*!! Don't know how to handle column type.*$", text, re.MULTILINE)
    errors = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "error" in line.lower()]
    if said or done.returncode:
        raise ValueError(said[0] if said else (errors or ["no error on standard error"])[0].replace(str(place), "LOG"))
