"""Every compose file is valid, publishes on loopback only, pins its images, and is not fooled by a temporary server."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.containers import compose

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = {
    "mysql-8.0.yaml": ("8.0", "8.0"),
    "mysql-8.4.yaml": ("8.4", "8.4"),
    "mysql-9.yaml": ("9.", "9."),
    "old-to-new.yaml": ("5.7", "8.0"),
    "new-to-old.yaml": ("8.0", "5.7"),
}
IMAGE = re.compile(r"\$\{\w+_IMAGE:-(?:mysql:\d+\.\d+\.\d+|binlog-lab(?:-spark)?:latest)\}")
PORT = re.compile(r"127\.0\.0\.1:\$\{\w+_PORT:-\d+\}:\d+")
files = pytest.mark.parametrize("path", compose.FILES, ids=lambda path: path.name)


def _faults(document: compose.Document) -> list[str]:
    """The breaches of our own rules in a Compose file."""
    found = []
    for name, service in document["services"].items():
        if not IMAGE.fullmatch(service.get("image", "")):
            found.append(f"{name}: image {service.get('image')!r} is not pinned, or cannot be replaced")
        found.extend(
            f"{name}: port {port!r} is not published on loopback at a place of choice"
            for port in service.get("ports") or []
            if not PORT.fullmatch(str(port))
        )
        check = " ".join(service.get("healthcheck", {}).get("test", []))
        if "mysql" in check and not ("--protocol=TCP" in check and "127.0.0.1" in check):
            found.append(f"{name}: a health check that does not ask over TCP")
    return found


@files
def test_a_file_follows_the_schema_of_compose(path: Path) -> None:
    compose.validate(compose.load(path))


@files
def test_docker_compose_accepts_a_file_with_all_its_services(path: Path) -> None:
    words = compose.program()
    if words is None:
        pytest.skip("Docker Compose 2 is not here (neither the plugin nor docker-compose)")
    answer = compose.run(words, path, "--profile", "*", "config", "--format", "json")
    assert answer.returncode == 0, answer.stderr
    services = json.loads(answer.stdout)["services"]
    assert set(services) == set(compose.load(path)["services"])
    for service in services.values():
        for port in service.get("ports", []):
            assert port["host_ip"] == "127.0.0.1"


@files
def test_images_are_pinned_and_ports_are_on_loopback(path: Path) -> None:
    assert _faults(compose.load(path)) == []


def test_there_is_a_pair_for_each_release_and_two_across_them() -> None:
    for name, (source, replica) in PAIRS.items():
        services = compose.load(compose.DIRECTORY / name)["services"]
        assert set(services) == {"source", "replica", "replication"}
        assert f":-mysql:{source}" in services["source"]["image"]
        assert f":-mysql:{replica}" in services["replica"]["image"]
        assert services["replication"]["image"] == services["replica"]["image"]


def test_every_file_is_named_here_or_stands_for_itself() -> None:
    assert {path.name for path in compose.FILES} == {*PAIRS, "pair.yaml", "lab.yaml", "spark.yaml"}


def _change(service: dict[str, Any], what: str) -> None:
    if what == "image":
        service["image"] = "mysql:8"
    elif what == "port":
        service["ports"] = ["3306:3306"]
    elif what == "health":
        service["healthcheck"] = {"test": ["CMD", "mysqladmin", "ping"]}


@pytest.mark.parametrize("mistake", ["image", "port", "health"])
def test_a_planted_fault_is_found(mistake: str) -> None:
    document = copy.deepcopy(compose.load(compose.DIRECTORY / "pair.yaml"))
    _change(document["services"]["source"], mistake)
    assert len(_faults(document)) == 1


@pytest.mark.parametrize(
    "mistake", [{"imagee": "x"}, {"ports": 3306}, {"depends_on": {"source": {"condition": "service_ready"}}}]
)
def test_a_planted_fault_breaks_the_schema(mistake: dict[str, Any]) -> None:
    document = copy.deepcopy(compose.load(compose.DIRECTORY / "pair.yaml"))
    document["services"]["source"].update(mistake)
    with pytest.raises(jsonschema.ValidationError):
        compose.validate(document)
