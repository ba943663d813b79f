"""Where a value argument deeper than a document is refused: the outcomes of MySQL 9.7.4 for each place."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.reference.sql.row_expressions import RowFacts, read_expression
from tests.reference.partial.depth_vectors import DOCUMENT, PLACES, TOO_DEEP, TREE, VALUES

_ROW: Final = {"j": encode(parse_text(DOCUMENT)), "k": encode(parse_text(TREE))}


def refused(sql: str, *, log_diffs: bool) -> bool:
    """Whether the update gets the error that a document is too deep."""
    assignment = Assignment("j", read_expression(sql, RowFacts(dict(_ROW))).expression)
    try:
        update_row(dict(_ROW), [assignment], Columns(("j", "k")), log_diffs=log_diffs)
    except MysqlError as error:
        return error.number == TOO_DEEP
    return False


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.replace(TREE, "..."))
def test_a_value_too_deep_is_refused_where_its_bytes_are_made(place: str, value: str) -> None:
    sql = place.replace("@v", value)
    assert (refused(sql, log_diffs=False), refused(sql, log_diffs=True)) == PLACES[place]
