"""Columns as the lab's own source describes them to clients."""

from __future__ import annotations

import pytest

from conformance.servers.source.columns import ColumnFacts


@pytest.mark.parametrize("kind", ["enum", "set"])
def test_a_column_whose_members_the_log_does_not_name_has_no_length(kind: str) -> None:
    column = ColumnFacts(name="c", type=f"{kind}()", nullable=True, collation=255)
    assert (column.characters, column.octets) == (None, None)
