"""Updates with a value deeper than a document may be, and what MySQL 9.7.4 says to each (partial-update 8.3).

The column ``j`` has the document, and ``k`` the deepest tree.
"""

from __future__ import annotations

from typing import Final

TOO_DEEP: Final = 3157
TREE: Final = "[" * 100 + "]" * 100  # the deepest that a text gives
DOCUMENT: Final = f'{{"b": "{"x" * 2000}", "l": [1, 2], "n": 1, "s": {{"k": 2}}}}'
VALUES: Final = (
    f"JSON_ARRAY(CAST('{TREE}' AS JSON))", "JSON_ARRAY(k)", "JSON_OBJECT('z', k)", "JSON_SET('{}', '$.q', k)",
    "JSON_MERGE_PRESERVE(JSON_ARRAY(k), '[1]')", "JSON_MERGE_PATCH('{}', JSON_OBJECT('a', k))",
    "JSON_EXTRACT(JSON_ARRAY(k), '$')",
)  # fmt: skip
# The right-hand side around a value @v, and whether it is refused without and with logging of diffs.
PLACES: Final = {
    "JSON_SET(j, '$.a', @v)": (True, True),
    "JSON_SET(j, '$', @v)": (True, True),
    "JSON_REMOVE(JSON_SET(j, '$.a', @v), '$.a')": (False, True),
    "JSON_SET(JSON_SET(j, '$.a', @v), '$.a', 1)": (False, True),
    "JSON_REMOVE(JSON_SET(j, '$.c', 1, '$.b', @v), '$.b')": (False, True),
    "JSON_REMOVE(JSON_SET(j, '$.n[1]', @v), '$.n')": (False, True),
    "JSON_REMOVE(JSON_SET(j, '$.l[9]', @v), '$.l')": (False, True),
    "JSON_SET(j, '$.a', @v, NULL, 1)": (False, True),
    "JSON_SET(JSON_SET(j, '$.b', @v), '$.b', 1)": (True, True),
    "JSON_SET(JSON_SET(j, '$.n', @v), '$.n', 1)": (True, True),
    "JSON_REMOVE(JSON_REPLACE(j, '$.b', @v), '$.b')": (True, True),
    "JSON_SET(j, '$.b', @v, NULL, 1)": (True, True),
    "JSON_SET(j, '$.x.y', @v)": (False, False),
    "JSON_SET(j, '$.c', 1, '$.x.y', @v)": (False, False),
    "JSON_SET(j, '$.l.y', @v)": (False, False),
    "JSON_SET(j, '$.n.y', @v)": (False, False),
    "JSON_REPLACE(j, '$.zz', @v)": (False, False),
    "JSON_SET(JSON_SET(j, '$', @v), '$', 1)": (False, False),
    "JSON_SET(JSON_SET(j, '$[1]', @v), '$', 1)": (False, False),
    "JSON_REMOVE(JSON_SET(@v, '$.zz', 1), '$.q', '$[0]', '$.z', '$.a')": (False, False),
}
