"""A fault of a matrix: a changed function of the model, and the budgets that it must break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

Plant: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True)
class MatrixFault:
    """``does``: what the faulty model does, in one sentence. ``plant`` changes functions of this process."""

    id: str
    does: str
    plant: Plant
