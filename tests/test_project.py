"""The project's own promises: commands that exist, a README that can be pasted, data files that are shipped."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import import_module, resources

import click
import pytest

from conformance.cli.program import COMMANDS
from conformance.version import __version__
from tests.repository import ROOT, UNPACKED, tracked
from tests.systems.blocks import blocks

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [*blocks(README).values()]
PICTURES = {"report.png": b"\x89PNG\r\n\x1a\n", "terminal.svg": b"<svg "}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


TOP = {
    ".ci", ".clusterfuzzlite", ".dockerignore", ".github", ".gitignore", ".pre-commit-config.yaml",
    ".readthedocs.yaml", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "LICENSES", "README.md",
    "REUSE.toml", "SECURITY.md", "action.yml", "conformance", "docker", "docs", "fuzz", "generators",
    "hatch_build.py", "justfile", "pyproject.toml", "scenarios", "tests",
}  # fmt: skip


@pytest.mark.skipif(UNPACKED, reason="this is no clone")
def test_nothing_that_a_run_wrote_is_in_the_repository() -> None:
    assert {name.partition("/")[0] for name in tracked()} == TOP


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_list_exists_and_helps(name: str) -> None:
    command = import_module(f"conformance.cli.{name}").command
    assert isinstance(command, click.Command)
    with click.Context(command, info_name=name) as context:
        assert "--help" in command.get_help(context)


def test_the_first_block_of_the_readme_is_the_main_job_with_its_set_up() -> None:
    lines = BLOCKS[0].splitlines()
    assert lines[0] == "python3 -m venv .venv"
    assert "install" in lines[1]
    assert lines[-1].startswith(".venv/bin/binlog-lab conformance --updates 10000")


def test_the_second_block_of_the_readme_is_the_tests_with_their_set_up() -> None:
    lines = BLOCKS[1].splitlines()
    assert lines[0] == "python3 -m venv .venv"
    assert lines[-1].startswith(".venv/bin/pytest ")


def test_the_readme_has_300_to_500_words() -> None:
    assert 300 <= len(README.split()) <= 500


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_readme_are_small_and_fetch_nothing(name: str) -> None:
    picture = (ROOT / "docs" / name).read_bytes()
    assert f"docs/{name}" in README
    assert picture.startswith(PICTURES[name])
    assert len(picture) < 400_000
    assert b"url(http" not in picture


def test_the_entry_of_ci_is_executable_and_parses() -> None:
    entry = ROOT / ".ci" / "run"
    assert entry.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(entry)], check=True, stdin=subprocess.DEVNULL)


def test_data_files_lie_inside_the_packages() -> None:
    package = resources.files("conformance.report")
    for name in (
        "templates/report.html.j2",
        "templates/report.css",
        "templates/report.js",
        "schemas/results.schema.json",
    ):
        assert package.joinpath(name).is_file()


def test_the_plain_install_needs_no_heavy_library() -> None:
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in PROJECT["project"]["dependencies"]}
    assert names == {"click", "jinja2", "mysql-connector-python", "pytest", "rich", "zstandard"}


def test_the_changelog_knows_this_version_or_an_unreleased_one() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## [Unreleased]" in text or f"## [{__version__}]" in text
