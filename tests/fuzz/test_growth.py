"""Growth: a loop in a loop is a finding of every target that reaches it, work in proportion is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.jsonb.encode import encode
from fuzz.growth import BYTES, STEPS, Growth, check_growth, check_series, grows, parts, pumped
from fuzz.runner.alone.sandbox import GROWTH, PASSED, Sandbox
from fuzz.runner.campaign import run
from fuzz.runner.findings import read
from fuzz.runner.run import Budget
from fuzz.targets import load, target_names
from fuzz.work import steps_by_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.runner.findings import Store
    from fuzz.runner.targets import Target

PLANTED = """
def planted(function):
    def slow(*arguments, **named):
        result = function(*arguments, **named)
        count = len(arguments[0])
        for first in range(count):
            for second in range(first):
                second
        return result
    return slow
"""


def slowly(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a loop in a loop behind it, in a file of the reference as it seems."""
    names: dict[str, Any] = {}
    exec(compile(PLANTED, "/conformance/planted.py", "exec"), names)
    return names["planted"](function)  # type: ignore[no-any-return]


def found(target: Any) -> str:
    """The first growth that the seeds of a target show."""
    for _, data in target.seeds():
        try:
            check_growth(target, data)
        except Growth as growth:
            return growth.rule
    return ""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("path", "parse_path"),
        ("json-text", "parse_text"),
        ("diffs", "split_diffs"),
        ("sql-expression", "parse_expression"),
    ],
)
def test_a_loop_in_a_loop_is_found_by_a_targets_seeds(
    name: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target: Any = load(name)
    monkeypatch.setattr(target, function, slowly(getattr(target, function)))
    assert found(target).startswith("work grows faster than the input in planted.planted")


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", target_names())
def test_the_work_of_every_target_is_in_proportion(name: str) -> None:
    target = load(name)
    for _, data in list(target.seeds())[:1]:
        check_growth(target, data)


def longer(times: int) -> bytes:
    return bytes(50 * times)


def made(check: Callable[[bytes], object]) -> Any:
    return SimpleNamespace(check=check, INSTRUMENT=(__name__.replace(".", "/"),))


def test_memory_that_grows_faster_is_found() -> None:
    def check(data: bytes) -> None:
        for _ in data:
            pass
        bytearray(len(data) ** 2)

    with pytest.raises(Growth, match="memory grows faster"):
        check_series(made(check), longer)
    check_series(made(lambda data: [bytes(1000) for _ in data]), longer)


def test_work_that_a_place_begins_once_is_no_growth() -> None:
    """Behind a repeated part, bytes mean something else where they stand at another place."""
    met = {4: 976, 8: 1021, 16: 1179, 32: 12236, 64: 11454, 128: 1641}

    def check(data: bytes) -> None:
        for _ in range(work[len(data) // 50]):
            pass

    work = met
    check_series(made(check), longer)
    work = {times: 10 * times**2 for times in met}
    with pytest.raises(Growth, match="work grows faster"):
        check_series(made(check), longer)


def test_work_beyond_a_bound_for_each_byte_is_found_without_an_end() -> None:
    def check(_: bytes) -> None:
        while True:
            pass

    with pytest.raises(Growth, match="beyond 500 steps a byte"):
        check_series(made(check), bytes)


def test_errors_of_the_target_are_not_growth() -> None:
    def check(data: bytes) -> None:
        raise ValueError(data)

    check_growth(made(check), b"abc")
    check_growth(made(check), b"")


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ([100, 200, 400, 800], False),
        ([100, 400, 1600, 6400], True),
        ([100, 800, 6400, 51200], True),
        ([5000, 5000, 5000, 50_000], False),  # one step is no growth
        ([1, 4, 16, 64], False),  # too little
        ([100, 230, 530, 1210], False),  # n log n
        ([10_000, 9_000, 20_000, 60_000], False),
    ],
)
def test_four_times_as_much_for_each_doubling_is_too_fast(figures: list[int], expected: bool) -> None:
    assert grows([10 * figure for figure in figures], STEPS) is expected
    assert BYTES > 0


def test_a_part_is_repeated_in_its_place() -> None:
    assert pumped(b"abcd", 1, 3, 3) == b"abcbcbcd"
    assert parts(b"") == []
    assert parts(b"abcdef")[0] == (0, 6)
    assert all(0 <= begin < end <= 100 for begin, end in parts(bytes(range(100))))
    assert parts(b"abcdef") == parts(b"abcdef")


def test_steps_are_counted_by_function() -> None:
    steps = steps_by_function(encode, [1, 2, 3], packages=("conformance",))
    assert sum(steps.values()) > 10
    assert all("/conformance/" in code.co_filename for code in steps)
    assert not steps_by_function(encode, [1], packages=("nothing",))


# --- the runner ------------------------------------------------------------------------------------------------------


def test_a_sandbox_looks_at_growth_where_it_is_asked_to(toy: Callable[[str], Target]) -> None:
    with Sandbox(toy("slow"), growth=True) as sandbox:
        outcome = sandbox.run(b"TOYSabcdef")
        assert (outcome.kind, outcome.signature) == (GROWTH, "work grows faster than the input in toy_slow.compare")
        assert sandbox.run(b"TOYabcdef").kind == PASSED
    with Sandbox(toy("slow")) as sandbox:
        assert sandbox.run(b"TOYSabcdef").kind == PASSED


@pytest.mark.nightly
@pytest.mark.usefixtures("atheris")
def test_a_loop_in_a_loop_is_a_finding_of_a_run(toy: Callable[[str], Target], store: Store) -> None:
    campaign = run([toy("slow"), toy("clean")], Budget(runs=5000), store, jobs=2, show=lambda _: None)
    slow, clean = campaign.states
    (finding,) = slow.findings
    assert (finding.kind, finding.signature) == (GROWTH, "work grows faster than the input in toy_slow.compare")
    assert finding.reproduced
    assert finding.size < 10
    assert read(finding.path) == finding
    assert clean.findings == []
