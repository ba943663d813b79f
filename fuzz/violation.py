"""The exception that targets raise, and the two helpers that all of them use."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, ParamSpec, Self, TypeVar

from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Violation(Exception):
    """A broken invariant. ``rule`` is a sentence that is the same for all inputs that break it."""

    def __init__(self, rule: str, *facts: object) -> None:
        super().__init__(rule, *facts)
        self.rule = rule

    def __str__(self) -> str:
        return ": ".join([self.rule, *(repr(fact)[:200] for fact in self.args[1:])])


class PeerDefect(Violation):
    """A defect of somebody else's decoder. ``rule`` is all that tells it from others: the frames are those of a
    comparison."""

    names_itself = True
    others: tuple[PeerDefect, ...] = ()  # further ones that the same input shows
    data: bytes | None = None  # a smaller input that shows it

    def __str__(self) -> str:
        """Say the rule, with the place and the two values where there are some."""
        facts = [repr(fact)[:200] if not isinstance(fact, str) else fact[:200] for fact in self.args[1:]]
        if len(facts) == 3:
            return f"{self.rule}: {facts[0]} is {facts[1]} in the log, and arrives as {facts[2]}"
        if len(facts) == 2:
            return f"{self.rule}: expected {facts[0]}, got {facts[1]}"
        return ": ".join([self.rule, *facts])

    def shown_by(self, data: bytes) -> Self:
        """The same defect, with a smaller input that shows it."""
        self.data = data
        return self


def together(defects: Sequence[PeerDefect]) -> PeerDefect:
    """The first of some defects, with those of other rules behind it."""
    by_rule: dict[str, PeerDefect] = {}
    for defect in defects:
        by_rule.setdefault(defect.rule, defect)
    first, *others = by_rule.values()
    first.others = tuple(others)
    return first


def require(holds: object, rule: str, *facts: object) -> None:
    """Raise :class:`Violation` unless ``rule`` holds."""
    if not holds:
        raise Violation(rule, *facts)


def attempt(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> tuple[_T | None, CodecError | None]:
    """The function's result, or the declared error. Every other exception is a finding and passes through."""
    try:
        return function(*args, **kwargs), None
    except CodecError as error:
        _check_error(error)
        return None, error


def _check_error(error: CodecError) -> None:
    """Require that an error explains itself: it has a code, and a printable text."""
    if not error.code or not str(error):
        _nameless(error)


def _nameless(error: CodecError) -> NoReturn:
    raise Violation("an error has a code and a text", type(error).__name__)
