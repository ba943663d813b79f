"""The text of every corpus file against mysqlbinlog itself, run here and now."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.checks.boundaries.marked_files import OTHER_WORDS
from conformance.servers.errors import ServerUnavailable
from tests.reference.text.test_mysqlbinlog_text import whole_text
from tests.reference.text.test_pseudo_sql import GEOMETRY_ERROR, same_but_geometry

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live
CORPUS = sorted((Path(__file__).parents[2] / "data" / "binlogs").glob("*.binlog"))


@pytest.fixture(scope="module")
def mysqlbinlog(installation: Installation) -> list[str]:
    try:
        return installation.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("options", ["-v", "-vv", "-vv --print-table-metadata"])
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_whole_text_is_the_clients(mysqlbinlog: list[str], path: Path, options: str, tmp_path: Path) -> None:
    command = [*mysqlbinlog, "--no-defaults", *options.split(), "--base64-output=decode-rows"]
    done = subprocess.run(
        [*command, f"--local-load={tmp_path}", str(path)],
        env={**os.environ, "TZ": "UTC"},
        capture_output=True,
        check=True,
    )
    real = OTHER_WORDS.sub(b"", done.stdout)
    ours = OTHER_WORDS.sub(b"", whole_text(path, types="-vv" in options, metadata="metadata" in options))
    if GEOMETRY_ERROR not in real:
        assert ours == real
        return
    same_but_geometry(rows_only(ours), rows_only(real))
    assert not_rows(ours) == not_rows(real)


def rows_only(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if line.startswith(b"### "))


def not_rows(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"### "))
