"""The reader on the page about the Cases runs as it stands, in a directory of its own, on the archive alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cli import main as frame
from tests.live import environment

if TYPE_CHECKING:
    import pytest

PAGE: Final = Path(__file__).parents[2] / "docs" / "tasks" / "use-the-cases.md"
READER, SHOWN = re.findall(r"```(?:python|text)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[:2]


def _run(directory: Path, reader: str) -> str:
    env = environment(PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    done = subprocess.run(
        [sys.executable, "-c", reader], cwd=directory, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_reader_checks_a_decoder(tmp_path: Path) -> None:
    assert frame.run(["cases", "export", "--decoders", str(tmp_path / "decoder-suite.zip")]) == 0
    assert _run(tmp_path, READER) == SHOWN


def test_the_reader_finds_a_decoder_that_loses_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert frame.run(["cases", "export", "--decoders", str(tmp_path / "decoder-suite.zip")]) == 0
    capsys.readouterr()
    silent = READER.replace('["binlog-lab", "decode", "--format", "jsonl", "--types"]', '["true"]')
    assert silent != READER
    out = _run(tmp_path, silent)
    assert "payload/partial-inside - " in out
    assert out.splitlines()[-1] == "{'wrong': 19}"


def test_the_reader_is_short_and_needs_the_standard_library_alone() -> None:
    code = [line for line in READER.splitlines() if line.strip()]
    assert len(code) <= 33
    assert "conformance" not in READER
