"""The second driver of the generators: Hypothesis decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from hypothesis import strategies as st

from generators.draw import Draw, KeyPart

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
P = ParamSpec("P")


class HypothesisDraw(Draw):
    """Decisions from the ``draw`` function of a composite strategy, or from ``data().draw``."""

    __slots__ = ("_draw",)

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def below(self, n: int, /) -> int:
        if n <= 1:
            if n < 1:
                raise ValueError(f"nothing is below {n}")
            return 0
        return self._draw(st.integers(0, n - 1))

    def fork(self, *key: KeyPart) -> HypothesisDraw:  # noqa: ARG002 - Hypothesis has one sequence of decisions
        return self


def drawn(generator: Callable[[Draw], T]) -> st.SearchStrategy[T]:
    """A generator as a strategy."""
    return _drawn(generator)


@st.composite  # once: it takes longer than to draw a small value
def _drawn(draw: Callable[[st.SearchStrategy[Any]], Any], generator: Callable[[Draw], T]) -> T:
    return generator(HypothesisDraw(draw))
