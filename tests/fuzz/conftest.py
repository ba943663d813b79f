"""The toys: small targets with planted defects that the runner must find and survive."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from fuzz.runner.findings import Store
from fuzz.runner.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOYS: Final = Path(__file__).with_name("toys")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Target]]:
    """A toy target by the last part of its name."""
    monkeypatch.syspath_prepend(str(TOYS))
    yield lambda name: Target(f"toy-{name}", f"toy_{name}", path=str(TOYS))
    for name in [name for name in sys.modules if name.startswith("toy_")]:
        del sys.modules[name]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Somewhere for findings."""
    return Store(tmp_path / "findings")
