"""One Spark session for all tests that need one; a small matrix; logs of updates run twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from scenarios.matrix import Matrix, parse_matrix
from scenarios.spark.session import SparkUnavailable, session
from tests.scenarios.workloads import KINDS, run, workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer

TINY = """
name = "tiny"
title = "A few cells"
engine = "update"
[axes]
size = [100, 300]
update = ["replace", "ineligible", "beside"]
[ranges]
image = ["FULL", "MINIMAL"]
columns = [1, 2]
[scenarios]
total = 120
[[budgets]]
id = "full-plus-one"
requirement = "FR12"
title = "The event grows by {options} byte"
where = "event_on > 0 AND partial_columns + empty_columns = 0"
must = "event_on - event_off = options"
constants = { options = 1 }
offender = "event_on - event_off"
[[budgets]]
id = "off-unchanged"
requirement = "FR13"
title = "Off is off"
where = "event_off > 0"
must = "event_off = due_off"
"""


# Java made for each query, and 200 parts of a result, cost more than they save. The tests of clusters have Spark's own.
_FOR_FEW_ROWS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def tiny() -> Matrix:
    return parse_matrix(TINY, "tiny.toml")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Skipped where pyspark or Java is missing, except in CI: there it has to be there."""
    before = os.environ.get("SPARK_LOCAL_IP")
    try:
        with session("local[2]", name="binlog-lab tests") as found:
            for setting, value in _FOR_FEW_ROWS.items():
                found.conf.set(setting, value)
            yield found
    except SparkUnavailable as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no Spark here: {problem}")
    finally:
        if before is None:
            os.environ.pop("SPARK_LOCAL_IP", None)


@pytest.fixture(scope="session")
def estimate_logs(server: ProcessServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For each kind of updates the logs with the option off and on; ``mixed`` also with the other images."""
    place = tmp_path_factory.mktemp("estimates")
    for kind in KINDS:
        made = workload(kind, 60)
        (place / f"{kind}.off").write_bytes(run(server, made, partial_json=False, metadata="FULL"))
        (place / f"{kind}.on").write_bytes(run(server, made, partial_json=True, metadata="FULL"))
        if kind == "mixed":
            for image in ("MINIMAL", "NOBLOB"):
                (place / image).write_bytes(run(server, made, partial_json=True, image=image, metadata="FULL"))
    return place
