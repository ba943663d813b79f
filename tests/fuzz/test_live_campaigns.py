"""Campaigns on real servers: they survive what they do to them, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from conformance.servers.child_process import own_peak
from conformance.servers.programs import LocalProgram
from conformance.servers.roles import mysqlbinlog
from conformance.servers.roles.injector import Injector, launch_target
from conformance.servers.roles.mysqlbinlog import print_bytes
from conformance.servers.run.process import ProcessMaker
from fuzz.campaigns import inputs
from fuzz.campaigns.campaign import Budget
from fuzz.campaigns.channels import Statements
from fuzz.campaigns.inputs import DIVERGED, STATEMENTS
from fuzz.campaigns.trial import Bench
from tests.fuzz.campaign_subjects import VERSION, campaign
from tests.live import lab, nothing_left, started, until

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live


def test_diverged_documents_on_a_real_server_and_applier(installation: Installation, tmp_path: Path) -> None:
    command = ("fuzz", "server", "--campaign", "diverged", "--seed", "1", "--server", "process", "--findings", tmp_path)
    done = lab(*command, "--runs", "500", "--channel", "statements")
    assert done.code == 0, done.text
    assert "statements: 500 inputs" in done.out
    done = lab(*command, "--only", "applier/0/3")
    assert done.code == 0, done.text
    assert "applier: 1 inputs" in done.out
    assert list((tmp_path / "server").glob("*.journal")) == []


def test_a_server_that_dies_is_started_again_and_its_input_kept(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Injector._inject

    def inject(self: Injector, row: int, image: bytes, before: object) -> object:
        if image == victim.image and not self.deaths:
            os.kill(self.server.pid, signal.SIGSEGV)
            while self.server.alive():
                time.sleep(0.01)
        return original(self, row, image, before)  # type: ignore[arg-type]

    victim = inputs.statements(DIVERGED, "1", 0)[40]
    monkeypatch.setattr(Injector, "_inject", inject)
    with Injector(launch_target(ProcessMaker(installation))) as injector:
        found = campaign(tmp_path, DIVERGED, STATEMENTS, equal=1, shrink_seconds=0)
        bench = Bench(campaign=DIVERGED, version=VERSION, deviations=())
        found.channels = {STATEMENTS: lambda: Statements(injector, bench)}
        found.run(Budget(runs=60))
        (bucket,) = found.buckets.findings
        assert injector.deaths == 1
        assert injector.server.alive()
    assert bucket.first.death.startswith("signal 11")
    assert bucket.directory is not None
    assert "got signal 11" in (bucket.directory / "error.log").read_text("utf-8")
    assert "## Error log" in (bucket.directory / "REPORT.md").read_text("utf-8")


def test_damaged_events_and_files_meet_the_released_programs(installation: Installation, tmp_path: Path) -> None:
    done = lab(
        "fuzz", "server", "--campaign", "malformed", "--runs", "6", "--seed", "1", "--server", "process",
        "--channel", "mysqlbinlog", "--shrink-seconds", "1", "--findings", tmp_path,
    )  # fmt: skip
    assert done.code in (0, 1), done.text
    assert "mysqlbinlog: 6 inputs" in done.out


@pytest.mark.nightly
def test_damaged_relay_logs_meet_a_replica(installation: Installation, tmp_path: Path) -> None:
    done = lab(
        "fuzz", "server", "--campaign", "streams", "--runs", "8", "--seed", "1", "--server", "process",
        "--shrink-seconds", "1", "--findings", tmp_path,
    )  # fmt: skip
    assert done.code in (0, 1), done.text
    assert "replica: 8 inputs" in done.out


def test_a_client_that_hangs_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "hanging"
    program.write_text("#!/bin/sh\necho begun\nexec sleep 600\n")
    program.chmod(0o755)
    end = print_bytes(LocalProgram([str(program)]), b"", patience=0.5)
    assert (end.status, end.text) == (None, b"begun\n")


def test_a_client_that_spins_is_ended_by_the_time_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "spinning"
    program.write_text("#!/usr/bin/env python3\nwhile True: pass\n")
    program.chmod(0o755)
    monkeypatch.setattr(mysqlbinlog, "PROCESSOR_SECONDS", 1)
    assert print_bytes(LocalProgram([str(program)]), b"").status is None


def test_the_memory_of_a_client_is_seen(tmp_path: Path) -> None:
    program = tmp_path / "growing"
    size = own_peak() + (200 << 20)  # below that of this process it cannot be told
    program.write_text(f"#!/usr/bin/env python3\nx = bytearray({size})\n")
    program.chmod(0o755)
    end = print_bytes(LocalProgram([str(program)]), b"")
    assert end.status == 0
    assert end.peak > size


def test_ctrl_c_ends_a_campaign_as_incomplete_and_leaves_nothing(installation: Installation, tmp_path: Path) -> None:
    program = started(
        "fuzz", "server", "--campaign", "diverged", "--seconds", "600", "--seed", "1", "--server", "process",
        "--findings", tmp_path / "found", cwd=tmp_path,
    )  # fmt: skip
    assert until(lambda: "campaign diverged " in (tmp_path / "err").read_text(), program=program)
    program.send_signal(signal.SIGINT)
    assert until(lambda: program.poll() is not None)
    text = (tmp_path / "err").read_text()
    assert program.returncode == 4, text
    assert "inputs" in (tmp_path / "out").read_text()  # the table of what was done
    assert nothing_left(program)
    assert list((tmp_path / "found" / "server").glob("*.journal")) == []
