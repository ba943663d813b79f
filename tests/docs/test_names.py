"""Files, folders and modules that the pages for users name are there."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import pytest

from tests.docs.pages import PAGES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TOP: Final = "conformance|docker|docs|fuzz|generators|scenarios|tests"
_PATH: Final = re.compile(rf"(?<![\w/.-])((?:{_TOP})/[\w./*-]+)")
_MODULE: Final = re.compile(r"(?<![\w/.-])((?:conformance|fuzz|generators|scenarios|tests)(?:\.\w+)+)(?![\w/])")
_CODE: Final = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
# By commands that the pages show, and by the reader of "Add an experiment".
_WRITTEN: Final = re.compile(r"docs/_build/|tests/regressions/TARGET/|(?:conformance|tests)[./]checks[./]source_redo")


def code(text: str) -> str:
    """The code of a page, in blocks and in sentences."""
    return "\n".join(_CODE.findall(text))


def missing(text: str) -> Iterator[str]:
    """Paths that lead nowhere, and names that are neither a module nor a name in one."""
    for path in _PATH.findall(code(text)):
        if not _WRITTEN.match(path) and not any(ROOT.glob(path.rstrip("/."))):
            yield path
    for name in _MODULE.findall(code(text)):
        if not _WRITTEN.match(name) and not name.endswith((".py", ".toml", ".md")) and not _is_there(name):
            yield name


def _is_there(name: str) -> bool:
    parent, _, last = name.rpartition(".")
    try:
        return find_spec(name) is not None or hasattr(import_module(parent), last)
    except ModuleNotFoundError:
        return hasattr(import_module(parent), last) if find_spec(parent) else False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_modules_of_a_page_are_there(page: Path) -> None:
    assert not list(missing(page.read_text("utf-8")))


def test_a_wrong_name_is_seen() -> None:
    text = "`tests/nowhere.py` `conformance.reference.nowhere` and\n```sh\npython -m tests.nowhere\n```\n`fuzz/runner`"
    assert list(missing(text)) == ["tests/nowhere.py", "conformance.reference.nowhere", "tests.nowhere"]
