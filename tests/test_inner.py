"""The inner loop finds the tests of a module, and answers a broken rule in a line."""

from __future__ import annotations

import pytest

from tests import inner
from tests.inner import NoTestsError, OneLine, mirror, steps

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("place", "tests"),
    [
        ("conformance/reference/partial/decision.py", "tests/reference/partial"),
        ("conformance/reference/partial", "tests/reference/partial"),
        ("conformance/cli/predict.py", "tests/cli/test_predict.py"),
        ("generators/strategies/updates.py", "tests/generators"),
        ("fuzz/growth.py", "tests/fuzz/test_growth.py"),
        ("tests/docs/test_names.py", "tests/docs/test_names.py"),
    ],
)
def test_tests_mirror_the_packages(place: str, tests: str) -> None:
    assert str(mirror(place)) == tests


@pytest.mark.parametrize("place", ["docs/index.md", "conformance/nothing.py"])
def test_a_place_without_tests_is_told(place: str) -> None:
    with pytest.raises(NoTestsError, match="expected a module or folder"):
        mirror(place)


def test_vectors_come_first_and_slow_tests_last() -> None:
    assert [words for words, _ in steps(["conformance/reference/jsonb"], slow=True)] == [
        "vectors", "tests of seconds in tests/reference/jsonb", "slow tests in tests/reference/jsonb",
    ]  # fmt: skip
    assert [words for words, _ in steps(["conformance/cli"], slow=False)] == ["tests of seconds in tests/cli"]


def test_a_broken_rule_is_a_line(capsys: pytest.CaptureFixture[str], pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n\n@pytest.mark.parametrize('x', [1], ids=['border, partial-update 5'])\n"
        "def test_vector(x):\n    assert x == 2, 'not 2'\n\ndef test_that_all_is_well():\n    assert not 'well'\n"
    )
    pytester.inline_run("-p", "no:cacheprovider", plugins=[OneLine()])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("✗")]
    assert lines == [
        "✗ border, partial-update 5: AssertionError: not 2",
        "✗ test that all is well: AssertionError: assert not 'well'",
    ]


def test_nothing_to_run_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def nothing() -> list[str]:
        raise NoTestsError("no module differs from HEAD; name one")

    monkeypatch.setattr(inner, "_changed", nothing)
    with pytest.raises(SystemExit, match="2"):
        inner.main([])
    assert "name one" in capsys.readouterr().err
