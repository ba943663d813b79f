"""The name of the image of client programs for a version."""

from __future__ import annotations

import pytest

from conformance.servers.containers.programs import clients_image


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("8.4.10", "binlog-lab-clients:8.4.10"),
        ("9.7.4-2", "binlog-lab-clients:9.7.4-2"),
        ("8.0.45-0ubuntu0.24.04.1", "binlog-lab-clients:8.0.45-0ubuntu0.24.04.1"),
        ("8.0.45-1~deb+1", "binlog-lab-clients:8.0.45-1-deb-1"),
    ],
)
def test_the_tag_is_the_version_as_the_server_program_prints_it(version: str, name: str) -> None:
    assert clients_image(version) == name
