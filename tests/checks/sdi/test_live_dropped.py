"""The check of dropped tablespaces passes on a server, and fails where the cache keeps their dictionary information."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.sdi import check_dropped
from conformance.checks.sdi.check_dropped import Dropped, Named
from conformance.harness.profiles import SIZES
from conformance.stream import Block
from conformance.verdict import Verdict
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recorded import Recorded

pytestmark = pytest.mark.live
CHECK = "sdi/dropped"
observed = check_dropped.observe


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[CHECK], "quick", 4)


def kept(*words: Any) -> Dropped:
    seen = observed(*words)
    return Dropped(seen.before, seen.before)


def under_another_name(*words: Any) -> Dropped:
    seen = observed(*words)
    return Dropped(seen.before, [Named(page.page, "PRIMARY") for page in seen.after])


def evicted(*words: Any) -> Dropped:
    return Dropped(observed(*words).before, [])


def never_named(*words: Any) -> Dropped:
    seen = observed(*words)
    return Dropped([Named(page.page, None) for page in seen.before], seen.after)


def verdicts(recorded: Recorded) -> set[str]:
    return {name for block in recorded.of(Block) if block.check == CHECK for name in block.verdicts}


def test_a_server_passes(recorded: Recorded) -> None:
    run(check_dropped.test_the_cache_forgets_dropped_tablespaces, recorded.lab)
    assert verdicts(recorded) == {Verdict.PASS}
    assert recorded.cases(CHECK) == 4


@pytest.mark.planted("SDI68")
@pytest.mark.parametrize("altered", [kept, under_another_name])
def test_a_table_that_stays_in_the_cache_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, altered: Callable[..., Dropped]
) -> None:
    monkeypatch.setattr(check_dropped, "observe", altered)
    recorded.fails(check_dropped.test_the_cache_forgets_dropped_tablespaces, "stays in the cache")
    assert {block.requirements for block in recorded.of(Block) if block.failures} == {("SDI68",)}


@pytest.mark.planted("SDI68")
def test_a_page_of_another_index_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    def misnamed(*words: Any) -> Dropped:
        seen = observed(*words)
        return Dropped([Named(page.page, "PRIMARY") for page in seen.before], seen.after)

    monkeypatch.setattr(check_dropped, "observe", misnamed)
    recorded.fails(check_dropped.test_the_cache_forgets_dropped_tablespaces, "is of another index")


@pytest.mark.parametrize("altered", [evicted, never_named])
def test_pages_that_show_nothing_are_no_pass(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, altered: Callable[..., Dropped]
) -> None:
    monkeypatch.setattr(check_dropped, "observe", altered)
    run(check_dropped.test_the_cache_forgets_dropped_tablespaces, recorded.lab)
    assert verdicts(recorded) == {Verdict.INCONCLUSIVE}
