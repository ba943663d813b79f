"""Hosts a Python object as a conversation, in a process of its own: ``python python_host.py MODULE:OBJECT``.

It needs the standard library alone, so that the Python of any virtual environment can run it as a file. The object has
a method ``decode(path)``, or is such a function. It returns or yields row changes; an exception is a refusal, and what
was yielded before counts. ``{"mark": {...}}`` among the changes is a mark. The object may have ``hello()``,
``decode_json(bytes)``, ``apply(document, diffs)`` and ``print(path)`` as well. For data files it has ``rows(path)`` and
``sdi(path)``, which return or yield as ``decode`` does. A class is called without arguments.
"""

from __future__ import annotations

import base64
import importlib
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Refused = Callable[[Exception], dict[str, Any]]


def plain(value: Any) -> Any:
    """The JSON form of a value that has none: bytes as hex, others as their text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return {"hex": bytes(value).hex()}
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return str(value)


def module_of(name: str) -> Any:
    """The module of ``MODULE:OBJECT``; the working directory is searched first."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a text is wanted
    return importlib.import_module(name.partition(":")[0])


def load(name: str) -> Any:
    """The object of ``MODULE:OBJECT``."""
    found: Any = module_of(name)
    for part in name.partition(":")[2].split("."):
        found = getattr(found, part)
    return found() if isinstance(found, type) else found


def introduction(subject: Any, name: str) -> dict[str, Any]:
    """Return the introduction of the object: what it says about itself, or its name."""
    own = dict(subject.hello()) if hasattr(subject, "hello") else {}
    return {"name": name, **own}


def decode(read: Any, path: str, key: str, refused: Refused) -> dict[str, Any]:
    """The answer to ``decode``: a result, or an error with the changes before it. ``key``: what the answer has."""
    changes: list[Any] = []
    marks: list[Any] = []
    found = {key: changes, "marks": marks}
    try:
        for item in read(path):
            is_mark = isinstance(item, dict) and set(item) == {"mark"}
            (marks if is_mark else changes).append(item["mark"] if is_mark else item)
    except Exception as problem:  # noqa: BLE001 - any exception of the subject is its refusal
        return {"error": refused(problem), **found}
    return {"result": found}


def refusal(problem: Exception) -> dict[str, Any]:
    """An exception as an error; its traceback goes to standard error."""
    traceback.print_exception(problem)
    return {"code": type(problem).__name__, "message": str(problem)}


def answer(subject: Any, name: str, request: dict[str, Any], refused: Refused = refusal) -> dict[str, Any]:
    """The answer to one request, without its id. ``refused``: what becomes of the object's exceptions."""
    method = request.get("method")
    try:
        if method == "hello":
            return {"result": introduction(subject, name)}
        if method == "bye":
            return {"result": {}}
        if method == "decode":
            read = subject.decode if hasattr(subject, "decode") else subject
            return decode(read, request["path"], "changes", refused)
        if method in ("rows", "sdi"):
            return decode(getattr(subject, method), request["path"], method, refused)
        if method == "decode_json":
            return {"result": {"document": subject.decode_json(base64.b64decode(request["base64"]))}}
        if method == "apply":
            return {"result": {"document": subject.apply(request["document"], base64.b64decode(request["diffs"]))}}
        if method == "print":
            return {"result": {"text": subject.print(request["path"])}}
    except Exception as problem:  # noqa: BLE001 - as above
        return {"error": refused(problem)}
    return {"error": {"code": "unknown-method", "message": f"no method {method!r}"}}


def written(found: dict[str, Any]) -> str:
    """The line of an answer; an error takes the place of one that is no JSON: bytes as keys, say."""
    try:
        return json.dumps(found, default=plain)
    except (TypeError, ValueError) as problem:
        return json.dumps({"id": found["id"], "error": refusal(problem)})


def main(name: str) -> None:
    """Answer until ``bye``, or until standard input ends. What the object prints goes to standard error."""
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)  # a word belongs to the request in which it was said
        try:
            subject = load(name)
        except (ImportError, AttributeError) as problem:
            sys.exit(f"{name}: {problem}")
        for line in requests:
            request = json.loads(line)
            answers.write(written({"id": request["id"], **answer(subject, name, request)}).encode() + b"\n")
            answers.flush()
            if request.get("method") == "bye":
                return


if __name__ == "__main__":
    main(sys.argv[1])
