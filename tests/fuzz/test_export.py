"""Targets in the layout of OSS-Fuzz: the build script packs all of them, each entry runs, and each has its files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fuzz.runner.corpora import first_inputs
from fuzz.runner.export import export
from fuzz.runner.targets import EMPTY, find, own_targets

ROOT = Path(__file__).parents[2]
BUILD = ROOT / ".clusterfuzzlite" / "build.sh"
TOKEN = re.compile(r'"((?:\\x[0-9A-F]{2})+)"')
# Stands for atheris: the check gets the first seeds from the archive beside the entry.
STUB = """
import contextlib, sys, zipfile
def instrument_imports(include, exclude):
    assert include
    return contextlib.nullcontext()
def Setup(arguments, check, custom_mutator=None):
    global run, seeds
    run, seeds = check, arguments[1]
    if custom_mutator is not None:
        assert isinstance(custom_mutator(b"", 64, 3), bytes)
def Mutate(data, size):
    return data
def Fuzz():
    with zipfile.ZipFile(seeds) as file:
        for name in file.namelist()[:5]:
            run(file.read(name))
    print("ran", seeds)
"""
RUN_ALL = """
import runpy, sys
for entry in sys.argv[1:]:
    sys.argv = [entry, entry.replace(".py", "_seed_corpus.zip")]
    runpy.run_path(entry, run_name="__main__")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder OUT as the build script fills it; the packer of the base image only copies here."""
    if not BUILD.exists():
        pytest.skip("this is no checkout")
    place = tmp_path_factory.mktemp("oss-fuzz")
    for name in ("programs", "work", "out"):
        (place / name).mkdir()
    for name, text in (
        ("pip3", "exit 0"),
        ("python3", f'exec "{sys.executable}" "$@"'),
        ("compile_python_fuzzer", 'cp "$1" "$OUT/"'),
    ):
        program = place / "programs" / name
        program.write_text(f"#!/bin/sh\n{text}\n", "ascii")
        program.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{place / 'programs'}{os.pathsep}{os.environ['PATH']}",
        "OUT": str(place / "out"),
        "WORK": str(place / "work"),
    }
    subprocess.run(["bash", str(BUILD)], cwd=ROOT, env=environment, check=True, capture_output=True)
    return place / "out"


def entries(built: Path) -> dict[str, Path]:
    return {path.stem.removeprefix("fuzz_").replace("_", "-"): path for path in built.glob("fuzz_*.py")}


def run_with_stub(paths: list[Path], place: Path) -> subprocess.CompletedProcess[str]:
    (place / "atheris.py").write_text(STUB, "ascii")
    environment = os.environ | {"PYTHONPATH": f"{place}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, "-c", RUN_ALL, *map(str, paths)], env=environment, capture_output=True, text=True, check=False
    )


def test_every_target_is_packed_with_its_files(built: Path) -> None:
    targets = {target.name: target for target in own_targets() if target.name != EMPTY}
    found = entries(built)
    assert found.keys() == targets.keys()
    for name, entry in found.items():
        stem = str(entry.with_suffix(""))
        lines = Path(f"{stem}.dict").read_text("ascii").splitlines()
        tokens = [TOKEN.fullmatch(line) for line in lines]
        assert all(tokens)
        read = [bytes.fromhex(token[1].replace("\\x", "")) for token in tokens if token]
        assert read == list(dict.fromkeys(filter(None, targets[name].module().DICTIONARY)))
        with zipfile.ZipFile(f"{stem}_seed_corpus.zip") as file:
            assert {file.read(item) for item in file.namelist()} == set(first_inputs(targets[name]))
        assert Path(f"{stem}.options").read_text("ascii") == f"[libfuzzer]\nmax_len = {targets[name].max_len}\n"


def test_every_entry_runs_its_check(built: Path, tmp_path: Path) -> None:
    paths = sorted(entries(built).values())
    done = run_with_stub(paths, tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(paths)


@pytest.mark.usefixtures("atheris")
@pytest.mark.parametrize("name", ["jsonb-decode", "rows"])
def test_an_entry_runs_under_atheris(built: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(entries(built)[name]), "-runs=50", "-seed=1"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Done 50 runs" in done.stderr
    assert re.search(r"cov: \d", done.stderr)


def test_an_entry_ends_with_its_targets_error(tmp_path: Path) -> None:
    (target,) = find(["jsonb-decode"])
    (entry,) = export([target], tmp_path)
    entry.write_text(entry.read_text("utf-8").replace("fuzz.targets.jsonb_decode", "broken"), "utf-8")
    (tmp_path / "broken.py").write_text("def check(data):\n    raise IndexError(len(data))\n", "ascii")
    done = run_with_stub([entry], tmp_path)
    assert done.returncode == 1
    assert "IndexError" in done.stderr
