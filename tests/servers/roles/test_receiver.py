"""A receiver that could not reach the lab is not started, and the check says what is missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.checks.boundaries import receivers
from conformance.servers.containers.engine_run import EngineRun
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.receiver import launch_receiver
from conformance.servers.run.owned import OwnServer
from conformance.servers.source.scripted import ScriptedSource

ELSEWHERE = "192.0.2.7"  # TEST-NET-1 (RFC 5737): no address of this machine


class Contained:
    """A server in a container of an engine on another machine."""

    version = "9.7.4"
    serve = OwnServer.serve

    def __init__(self) -> None:
        self.closed = False

    def meeting_host(self) -> str:
        return ELSEWHERE

    def close(self) -> None:
        self.closed = True


def test_a_source_listens_at_an_address_of_this_machine_only() -> None:
    with pytest.raises(ServerUnavailable, match=rf"the lab cannot listen at {ELSEWHERE}, where a container"):
        ScriptedSource([], version="9.7.4", host=ELSEWHERE)
    with ScriptedSource([], version="9.7.4") as source:
        assert source.port


def test_a_server_that_cannot_reach_the_lab_is_closed_again() -> None:
    server = Contained()
    maker: Any = SimpleNamespace(launch=lambda **_: server)
    with pytest.raises(ServerUnavailable, match="the lab cannot listen at"):
        launch_receiver(maker)
    assert server.closed


def test_the_check_is_skipped_with_what_is_missing() -> None:
    def receiver() -> None:
        raise ServerUnavailable("the lab cannot listen at 192.0.2.7")

    def skip(reason: str) -> None:
        raise pytest.skip.Exception(reason)

    lab = SimpleNamespace(version=(9, 7, 4), receiver=receiver)
    check: Any = SimpleNamespace(lab=lab, needs_server=lambda _: None, skip=skip)
    with pytest.raises(pytest.skip.Exception, match=r"needs a receiver that can read from the lab: the lab cannot"):
        receivers.needed_target(check)


@pytest.mark.parametrize(
    ("ipam", "gateway"),
    [
        ({"Config": [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}]}, "172.18.0.1"),
        ({"Config": [{"Subnet": "fd00::/64"}, {"Subnet": "10.89.0.0/24", "Gateway": "10.89.0.1/24"}]}, "10.89.0.1"),
        ({"Config": []}, ""),
        (None, ""),
    ],
)
def test_the_gateway_is_the_one_that_the_engine_names(ipam: Any, gateway: str) -> None:
    pytest.importorskip("docker.errors")
    network = SimpleNamespace(attrs={"IPAM": ipam}, reload=lambda: None)
    run: Any = SimpleNamespace(network=lambda: network)
    if gateway:
        assert EngineRun.gateway(run) == gateway
        return
    with pytest.raises(ServerUnavailable, match="the engine names no gateway of its network"):
        EngineRun.gateway(run)
