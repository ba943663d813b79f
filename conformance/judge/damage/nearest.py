"""The listed deviation nearest to an unexplained failure, and what is missing for it to explain the failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Injection, Predicted, predict
from conformance.judge.damage.diverged import SWITCHES, show
from conformance.reference.dialect import flipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.dialect import Dialect
    from conformance.requirements.crashes import Crash
    from conformance.requirements.deviations import Deviation

_WEIGHTS: Final = {"during": 4, "damage": 2, "signal": 1}  # the moment counts more than the rest


def nearest_crash(deviations: Iterable[Deviation], crash: Crash | None) -> str:
    """The nearest deviation for the end of a program; empty if no listed crash has the same moment or the same
    damage."""
    if crash is None:
        return ""
    best, entry = max(
        ((_likeness(item.crash, crash), item) for item in deviations if item.crash is not None),
        key=lambda pair: pair[0],
        default=(0, None),
    )
    if entry is None or entry.crash is None or best < _WEIGHTS["damage"]:
        return ""
    missing = [
        f"{name} {getattr(entry.crash, name)}, got {getattr(crash, name) or 'none that is listed'}"
        for name in _WEIGHTS
        if getattr(entry.crash, name) != getattr(crash, name)
    ]
    return (
        f"{entry.id}: needs {'; '.join(missing) or f'another place in the program, or a version of {entry.versions}'}"
    )


def _likeness(listed: Crash, crash: Crash) -> int:
    return sum(weight for name, weight in _WEIGHTS.items() if getattr(listed, name) == getattr(crash, name))


def nearest_injection(
    deviations: Iterable[Deviation], requirement: str, injection: Injection, got: str, dialect: Dialect
) -> str:
    """The nearest deviation for an event: a switch that changes the prediction, though not to the real result; else as
    :func:`nearest_listed`."""
    entries = list(deviations)
    known = predict(injection, dialect)
    for entry in entries:
        if entry.switch in SWITCHES and predict(injection, flipped(dialect, entry.switch)) != known:
            return f"{entry.id}: needs {_words(known)}, got {got}"
    return nearest_listed(entries, requirement)


def nearest_listed(deviations: Iterable[Deviation], requirement: str) -> str:
    """The nearest deviation for any other failure: those of the requirement were tried, and none gives the result;
    empty if none is listed."""
    listed = [entry for entry in deviations if requirement in entry.requirements and entry.crash is None]
    models = [entry.id for entry in listed if entry.switch is not None]
    outcomes = [entry.id for entry in listed if entry.switch is None]
    parts = []
    if models:
        parts.append(f"{', '.join(models)}: tried, and the prediction with the switch is not what came")
    if outcomes:
        parts.append(f"{', '.join(outcomes)}: needs exactly the outcome that its Case writes out")
    return "; ".join(parts)


def _words(predicted: Predicted) -> str:
    return f"error {predicted.error}" if predicted.error else show(predicted.state)
