"""``serve`` and ``restarts`` as commands: the address, a client, the end, and wrong words."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.servers.wire.connection import Address, connect
from tests.in_process import lab_here as lab
from tests.live import PATIENCE

ROOT = Path(__file__).parents[2]
LOG = ROOT / "docs/tutorials/orders.binlog"


def test_a_client_reads_what_is_served_until_ctrl_c() -> None:
    words = [sys.executable, "-m", "conformance", "serve", str(LOG), "generated:x/20/tagged", "--format", "json"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "BINLOG_LAB_PASSWORD": "secret"},
    ) as child:  # fmt: skip
        assert child.stdout is not None
        facts = json.loads(child.stdout.readline())
        assert (facts["host"], facts["password"]) == ("127.0.0.1", "secret")
        assert [entry["file"] for entry in facts["logs"]] == [LOG.name, "generated.000002"]
        assert facts["logs"][0]["size"] == LOG.stat().st_size
        with connect(Address(port=facts["port"], user="lab", password="secret")) as session:
            assert session.execute("SELECT @@gtid_executed").scalar() == facts["gtid_executed"]
            session.execute("SET @source_binlog_checksum = 'CRC32'")
            name = LOG.name.encode()
            with session.dump(b"\x12" + (4).to_bytes(4, "little") + b"\1\0" + bytes(4) + name) as events:
                found = list(events)
        assert b"".join(found).count(LOG.read_bytes()[4 + 123 :]) == 1
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE)
        assert (child.returncode, out) == (0, "")
        assert "the source ends" in err
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "words",
    [
        ["serve"],
        ["serve", "/no/such/log"],
        ["serve", str(ROOT / "README.md")],
        ["serve", "generated:x"],
        ["serve", "generated:x/0"],
        ["serve", "generated:x/10/other"],
        ["serve", str(LOG), "--cut-inside"],
        ["restarts"],
        ["restarts", "mysqlbinlog"],
        ["restarts", "no-such-client"],
    ],
)
def test_wrong_words_are_usage(words: list[str]) -> None:
    assert lab(*words).code == 2


def test_a_client_of_ones_own_is_restarted_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lab's own client goes on where it was; a faulty one forgets to."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    client = f"wire:{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'tests/harness/restarts/client.py'))}"
    done = lab("restarts", f"{client} right", "--boundaries", "12", "--format", "json")
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)
    assert found["boundaries"] == 12
    assert all(tally["exact"] == tally["restarts"] for tally in found["tallies"])
    assert {tally["way"] for tally in found["tallies"]} == {
        "connection lost between events", "connection lost inside an event", "stopped behind rows",
    }  # fmt: skip
    done = lab("restarts", f"{client} loses", "--boundaries", "12", "--format", "markdown")
    assert done.code == 1
    assert "| client |" in done.out
