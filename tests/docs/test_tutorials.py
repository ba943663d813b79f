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

ROOT: Final = Path(__file__).parents[2]
TUTORIALS: Final = ROOT / "docs" / "tutorials"
PAGES: Final = sorted(path for path in TUTORIALS.glob("*.md") if path.name != "index.md")
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARKS: Final = re.compile(r"\A---\nmarks: ([\w ]+)\n---\n")
COMMANDS: Final = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}


@dataclass
class Step:
    """A block that runs, and the output that the page shows directly behind it, if it shows one."""

    language: str
    code: str
    shown: str | None = None


def steps(text: str) -> list[Step]:
    """The blocks of a page in their order; another block than shell or Python belongs to the one before it."""
    found: list[Step] = []
    for language, code in _BLOCK.findall(text):
        if language in COMMANDS:
            found.append(Step(language, code))
        else:
            assert found, "output without a command before it"
            assert found[-1].shown is None, f"two outputs of one command: {code}"
            found[-1].shown = code
    return found


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
    names = _MARKS.search(page.read_text("utf-8"))
    return [getattr(pytest.mark, name) for name in names[1].split()] if names else []


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem, marks=marks(page)) for page in PAGES])
def test_every_block_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if request.node.get_closest_marker("live"):
        request.getfixturevalue("installation")
    if "fuzz run" in page.read_text("utf-8"):
        request.getfixturevalue("atheris")
    for log in TUTORIALS.glob("*.binlog"):
        shutil.copy(log, tmp_path)
    found = steps(page.read_text("utf-8"))
    assert found
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "TZ": "UTC", "COLUMNS": "120"}
    for step in found:
        done = subprocess.run(
            [*COMMANDS[step.language], step.code], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{step.code}\n{done.stdout}\n{done.stderr}"
        if step.shown is not None:
            assert matches(done.stdout, step.shown), (
                f"{step.code}\nprinted:\n{done.stdout}\nthe page shows:\n{step.shown}"
            )


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
    with pytest.raises(AssertionError, match="two outputs"):
        steps("```sh\nls\n```\n```text\nx\n```\n```text\ny\n```\n")
