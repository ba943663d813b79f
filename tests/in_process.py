"""``binlog-lab`` within the process of the tests: for tests that call it often and need no program of its own."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

from conformance.cli.main import run
from tests.live import Ended

if TYPE_CHECKING:
    from pathlib import Path


def lab_here(*words: str | Path) -> Ended:
    """Run ``binlog-lab WORDS`` to its end."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(word) for word in words])
    texts = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))
    return Ended(code, *texts)
