"""Faulty conversations: ``python protocol.py FAULT``. Except for the fault the answers are the reference's."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.subjects.faulty.reading import Reader

Say = Callable[..., None]


def soundly(request: int, say: Say, found: Any) -> None:
    say(request, found)


def never(_request: int, _say: Say, _found: Any) -> None:
    time.sleep(60)


def twice(request: int, say: Say, found: Any) -> None:
    say(request, found)
    say(request, found)


def flood(_request: int, _say: Say, _found: Any) -> None:
    while True:
        sys.stdout.write("x" * 65536)


def crash_on_the_third(request: int, say: Say, found: Any) -> None:
    if request == 4:  # the first was hello
        os.kill(os.getpid(), signal.SIGSEGV)
    say(request, found)


def half_an_answer(request: int, _say: Say, found: Any) -> None:
    text = json.dumps({"id": request, "result": found}, default=str)
    sys.stdout.write(text[: len(text) // 2])
    sys.stdout.flush()
    sys.exit(0)


def wrong_id(request: int, say: Say, found: Any) -> None:
    say(request + 1, found)


def chatter(request: int, say: Say, found: Any) -> None:
    sys.stdout.write("decoding ...\n")
    say(request, found)


def decode_of(reader: Reader, path: str) -> dict[str, Any]:
    """The answer to a request, without its id."""
    changes: list[Any] = []
    try:
        for change in reader.decode(path):
            changes.append(change)  # noqa: PERF402 - those before an error stay
    except Exception as error:  # noqa: BLE001 - a refusal
        return {"error": {"code": "error", "message": str(error)}, "changes": changes}
    return {"result": {"changes": changes, "marks": []}}


def main(fault: Callable[[int, Say, Any], None]) -> None:
    """Answer requests until ``bye``."""
    reader = Reader()

    def say(request: int, found: Any) -> None:
        sys.stdout.write(json.dumps({"id": request, **found}) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "decode":
            fault(request["id"], say, decode_of(reader, request["path"]))
        else:
            say(request["id"], {"result": reader.hello() if request["method"] == "hello" else {}})
        if request["method"] == "bye":
            return


FAULTS = {
    fault.__name__: fault
    for fault in (soundly, never, twice, flood, crash_on_the_third, half_an_answer, wrong_id, chatter)
}

if __name__ == "__main__":
    main(FAULTS[sys.argv[1]])
