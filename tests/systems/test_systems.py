"""The blocks of the README as ``tests.systems`` pastes them, and the empty systems themselves."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.systems import __main__ as program
from tests.systems import empty
from tests.systems.blocks import MAIN_JOB, ROOT, TESTS, blocks, outcome, with_options
from tests.systems.empty import USER, NoSystemError, Template, pip_settings, system
from tests.systems.machines import MACHINES, PLAIN, with_wheels

README = (ROOT / "README.md").read_text("utf-8")


def test_the_blocks_are_those_of_the_readme_literally() -> None:
    found = blocks(README)
    assert [*found] == [MAIN_JOB, TESTS]
    assert all(f"```sh\n{text}```" in README for text in found.values())


def test_blocks_in_another_order_are_refused() -> None:
    first, second = (f"```sh\n{text}```\n" for text in blocks(README).values())
    with pytest.raises(ValueError, match="the first two code blocks"):
        blocks(second + first)


def test_options_stand_behind_the_call_of_pytest_only() -> None:
    block = blocks(README)[TESTS]
    changed = with_options(block, "-m 'not live'")
    assert changed == block.rstrip("\n") + " -m 'not live'\n"


@pytest.mark.parametrize(
    ("block", "output", "words"),
    [
        (TESTS, "= 51 failed, 18381 passed, 4 errors in 700.12s (0:11:40) =\n", "51 failed, 18381 passed, 4 errors"),
        (TESTS, "3 passed in 0.10s\n5 passed, 1 skipped in 2s\nKilled\n", "3 passed; 5 passed, 1 skipped"),
        (TESTS, "Segmentation fault\n", "no closing line of pytest"),
        (MAIN_JOB, "table\n\n\x1b[1m✗ NONCONFORMANT\x1b[0m\nmore\n", "✗ NONCONFORMANT"),
        (MAIN_JOB, "error: no server\n", "no verdict"),
    ],
)  # fmt: skip
def test_an_outcome_is_what_the_output_says(block: str, output: str, words: str) -> None:
    assert outcome(block, output) == words


def test_pip_sees_no_path_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://index.example/simple\nfind-links = /somewhere\n"
        "extra-index-url = file:///a/simple https://b.example/simple\nconstraint = /c\ntimeout = 60\n"
    )
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path))
    found = dict(line.split(" = ") for line in pip_settings().splitlines()[1:])
    assert found["index-url"] == "https://index.example/simple"
    assert found["extra-index-url"] == "https://b.example/simple"
    assert found["timeout"] == "60"
    assert not {"find-links", "constraint"} & found.keys()


def test_results_of_the_same_commit_are_not_run_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[program.Use] = []

    def paste(use: program.Use, *_: object) -> dict[str, object]:
        ran.append(use)
        return {
            **dataclasses.asdict(use),
            "python": "3.13",
            "architecture": "x",
            "code": len(ran) - 1,
            "outcome": "said",
            "seconds": 1,
        }

    monkeypatch.setattr(program, "require", lambda *_: None)
    monkeypatch.setattr(program, "clone", lambda *_: "0123abc")
    monkeypatch.setattr(program, "make_template", lambda suite, work, **_: Template(suite, work, work))
    monkeypatch.setattr(program, "run", paste)
    results = tmp_path / "results.jsonl"
    asked = ["--suite", "trixie", "--build", "pure", "--block", "main", "--results", str(results)]
    assert program.main(asked) == 0
    assert program.main([*asked, "--both"]) == 1  # the user's block ended with 1, and root's stands from before
    assert [use.user for use in ran] == ["root", USER]
    assert len(results.read_text().splitlines()) == 2
    assert [json.loads(line)["code"] for line in results.read_text().splitlines()] == [0, 1]
    assert "| trixie | 3.13 | plain | newcomer | pure | main job | 1 | said | 1 |" in capsys.readouterr().out


def test_a_machine_without_the_means_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "mmdebstrap" else f"/usr/bin/{name}")
    assert program.main([]) == 3
    assert capsys.readouterr().err == "there is no mmdebstrap (package mmdebstrap)\n"


@pytest.fixture
def bare(tmp_path: Path) -> Template:
    """A system of a few programs of this machine: what a layer does is the same as with an empty Debian."""
    try:
        empty.require_layers(tmp_path)
    except NoSystemError as error:
        pytest.skip(str(error))
    root = tmp_path / "root"
    for name in ("etc", "proc", "sys", "dev", "tmp", "root", f"home/{USER}"):
        (root / name).mkdir(parents=True)
    programs = {f"bin/{name}": str(shutil.which(name)) for name in ("sh", "env", "sleep", "touch", "id", "cat")}
    needed = subprocess.run(["ldd", *programs.values()], capture_output=True, text=True, check=True).stdout
    libraries = {name[1:]: name for name in re.findall(r"(/\S+) \(0x", needed)}
    for inside, name in {**programs, **libraries}.items():
        (root / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / inside)
    for name, line in (("passwd", f"{USER}:x:1000:1000::/home/{USER}:/bin/sh\n"), ("group", f"{USER}:x:1000:\n")):
        (root / "etc" / name).write_text(line)
    return Template("none", root, tmp_path)


def mounts() -> str:
    return Path("/proc/self/mounts").read_text("utf-8")


def test_nothing_of_a_system_is_left(bare: Template, tmp_path: Path) -> None:
    before = mounts()
    log = tmp_path / "log"
    with system(bare, USER) as made, log.open("w+b") as output:
        (tmp_path / "given").mkdir()
        (tmp_path / "given/file").write_text("from outside\n")
        inside = made.place(tmp_path / "given", "some where/checkout")
        script = f"cd '{inside}'\ncat file\nid -u\ntouch new ~/new '../new'\n(sleep 1000 &)\nfalse\ntouch never"
        code = made.run(script, output, seconds=60)
        assert code == 1
        assert log.read_text() == "from outside\n1000\n"
        changes = made.layer / "changes/home" / USER / "some where/checkout"
        assert sorted(path.name for path in changes.iterdir()) == ["file", "new"]
        seen = with_wheels(MACHINES[PLAIN], tmp_path / "given")
        assert made.run("cat $PIP_FIND_LINKS/file", output, seconds=60, machine=seen) == 0
        assert log.read_text().splitlines()[2:] == ["from outside"]
        assert made.run("sleep 1000", output, seconds=0.5) == 124
        assert mounts() == before
    assert not made.layer.exists()
    assert subprocess.run(["pgrep", "-f", "^sleep 1000$"], check=False, stdout=subprocess.DEVNULL).returncode == 1


@pytest.mark.nightly
def test_the_main_job_in_an_empty_system() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.systems", "--suite", "trixie", "--build", "pure", "--block", "main", "--user"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CONFORMANT" in done.stdout
