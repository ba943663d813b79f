"""The estimate on Spark says what it says without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenarios.estimate.inline import estimate as by_loop
from scenarios.spark.estimates import estimate as by_spark

DATA = Path(__file__).parents[1] / "data" / "binlogs"
NAMES = ("02-partial-off-same-sql", "04-partial-multi-json-full", "12-compressed-payload", "18-not-closed")


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_and_a_loop_give_the_same_figures(spark: Any, tmp_path: Path) -> None:
    """The logs are full, partial, compressed, damaged, open and encrypted, and one file is no log; their parts are
    small."""
    whole = (DATA / "03-partial-multi-json-noblob.binlog").read_bytes()
    made = {"cut": whole[:3000], "encrypted": b"\xfdbin" + bytes(600), "text": b"no log"}
    files = []
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
        files.append(str(tmp_path / name))
    files += [str(DATA / f"{name}.binlog") for name in NAMES]
    found = by_spark(spark, files, part="4000")
    assert found == by_loop(files)
    assert {trouble.code for trouble in found.troubles} >= {"truncated", "encrypted", "not-a-binlog", "in-use"}
