"""The lab's own image: small, of a user of its own, and able to judge a server in another container."""

from __future__ import annotations

import json
import tomllib
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import engine as engines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

ROOT = Path(__file__).parents[2]


def test_the_build_context_has_every_package_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    allowed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert f"!{name}" in allowed


def test_the_image_has_debians_package_of_everything_that_the_lab_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    installed = (ROOT / "docker/lab/Dockerfile").read_text("utf-8")
    names = {"mysql-connector-python": "python3-mysql.connector"}
    for requirement in (*project["dependencies"], *project["optional-dependencies"]["docker"]):
        name = requirement.partition(">")[0]
        assert names.get(name, f"python3-{name}") in installed, requirement


@pytest.fixture
def lab_image(engine: DockerClient) -> str:
    name = engines.IMAGES["lab"]
    if not engine.images.list(name=name):
        pytest.skip(f"the engine has no image {name} (python docker/build.py lab)")
    return name


@pytest.fixture
def network(engine: DockerClient) -> Iterator[str]:
    made = engine.networks.create(f"lab-test-{uuid.uuid4().hex[:8]}")
    yield str(made.name)
    made.remove()


@pytest.mark.container
def test_it_judges_a_server_in_another_container_as_a_user_of_its_own(
    engine: DockerClient, lab_image: str, mysql_image: str, network: str
) -> None:
    attributes = engine.images.get(lab_image).attrs
    assert attributes["Config"]["User"] == "lab"
    assert attributes["Size"] < 200_000_000
    server = engine.containers.create(
        mysql_image, ["--server-id=5"], name=f"{network}-server", network=network,
        environment={"MYSQL_ROOT_PASSWORD": "secret"},
    )  # fmt: skip
    # The first word waits for the server; the lab's own message says why it would not be there.
    script = (
        "for i in $(seq 240); do (exec 3<>/dev/tcp/$0/3306) 2>/dev/null && break; sleep 0.5; done;"
        " binlog-lab conformance --server mysql://root@$0:3306 -r FR1 --updates 200 --seed 1 --report report >&2;"
        " code=$?; cat report/results.json; exit $code"
    )
    lab = engine.containers.create(
        lab_image, ["-c", script, f"{network}-server"], entrypoint="bash", network=network,
        environment={"BINLOG_LAB_PASSWORD": "secret"},
    )  # fmt: skip
    try:
        server.start()
        lab.start()
        code = lab.wait(timeout=400)["StatusCode"]
        assert code == 0, lab.logs().decode("utf-8", "replace")
        results = json.loads(lab.logs(stderr=False))
    finally:
        for container in (lab, server):
            container.remove(force=True, v=True)
    assert results["totals"]["updates_compared"] == 200
    assert results["totals"]["mismatches"] == 0
    assert results["requirements"]["FR1"]["verdict"] == "pass"
