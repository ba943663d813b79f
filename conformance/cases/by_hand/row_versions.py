"""A table with rows in several versions: a column was dropped at once, and the rows of before stay as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ROW_FORMATS: Final = ("DYNAMIC", "COMPACT", "REDUNDANT")
DROP: Final = "ALTER TABLE t DROP COLUMN a, ALGORITHM=INSTANT"
IMPORT: Final = "ALTER TABLE t IMPORT TABLESPACE"
_COMMENTS: Final = 30  # of 900 letters that hardly compress: the dictionary information then needs several pages
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def statements(letters: Callable[[int, str], str], row_format: str, *, long: bool) -> tuple[str, ...]:
    """Statements for a table with two rows, which read 1, 3 and 2, 4. ``long``: with dictionary information of several
    pages. ``letters`` draws so many of an alphabet."""
    columns = "".join(f", c{n} int COMMENT '{letters(900, _LETTERS)}'" for n in range(_COMMENTS if long else 0))
    return (
        f"CREATE TABLE t (id int PRIMARY KEY, a int, b int{columns}) ROW_FORMAT={row_format}",
        "INSERT INTO t (id, a, b) VALUES (1, 2, 3)",
        DROP,
        "INSERT INTO t (id, b) VALUES (2, 4)",
    )
