"""The page about targets of one's own, followed as it stands in an empty folder."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = (Path(__file__).parents[2] / "docs" / "tasks" / "fuzz-your-own-target.md").read_text("utf-8")
_CODE: Final = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FILES: Final = dict(zip(re.findall(r"`(\w+\.py)`", PAGE), _CODE, strict=True))
_LINES: Final = PAGE.split("```sh\n")[1].split("```")[0].splitlines()
FIRST, ENTRY, REPLAY = (shlex.split(line, comments=True)[1:] for line in _LINES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, in which the page's files are written."""
    before = list(sys.path)
    place = tmp_path / "mine"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text, "utf-8")
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield place
    sys.path[:] = before
    for name in FILES:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.mark.slow
@pytest.mark.usefixtures("atheris", "folder")
def test_the_steps_find_what_the_page_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FIRST) == 1
    out = capsys.readouterr().out
    assert re.search(r"my-target +30,000 .* ✗ findings", out)
    (named,) = re.findall(r"`(OverflowError in .*)` is its name", PAGE)
    assert f"my-target: {named}" in out
    (finding,) = (tmp_path / "findings" / "my-target").glob("*.bin")
    assert len(finding.read_bytes()) == 8
    assert run(REPLAY) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"FAILED  my-target  {REPLAY[-1]}/my-target/{finding.name}\n  error: {named}\n")


@pytest.mark.usefixtures("folder")
def test_words_that_are_no_target_are_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert ENTRY[2] == "my_target:check"
    for word, code, told in (
        ("./none.py", 2, "./none.py: no such file"),
        ("./records.py", 2, "./records.py: records has no function check(data)"),
        ("my_target:nothing", 2, "my_target:nothing: my_target has no function nothing(data)"),
        (
            "no_module:check",
            3,
            "no_module:check: it cannot be imported: ModuleNotFoundError: No module named 'no_module'",
        ),
    ):
        assert run(["fuzz", "run", word, "--runs", "5"]) == code
        assert told in capsys.readouterr().err
    Path("json.py").write_text("def check(data): pass")
    assert run(["fuzz", "run", "./json.py", "--runs", "5"]) == 2
    assert "another module is called json" in capsys.readouterr().err
    Path("empty.py").write_text("def check(data): pass")
    assert run(["fuzz", "run", "./empty.py", "--runs", "5"]) == 2
    assert "the lab has a target that is called empty" in capsys.readouterr().err
