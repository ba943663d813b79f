"""SC6: a damaged TABLE_MAP in front of an update is an error, and the row stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.table_metadata import damaged_maps
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("damaged")
def test_damaged_maps_are_errors(check: Check) -> None:
    """Each damage of a TABLE_MAP's fixed part, in front of an update with diffs; without damage it is applied."""
    server = check.needs_started_server("a server: events are put into one")
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        for number in check.blocks():
            with check.block(number) as block:
                update = damaged_maps.logged(connection, capture, Stream("damaged-maps", check.seed, number))
                sound = damaged_maps.apply(server, schema, update, update.table_map)
                outcomes = [
                    (damage, damaged_maps.apply(server, schema, update, event))
                    for damage, event in damaged_maps.damages(update)
                ]
                block.cases = len(outcomes)
                problems = damaged_maps.judge(outcomes)
                block.differs(*problems)
                if not problems and (sound.error or sound.unchanged):
                    block.inconclusive(f"the update is not applied without a damage either (error {sound.error})")
        capture.close()
