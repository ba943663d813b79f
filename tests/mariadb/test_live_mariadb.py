"""A real MariaDB, where its packages were fetched: its logs over the wire, decrypted ones too, and changes replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.in_process import lab_here as lab
from tests.mariadb import captures
from tests.mariadb.server import fetched, running

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not fetched(), reason="no MariaDB: python -m tests.mariadb captures fetches it")


@pytest.mark.parametrize("name", ["compressed", "encrypted", "types"])
def test_a_log_over_the_wire_is_that_of_the_file(name: str, tmp_path: Path) -> None:
    capture = captures.CAPTURES[name]
    options = ["--binlog-format=ROW", *capture.options, "--log-bin=log"]
    if name == "encrypted":
        key = tmp_path / "key"
        key.write_text(captures.KEY)
        options.append(f"--file-key-management-filename={key}")
    with running(options) as server:
        log = tmp_path / "log.000001"
        log.write_bytes(captures.run(server, capture.statements))
        sent = lab("decode", "--format", "jsonl", "-R", f"mysql://root@127.0.0.1:{server.port}", log.name)
    assert sent.code == 0
    read = lab("decode", "--format", "jsonl", log)
    if name == "encrypted":
        assert (read.code, read.out) == (1, "")
        assert "encrypted from here on" in read.err
        assert '"after": {"@1": 1}' in sent.out
        return
    assert read.code == 0
    assert sent.out.splitlines() == [line.replace(f'"{log}"', '"log.000001"') for line in read.out.splitlines()]
    assert "GTID_EVENT" in sent.err
    assert "ANNOTATE_ROWS_EVENT" in sent.err
