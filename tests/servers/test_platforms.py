"""Which platform of an image the lab takes, and what it says where there is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.servers.containers import image as images
from conformance.servers.containers import platforms
from conformance.servers.errors import ServerUnavailable

pytest.importorskip("docker.errors")
BOTH = [{"os": "linux", "architecture": "amd64"}, {"os": "linux", "architecture": "arm64", "variant": "v8"}]
OLD = [{"os": "linux", "architecture": "amd64"}, {"os": "unknown", "architecture": "unknown"}]  # with an attestation


class Engine:
    """An engine with images by name, and a registry that says for which platforms it has others."""

    def __init__(self, architecture: str, here: dict[str, str], registry: dict[str, list[dict[str, str]]]) -> None:
        self.architecture = architecture
        self.here = here
        self.registry = registry
        self.pulled: list[tuple[str, str, str]] = []
        self.images = SimpleNamespace(get=self.get, get_registry_data=self.get_registry_data)
        self.api = SimpleNamespace(pull=self.pull)

    def version(self) -> dict[str, str]:
        return {"Os": "linux", "Arch": self.architecture}

    def get(self, name: str) -> Any:
        from docker.errors import ImageNotFound

        if name not in self.here:
            raise ImageNotFound("No such image")
        return SimpleNamespace(id="sha256:1", attrs={"Os": "linux", "Architecture": self.here[name]})

    def get_registry_data(self, name: str) -> Any:
        from docker.errors import APIError

        if name not in self.registry:
            raise APIError("no route to the registry")
        return SimpleNamespace(attrs={"Platforms": self.registry[name]})

    def pull(self, repository: str, tag: str, *, stream: bool, decode: bool, platform: str) -> list[dict[str, str]]:
        assert stream
        assert decode
        self.pulled.append((repository, tag, platform))
        self.here[f"{repository}:{tag}"] = platform.partition("/")[2]
        return []


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_DEFAULT_PLATFORM", raising=False)
    monkeypatch.setattr(images, "_version_of", lambda *_: ("8.4.10", (8, 4, 10)))


def use(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> list[str]:
    """Make the lab use this engine, and return an empty list for what the lab says."""
    said: list[str] = []
    monkeypatch.setattr(images, "engine_run", lambda *_: SimpleNamespace(client=engine))
    return said


def test_the_engines_own_platform_is_pulled_and_the_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("aarch64", {}, {"mysql:8.4.10": BOTH})
    said = use(monkeypatch, engine)
    images.find_image("mysql:8.4.10", narrate=said.append)
    assert engine.pulled == [("mysql", "8.4.10", "linux/arm64")]
    assert said == ["pulling mysql:8.4.10 for linux/arm64 (it exists for linux/amd64, linux/arm64)"]


def test_a_platform_that_the_registry_does_not_have_is_refused_before_the_pull(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine("arm64", {}, {"mysql:5.7.44": OLD})
    use(monkeypatch, engine)
    with pytest.raises(ServerUnavailable) as caught:
        images.find_image("mysql:5.7.44")
    assert caught.value.missing == "there is no image mysql:5.7.44 for linux/arm64: it exists for linux/amd64"
    assert "DOCKER_DEFAULT_PLATFORM=linux/amd64 if the engine emulates that platform" in caught.value.remedy
    assert engine.pulled == []


def test_the_variable_chooses_a_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("arm64", {}, {"mysql:5.7.44": OLD})
    use(monkeypatch, engine)
    monkeypatch.setenv("DOCKER_DEFAULT_PLATFORM", "linux/amd64/v2")
    images.find_image("mysql:5.7.44")
    assert engine.pulled == [("mysql", "5.7.44", "linux/amd64")]


def test_a_platform_that_was_chosen_and_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("amd64", {}, {"mysql:5.7.44": OLD})
    use(monkeypatch, engine)
    monkeypatch.setenv("DOCKER_DEFAULT_PLATFORM", "linux/s390x")
    with pytest.raises(ServerUnavailable) as caught:
        images.find_image("mysql:5.7.44")
    assert "no image mysql:5.7.44 for linux/s390x" in caught.value.missing
    assert caught.value.remedy == "name another image"


def test_an_image_that_the_engine_has_for_another_platform_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("arm64", {"mysql:5.7.44": "amd64"}, {})
    use(monkeypatch, engine)
    with pytest.raises(ServerUnavailable, match=r"no image mysql:5\.7\.44 for linux/arm64: it exists for linux/amd64"):
        images.find_image("mysql:5.7.44")


def test_a_registry_that_does_not_say_is_asked_for_the_image_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("amd64", {}, {})
    said = use(monkeypatch, engine)
    images.find_image("localhost:5000/ours:1", narrate=said.append)
    assert engine.pulled == [("localhost:5000/ours", "1", "linux/amd64")]
    assert said == ["pulling localhost:5000/ours:1 for linux/amd64"]


def test_platforms_of_a_registry_are_listed_without_attestations() -> None:
    engine: Any = Engine("amd64", {}, {"mysql:5.7.44": OLD, "mysql:8.4.10": BOTH})
    assert platforms.in_registry(engine, "mysql:5.7.44") == ["linux/amd64"]
    assert platforms.in_registry(engine, "mysql:8.4.10") == ["linux/amd64", "linux/arm64"]
