"""The lab's own image: small, of a user of its own, and able to judge a server in another container."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import engine as engines
from tests.builds.complete import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

ROOT = Path(__file__).parents[2]


def test_the_build_context_has_all_that_a_wheel_is_made_of(tmp_path: Path) -> None:
    context = tmp_path / "context"
    for name in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if name.startswith("!"):
            source, target = ROOT / name[1:], context / name[1:]
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.parent.mkdir(exist_ok=True)
                shutil.copy(source, target)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / "dist")]
    environment = {**os.environ, "BINLOG_LAB_COMPILE": "0"}
    done = subprocess.run(command, cwd=context, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    assert missing(wheel) == []


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
