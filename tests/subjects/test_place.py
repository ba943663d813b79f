"""The place of a subject: what its command says in any folder, and what is undone behind it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from conformance.subjects.place import MODULES, Place


def test_a_command_holds_the_folder_and_whole_paths_of_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MODULES, f"lib{os.pathsep}{os.pathsep}/else where")
    command = Place.here().command(["binlog-lab", "replay"])
    modules = f"{MODULES}={tmp_path / 'lib'}{os.pathsep}/else where"
    assert shlex.split(command) == ["env", f"--chdir={tmp_path}", modules, "binlog-lab", "replay"]
    assert Place().command(["binlog-lab", "replay"]) == "binlog-lab replay"


@pytest.mark.parametrize("before", [None, "/mine"])
def test_who_enters_a_place_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    monkeypatch.delenv(MODULES, raising=False)
    if before is not None:
        monkeypatch.setenv(MODULES, before)
    here = Path.cwd()
    with Place(str(tmp_path), "/modules").entered():
        assert Path.cwd() == tmp_path
        assert os.environ[MODULES].split(os.pathsep) == ["/modules", *filter(None, [before])]
    assert (Path.cwd(), os.environ.get(MODULES)) == (here, before)
    with pytest.raises(FileNotFoundError), Place(str(tmp_path / "gone")).entered():
        pass
