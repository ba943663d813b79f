"""Small adapters as Python source, which the tests run as processes of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CHANGE = '{"schema": "s", "table": "t", "operation": "insert", "before": null, "after": {"id": 1, "d": 1.50}}'

LOOP = """\
import base64, json, os, sys, time
CHANGE = json.loads('''%s''')
def answer(request, **found):
    print(json.dumps({"id": request["id"], **found}), flush=True)
served = 0
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "hello":
        answer(request, result={"name": "toy", "version": "1", %s})
    elif request["method"] == "bye":
        answer(request, result={})
        break
    else:
        served += 1
%s
"""
GOOD = 'answer(request, result={"changes": [CHANGE]})'


def conversation(place: Path, body: str = GOOD, *, hello: str = "") -> list[str]:
    """A command whose answers to requests are made by ``body``."""
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    return program(place, LOOP % (CHANGE, hello, indented))


def program(place: Path, source: str) -> list[str]:
    """A command that runs some Python source."""
    file = place / "adapter.py"
    file.write_text(source, "utf-8")
    return [sys.executable, "-I", str(file)]
