"""Sampled tests run some cases with every change, all of them once a night, and each one that is named."""

from __future__ import annotations

import pytest

from tests.sampling import spread

pytest_plugins = ["pytester"]

_TESTS = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(10))
def test_sampled(number): ...

def test_plain(): ...
"""


@pytest.mark.parametrize(
    ("arguments", "cases"),
    [
        ((), ["0", "3", "6", "plain"]),
        (("-m", "nightly"), ["1", "2", "4", "5", "7", "8", "9"]),
        (("test_cases.py::test_sampled[7]",), ["7"]),
    ],
)
def test_which_cases_run(pytester: pytest.Pytester, arguments: tuple[str, ...], cases: list[str]) -> None:
    pytester.makeconftest("from tests.conftest import pytest_collection_modifyitems\n")
    pytester.makeini("[pytest]\nmarkers =\n  sampled\n  nightly\n")
    pytester.makepyfile(test_cases=_TESTS)
    result = pytester.inline_run("--import-mode=importlib", *arguments)
    passed = [report.nodeid for report in result.getreports("pytest_runtest_logreport") if report.when == "call"]
    assert [name.partition("test_sampled[")[2].rstrip("]") or "plain" for name in passed] == cases


@pytest.mark.parametrize(("count", "total"), [(1, 1), (1, 9), (3, 9), (4, 10), (9, 10), (5, 3)])
def test_a_sample_has_its_size_and_the_first(count: int, total: int) -> None:
    numbers = spread(count, total)
    assert len(numbers) == min(count, total)
    assert 0 in numbers
    assert numbers <= set(range(total))
