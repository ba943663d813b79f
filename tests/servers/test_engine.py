"""Facts about container engines that can be told without one: errors, owners, files, ends."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from conformance.extras import to_install
from conformance.servers.containers import engine
from conformance.servers.containers.image import Image
from conformance.servers.containers.server import ContainerMaker, _status
from conformance.servers.errors import ServerUnavailable
from conformance.servers.run.attached import AttachedServer, Attachment
from conformance.servers.wire.capture import Capture
from conformance.servers.wire.connection import Address

if TYPE_CHECKING:
    from pathlib import Path


def test_an_engine_that_is_not_there_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such.sock")
    with pytest.raises(ServerUnavailable, match="there is no such socket") as caught:
        engine.connect()
    assert "unix:///no/such.sock" in caught.value.missing
    assert caught.value.exit_code == 3
    assert "podman system service" in caught.value.remedy


def test_without_docker_host_the_places_that_were_looked_at_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(engine, "sockets", lambda: [tmp_path / "a.sock", tmp_path / "b.sock"])
    with pytest.raises(ServerUnavailable, match="DOCKER_HOST is not set") as caught:
        engine.connect()
    assert f"{tmp_path}/a.sock, {tmp_path}/b.sock" in caught.value.missing


def test_a_missing_package_names_the_extra_whether_there_is_an_engine_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda _: None)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(engine, "sockets", list)
    with pytest.raises(ServerUnavailable, match="package docker is not installed") as caught:
        engine.connect()
    assert caught.value.remedy == to_install("docker")


def test_an_engine_that_is_gone_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/s")
    with pytest.raises(ServerUnavailable, match="connection refused"):
        engine.connect()


def test_no_permission_on_the_socket_is_told_with_what_would_help(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Refusing(socket.socket):
        def connect(self, address: Any) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/s")
    monkeypatch.setattr(socket, "socket", Refusing)
    with pytest.raises(ServerUnavailable, match="no permission to use the container engine") as caught:
        engine.connect()
    assert "group" in caught.value.remedy


_HERE = engine.owner().partition("/")[0]


@pytest.mark.parametrize(
    ("label", "orphan"),
    [
        (engine.owner(), False),
        (f"{_HERE}/{os.getpid()}/1", True),  # the same number, another process
        (f"{_HERE}/999999999/1", True),
        (f"another-host{_HERE}/999999999/1", False),
        (f"{socket.gethostname()} pid:[1]/999999999/1", False),  # in a container with this host's name
        ("", False),
    ],
    ids=["this-process", "its-number-again", "gone", "another-host", "a-container", "no-label"],
)
def test_an_orphan_is_what_a_process_of_this_host_left_that_is_gone(label: str, orphan: bool) -> None:
    assert engine.is_orphan(label) is orphan


def test_what_was_removed_is_counted_in_words() -> None:
    assert str(engine.Removed()) == "nothing"
    assert not engine.Removed()
    assert str(engine.Removed(2, 1, 1)) == "2 containers, 1 volume, 1 network"


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 1), (137, -9), (139, -11), (255, 255)])
def test_an_exit_code_above_128_is_a_signal(code: int, status: int) -> None:
    assert _status({"Running": False, "ExitCode": code}) == status
    assert _status({"Running": True, "ExitCode": code}) is None


def test_paths_of_a_container_are_never_looked_at_here(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(b"\xfebin")  # another server's

    class Elsewhere(AttachedServer):
        def connect(self, **_: Any) -> Any:
            raise AssertionError("its paths were asked for")

    attachment = Attachment(
        id="docker", version="9.7.4", number=(9, 7, 4), started_by_us=True, files_readable=False, address=Address()
    )
    assert Capture(Elsewhere(attachment)).over_protocol


def test_a_wrapper_in_front_of_a_container_is_a_usage_error() -> None:
    from conformance.servers.errors import SpecError

    image = Image("mysql:9.7", "sha256:0", "9.7.4", (9, 7, 4))
    with pytest.raises(SpecError, match="a wrapper is for a process"):
        ContainerMaker(image).launch(wrapper="valgrind")
