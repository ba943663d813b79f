"""The adapter's side of a conversation in JSON lines: reads requests, prints answers.

Adapters run in the subject's own environment and import nothing of the lab; this module stands beside them.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Refused(Exception):
    """The subject's own error, with the changes and marks before it."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "error",
        position: int | None = None,
        changes: list[dict[str, Any]] | None = None,
        marks: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.position = position
        self.changes = changes or []
        self.marks = marks or []


def converse(hello: dict[str, Any], methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """Answer requests until ``bye`` or the end of the input. ``hello`` may have a method too, for what it starts."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        method, answer = request.get("method"), {"id": request.get("id")}
        try:
            if method in methods:
                answer["result"] = methods[method](request)
            elif method not in ("hello", "bye"):
                answer["error"] = {"code": "unknown-method", "message": f"no method {method!r}", "position": None}
            if method == "hello" and "error" not in answer:
                answer["result"] = hello | answer.get("result", {})
            answer.setdefault("result", {}) if method == "bye" else None
        except Refused as refused:
            answer["error"] = {"code": refused.code, "message": str(refused), "position": refused.position}
            answer["changes"], answer["marks"] = refused.changes, refused.marks
        except Exception as error:  # noqa: BLE001 - whatever the subject raises is its refusal
            answer["error"] = {"code": type(error).__name__, "message": str(error) or repr(error), "position": None}
        print(json.dumps(answer), file=answers, flush=True)
        if method == "bye":
            return


def is_marker(request: dict[str, Any], schema: str, table: str, values: Any, edge: str = "end") -> bool:
    """Whether a row is the lab's own, which stands at an edge of the Case."""
    marker = request["server"].get("marker", {})
    return bool(marker) and (schema, table) == (marker["schema"], marker["table"]) and marker[edge] in values
