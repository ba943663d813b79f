"""Encrypted logs on the command line: wrong keyrings, none, and damage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.encrypted_file import HEADER_SIZE
from tests.live import lab
from tests.reference.binlog.test_encrypted_file import DATA, FILE, HEADER, KEYRING_FILE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("command", ["decode", "apply", "explain", "check", "expand", "matrix estimate"])
def test_commands_say_what_does_not_fit(command: str, tmp_path: Path) -> None:
    words = [*command.split(), *(("-o", tmp_path / "out") if command == "expand" else ())]
    log = DATA / "encrypted.binlog"
    content = json.loads(KEYRING_FILE.read_text("utf-8"))
    for element in content["elements"]:
        if element["data_id"] == HEADER.master_key_id:
            element["data"] = "11" * 32
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(content), "utf-8")
    done = lab(*words, "--keyring", wrong, log)
    assert done.code == 1, done.text
    assert not done.out or command in ("check", "matrix estimate")  # they say what they could not read
    assert not (tmp_path / "out").exists()
    assert "the master key does not open the log" in done.err
    done = lab(*words, log)
    assert done.code == 1
    assert "encrypted" in done.err
    assert command in ("check", "matrix estimate") or "give the keyring of its server with --keyring" in done.err
    done = lab(*words, "--keyring", log, log)
    assert done.code == 2, done.text


def test_damage_behind_the_header_is_found_where_it_is(tmp_path: Path) -> None:
    """The commands print what is before it."""
    data = bytearray(FILE)
    data[HEADER_SIZE + 1000] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    (tmp_path / "cut").write_bytes(FILE[: HEADER_SIZE + 1000])
    for name, words in (("damaged", "checksum"), ("cut", "cut off")):
        done = lab("decode", "--keyring", KEYRING_FILE, tmp_path / name)
        assert done.code == 1, done.text
        assert words in done.err
        assert "CREATE" in done.out
