"""Everyday ALTERs on a real server: ``apply`` gives the rows of SELECT, or refuses the statement with its reason."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.in_process import lab_here as lab
from tests.replayed_tables import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

ALTERS: dict[str, Any] = tomllib.loads((Path(__file__).parents[1] / "data" / "everyday-alters.toml").read_text())


@pytest.fixture
def source(server: ProcessServer) -> Iterator[Source]:
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("SET NAMES utf8mb4")
        yield Source(connection, schema)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", ALTERS["case"], ids=lambda case: case["title"])
def test_an_everyday_alter_is_followed_or_refused(source: Source, case: dict[str, Any]) -> None:
    log = source.begin()
    before = None
    source.run(ALTERS["create"], *ALTERS["rows"], *case.get("before", ()))
    if "refused" in case:
        source.run(*case["alter"][:-1])
        before = source.tables()
        source.run("SET time_zone = DEFAULT", case["alter"][-1])
    else:
        source.run(*case["alter"])
    tables = source.tables()
    done = lab("apply", log, "--format", "json")
    if "refused" in case:
        assert done.code == 1, done.text
        assert case["refused"] in done.err
        assert json.loads(done.out) == before
        if "time zone" in case["refused"]:
            assert followed_in_utc(source, log) == tables
        return
    assert done.code == 0, done.text
    assert json.loads(done.out) == tables
    source.run(*case.get("more", ALTERS["more"]))
    done = lab("apply", log, "--format", "json")
    assert done.code == 0, done.text
    assert json.loads(done.out) == source.tables()


def followed_in_utc(source: Source, log: Path) -> dict[str, Any]:
    """The tables, if ``apply`` is told the time zone of the machine."""
    seconds = source.connection.execute(
        "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))"
    ).texts()
    minutes = int(str(seconds[0][0]))
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    done = lab("apply", log, "--format", "json", "--system-time-zone", zone)
    assert done.code == 0, done.text
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_most_everyday_alters_are_followed() -> None:
    assert sum("refused" not in case for case in ALTERS["case"]) >= 30
