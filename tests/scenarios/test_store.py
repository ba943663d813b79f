"""Errors of Spark that are errors of the system."""

from __future__ import annotations

import errno

import pytest

from scenarios.spark.store import full_disk_at


def test_a_full_disk_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="rows/cells=0-31") as caught, full_disk_at("rows/cells=0-31"):
        raise RuntimeError(
            "[TASK_WRITE_FAILED] …\nCaused by: java.io.IOException: No space left on device\n\t… 43 more"
        )
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(RuntimeError, match="another"), full_disk_at("rows"):
        raise RuntimeError("another")
