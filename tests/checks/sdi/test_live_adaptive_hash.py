"""The check of the adaptive hash index passes on a server, and fails where a page of SDI is hashed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.sdi import check_adaptive_hash as hashes
from conformance.harness.profiles import SIZES
from conformance.stream import Block
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.sdi.check_adaptive_hash import Page
    from conformance.servers.wire.connection import Connection
    from tests.recorded import Recorded

pytestmark = pytest.mark.live
CHECK = "sdi/adaptive-hash"
asked = hashes.pages_of


@pytest.fixture(autouse=True)
def one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[CHECK], "quick", 1)


def all_hashed(connection: Connection, table: str) -> list[Page]:
    return [page._replace(hashed=True) for page in asked(connection, table)]


def turned(connection: Connection, table: str) -> list[Page]:
    """The index serves the dictionary information instead of the table."""
    return [page._replace(hashed=not page.hashed) for page in asked(connection, table)]


def none_hashed(connection: Connection, table: str) -> list[Page]:
    return [page._replace(hashed=False) for page in asked(connection, table)]


def own_only(connection: Connection, table: str) -> list[Page]:
    return [page for page in asked(connection, table) if page.kind == "INDEX"]


def verdicts(recorded: Recorded) -> list[dict[str, int]]:
    return [block.verdicts for block in recorded.of(Block) if block.check == CHECK]


def test_a_server_passes(recorded: Recorded) -> None:
    run(hashes.test_the_adaptive_hash_index_leaves_sdi_out, recorded.lab)
    assert verdicts(recorded) == [{"pass": hashes.CHANGES}]


@pytest.mark.planted("SDI11")
@pytest.mark.parametrize("answer", [all_hashed, turned])
def test_a_page_of_dictionary_information_that_is_hashed_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, answer: Callable[[Connection, str], list[Page]]
) -> None:
    monkeypatch.setattr(hashes, "pages_of", answer)
    recorded.fails(hashes.test_the_adaptive_hash_index_leaves_sdi_out, "serves a table of dictionary information")
    assert {block.requirements for block in recorded.of(Block) if block.failures} == {("SDI11",)}


@pytest.mark.parametrize("answer", [none_hashed, own_only])
def test_a_server_that_shows_nothing_is_no_pass(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, answer: Callable[[Connection, str], list[Page]]
) -> None:
    monkeypatch.setattr(hashes, "pages_of", answer)
    run(hashes.test_the_adaptive_hash_index_leaves_sdi_out, recorded.lab)
    assert verdicts(recorded) == [{"inconclusive": hashes.CHANGES}]
