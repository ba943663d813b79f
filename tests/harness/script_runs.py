"""Scripts for bug reports, run as their readers do: with the programs of an installation, on servers of their own."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from conformance.cases.by_hand.scripted import read_script
from conformance.harness.scripts.checked_sql import CLIENT
from conformance.harness.scripts.run import CHECK
from conformance.harness.scripts.shell import SERVERS
from conformance.servers.run.process import launch
from tests.live import until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

PATIENCE = 300.0


class Check(NamedTuple):
    """One check as a script printed it."""

    what: str
    expected: str
    got: str
    verdict: str


class Told(NamedTuple):
    """The text that a script printed, and whether its source lives."""

    text: str
    lives: bool

    @property
    def checks(self) -> list[Check]:
        """All of them, in order."""
        return [Check(*found) for found in CHECK.findall(self.text)]

    @property
    def faults(self) -> list[Check]:
        """The checks that differ."""
        return [check for check in self.checks if check.verdict == "FAULT"]


def _programs(servers: Mapping[str, ProcessServer]) -> dict[str, str]:
    source = servers["SOURCE"]
    words = {
        **{name: server.client("mysql") for name, server in servers.items()},
        "READ_LOG": [*source.client("mysqlbinlog"), "--read-from-remote-server"],
        "DUMP": source.client("mysqldump"),
        "MYSQLBINLOG": source.program("mysqlbinlog"),
    }
    out = {name: " ".join(parts) for name, parts in words.items()}
    for before, name in pairwise(SERVERS):
        if before in servers:
            address = servers[before].tcp_address()
            out[f"{name}_FOLLOWS"] = (
                f"SOURCE_HOST='{address.host}', SOURCE_PORT={address.port}, SOURCE_USER='{address.user}', "
                f"SOURCE_PASSWORD='{address.password}', GET_SOURCE_PUBLIC_KEY=1"
            )
    return out


def run_script(installation: Installation, script: str, directory: Path) -> Told:
    """Run a script on fresh servers, with the options that it names: SQL by ``mysql``, the other by the shell."""
    options = read_script("script", script).options
    if "gtid_mode=ON" in script:
        options = dict.fromkeys(options, "ON")
    names = [name for name in SERVERS if name == "SOURCE" or f"${name}" in script]
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(launch(installation, server_id=number, options=options))
            for number, name in enumerate(names, 1)
        }
        environment = dict(os.environ)
        if script.startswith("#!"):
            path = directory / "script.sh"
            path.write_text(script, encoding="utf-8")
            command = ["bash", str(path)]
            environment.update(_programs(servers))
            given = b""
        else:
            command = [*servers["SOURCE"].client("mysql"), *CLIENT]
            given = script.encode()
        done = subprocess.run(
            command, input=given, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        text = done.stdout.decode("utf-8", "replace")
        # One that writes the report of its crash is there for some moments more.
        lives = not ("Lost connection" in text and until(lambda: not servers["SOURCE"].alive()))
    return Told(text, lives)
