"""Templates are compiled once: what Python keeps beside its sources, reports keep beside their templates."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import jinja2
import pytest

from conformance.report.html import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The templates of a package of one page."""
    folder = tmp_path / "reporting" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "page.j2").write_text("{{ word }}, {{ 1234 | count }}", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield folder
    sys.modules.pop("reporting", None)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were compiled."""
    sources: list[str] = []
    compiling = jinja2.Environment.compile

    def noted(self: jinja2.Environment, source: str, *given: object) -> object:
        sources.append(source)
        return compiling(self, source, *given)  # type: ignore[call-overload]

    monkeypatch.setattr(jinja2.Environment, "compile", noted)
    return sources


def shown(word: str = "one") -> str:
    return render("reporting", "page.j2", "", word=word)


def test_a_template_is_compiled_once(templates: Path, compiled: list[str]) -> None:
    assert (shown("one"), shown("two")) == ("one, 1,234", "two, 1,234")
    assert len(compiled) == 1
    assert len(list((templates / "__pycache__").iterdir())) == 1


def test_a_changed_template_is_compiled_anew(templates: Path, compiled: list[str]) -> None:
    shown()
    (templates / "page.j2").write_text("{{ word }}!", "utf-8")
    assert shown() == "one!"
    assert len(compiled) == 2


@pytest.mark.parametrize("damage", [b"", b"j2", b"no code at all"])
def test_a_damaged_file_is_made_anew(templates: Path, compiled: list[str], damage: bytes) -> None:
    shown()
    (file,) = (templates / "__pycache__").iterdir()
    whole = file.read_bytes()
    for wrong in (damage, whole[:-1], whole[: len(whole) // 2]):
        file.write_bytes(wrong)
        assert shown() == "one, 1,234"
    assert len(compiled) == 4
    assert file.read_bytes() == whole


def test_where_nothing_can_be_kept_the_page_is_there_all_the_same(templates: Path, compiled: list[str]) -> None:
    (templates / "__pycache__").touch()  # no directory can be there
    assert (shown("one"), shown("two")) == ("one, 1,234", "two, 1,234")
    assert len(compiled) == 2


def test_nothing_is_kept_where_python_keeps_nothing(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert shown() == "one, 1,234"
    assert not (templates / "__pycache__").exists()
