"""Values that paths select: JSON_EXTRACT and JSON_LENGTH as 9.7.4 answered."""

from __future__ import annotations

import pytest

from conformance.reference.jsonb.text import format_text
from conformance.reference.sql.row_expressions import RowFacts, read_value


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("JSON_EXTRACT('[1,2,3,4]', '$[1 to 2]')", "[2, 3]"),
        ("JSON_EXTRACT('[1,2,3,4]', '$[2 to 9]')", "[3, 4]"),
        ("JSON_EXTRACT('[1,2,3,4]', '$[last-1 to last]')", "[3, 4]"),
        ("JSON_EXTRACT('[1,2,3,4]', '$[last-9 to last-3]')", "[1]"),
        ("JSON_EXTRACT('[1,2,3,4]', '$[0 to last]')", "[1, 2, 3, 4]"),
        ("JSON_EXTRACT('[1,2,3,4]', '$[5 to 9]')", "null"),
        ("JSON_EXTRACT('7', '$[0 to 3]')", "[7]"),
        ("JSON_EXTRACT('7', '$[1 to 3]')", "null"),
        ("JSON_EXTRACT('7', '$[0 to last]')", "[7]"),
        ("JSON_EXTRACT('7', '$[last-3 to last]')", "[7]"),
        ("JSON_EXTRACT('7', '$[last-3 to last-1]')", "null"),
        ("JSON_EXTRACT('7', '$[0]')", "7"),
        ("JSON_EXTRACT('7', '$[last]')", "7"),
        ("JSON_EXTRACT('7', '$[1]')", "null"),
        ("JSON_EXTRACT('{\"a\":1}', '$[0].a')", "1"),
        ('JSON_EXTRACT(\'{"a":{"b":1},"c":{"b":2}}\', \'$.*.b\')', "[1, 2]"),
        ('JSON_EXTRACT(\'[{"b":1},{"c":2},{"b":3}]\', \'$[*].b\')', "[1, 3]"),
        ("JSON_EXTRACT('7', '$[*]')", "null"),
        ("JSON_EXTRACT('7', '$.*')", "null"),
        ("JSON_EXTRACT('[]', '$[*]')", "null"),
        ("JSON_EXTRACT('{\"a\":[1]}', '$.a[last]', '$.x')", "[1]"),
        ("JSON_EXTRACT('{\"a\":[1]}', '$.x', '$.y')", "null"),
        ("JSON_EXTRACT('{\"a\":[[1,2],[3]]}', '$.a[*][0]')", "[1, 3]"),
        ("JSON_EXTRACT('{\"a\":[[1,2],3]}', '$.a[*][0]')", "[1, 3]"),
        ("JSON_LENGTH('{\"a\":[1]}', '$.a')", "1"),
        ("JSON_LENGTH('{\"a\":[1,2],\"b\":{}}', '$.b')", "0"),
        ("JSON_LENGTH('7')", "1"),
        ("JSON_LENGTH('{\"a\":1}', '$.x')", "null"),
    ],
)
def test_paths_select_what_they_select_in_the_server(sql: str, text: str) -> None:
    assert format_text(read_value(sql, RowFacts({})).json) == text
