"""Which build runs, and how the sources are taken where both lie side by side."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES, SourceFileLoader
from pathlib import Path

import pytest

from conformance.builds import _Sources, build
from hatch_build import absolute, repository
from tests.builds import bundled
from tests.builds.answers import COMMANDS, answer, damaged
from tests.builds.complete import missing

ROOT = Path(__file__).parents[2]
LOG = min(Path("tests/data/binlogs").glob("*.binlog"), key=lambda path: path.stat().st_size)
ASK = "from conformance.builds import build; print(build())"


def test_an_editable_checkout_is_pure() -> None:
    assert build() == "pure"


def test_the_finder_takes_sources_of_the_package_and_nothing_else() -> None:
    folder = [str(ROOT / "conformance/reference/jsonb")]
    spec = _Sources.find_spec("conformance.reference.jsonb.leaves", folder)
    assert spec is not None
    assert isinstance(spec.loader, SourceFileLoader)
    assert _Sources.find_spec("generators.seeds", [str(ROOT / "generators")]) is None
    assert _Sources.find_spec("conformance.reference.nowhere", folder) is None


@pytest.mark.parametrize(("pure", "said"), [("0", "ImportError"), ("1", "pure")])
def test_the_variable_passes_over_a_compiled_module(tmp_path: Path, pure: str, said: str) -> None:
    """The compiled module here is no module at all: whoever takes it fails."""
    (tmp_path / "conformance").mkdir()
    for name in ("__init__.py", "builds.py"):
        (tmp_path / "conformance" / name).write_bytes((ROOT / "conformance" / name).read_bytes())
    jsonb = tmp_path / "conformance/reference/jsonb"
    jsonb.mkdir(parents=True)
    for folder in (jsonb, jsonb.parent):
        (folder / "__init__.py").touch()
    (jsonb / "leaves.py").touch()
    (jsonb / f"leaves{EXTENSION_SUFFIXES[0]}").write_bytes(b"no module")
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=tmp_path,
        env={"BINLOG_LAB_PURE": pure, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stdout + done.stderr


def test_a_wheel_that_lacks_a_file_is_told(tmp_path: Path) -> None:
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("conformance/__init__.py", "")
    lacking = missing(wheel)
    assert "conformance/report/templates/report.css" in lacking
    assert "conformance/__init__.py" not in lacking
    with zipfile.ZipFile(wheel, "a") as archive:
        for name in lacking[1:]:
            archive.writestr(name, "")
    assert missing(wheel) == lacking[:1]


def test_answers_tell_output_messages_and_exit_codes_apart(tmp_path: Path) -> None:
    copy = tmp_path / "log"
    data = LOG.read_bytes()
    said: dict[tuple[str, ...], list[bytes]] = {command: [] for command in COMMANDS}
    for form in (data, data[:-1], data[: len(data) // 2]):
        copy.write_bytes(form)
        for command, answers in said.items():
            answers.append(answer(command, str(copy)))
    printed = said["decode", "-v"]
    assert len(set(printed)) == 3
    assert [each.split(b"\n")[0] for each in printed] == [b"0", b"1", b"1"]
    assert b"truncated" in printed[1]
    assert all(str(copy).encode() not in each for answers in said.values() for each in answers)


def test_damaged_forms_depend_on_the_log_alone() -> None:
    data = LOG.read_bytes()
    forms = list(damaged(data, 8))
    assert forms == list(damaged(data, 8))
    assert len({*forms, data}) == 9


def test_the_page_of_bundled_files_is_what_is_bundled() -> None:
    def without_sizes(text: str) -> str:
        return re.sub(r", [\d.]+ MB", "", text)

    assert without_sizes(bundled.PAGE.read_text("utf-8")) == without_sizes(bundled.page())
    for group in bundled.groups():
        assert group.files, group.paths


def test_data_has_an_origin_of_its_own() -> None:
    """A recording or an archive that nobody described is told as written for the lab; these few are."""
    data = re.compile(r".*\.(binlog|gz|zip|jsonl|\d{6})|(tests|conformance)/.*\.json")
    assert {name for name in bundled.groups()[0].files if data.fullmatch(name)} == {
        "conformance/cases/schema/case.schema.json", "conformance/harness/promoted_cases/invalid-text-in-a-diff.json",
        "conformance/report/schemas/results.schema.json", "conformance/report/schemas/stream.schema.json",
        "docs/records/false-alarms.jsonl", "docs/records/settings.jsonl",
        "tests/benchmarks/instructions.json", "tests/systems/answers.json",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, ""),
        ({"GITHUB_REPOSITORY": "some/fork"}, "https://github.com/some/fork"),
        (
            {"GITHUB_REPOSITORY": "some/fork", "GITHUB_SERVER_URL": "https://git.example"},
            "https://git.example/some/fork",
        ),
        (
            {"GITHUB_REPOSITORY": "some/fork", "BINLOG_LAB_REPOSITORY": "https://git.example/lab/"},
            "https://git.example/lab",
        ),
        ({"READTHEDOCS_GIT_CLONE_URL": "https://git.example/lab.git"}, "https://git.example/lab"),
    ],
)
def test_the_address_is_that_of_the_repository_that_builds(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], address: str
) -> None:
    for name in ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "BINLOG_LAB_REPOSITORY", "READTHEDOCS_GIT_CLONE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert repository() == address
    page = absolute("[a](docs/a.md) ![b](docs/b.png) [c](https://c.example/) [d](#d)", "https://x", "1.2")
    assert (
        page == "[a](https://x/blob/v1.2/docs/a.md) ![b](https://x/raw/v1.2/docs/b.png) [c](https://c.example/) [d](#d)"
    )
