"""No width of the developer's terminal in the tests of reports."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _width_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
