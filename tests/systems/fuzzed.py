"""The kinds of inputs of the fuzz targets: what every call of the reference gave."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fuzz import violation
from fuzz.runner.corpora import COMMITTED, REGRESSIONS, read_archive
from fuzz.targets import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.errors import CodecError

from tests.systems.said import changed, form_of, said


def target(name: str) -> Callable[[bool], Iterator[str]]:
    """Committed inputs of a fuzz target and mutated ones: what every call of the reference gave, in order."""

    def answers(full: bool) -> Iterator[str]:
        module = load(name)
        inputs = [*(data for _, data in module.seeds()), *read_archive(COMMITTED / f"{name}.zip")]
        inputs += [path.read_bytes() for path in sorted((REGRESSIONS / name).glob("*")) if path.is_file()]
        mutate = getattr(module, "mutate", None)
        for number, data in enumerate(inputs if full else inputs[:: 1 + len(inputs) // 40]):
            forms = [data, *changed(data[: module.MAX_LEN], 30 if full else 2, name)]
            if mutate is not None:
                forms += [mutate(data, module.MAX_LEN, number + seed) for seed in range(10 if full else 1)]
            for form in forms:
                yield traced(module.check, form[: module.MAX_LEN])

    return answers


def traced(check: Callable[[bytes], None], data: bytes) -> str:
    """The results of the calls inside a check, and that of the check."""
    given: list[str] = []
    with _listening(given):
        given.append(said(check, data, declared=violation.Violation))
    return " ".join(given)


@contextmanager
def _listening(given: list[str]) -> Iterator[None]:
    """Every module of the fuzzer calls the reference through ``attempt``."""
    before = violation.attempt

    def attempt(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, CodecError | None]:
        value, error = before(function, *arguments, **options)
        given.append(form_of(value) if error is None else f"{error.code} {str(error)!a}")
        return value, error

    modules = [
        module
        for name, module in sys.modules.items()
        if name.startswith("fuzz.") and getattr(module, "attempt", None) is before
    ]
    for module in modules:
        vars(module)["attempt"] = attempt
    try:
        yield
    finally:
        for module in modules:
            vars(module)["attempt"] = before
