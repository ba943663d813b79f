"""Updates with binlog_row_image=NOBLOB, and the columns that must stand in their images (D14).

The columns are written down here by number, counted from 1. They follow from the sentence alone: BLOB and TEXT columns
are left out, but for those that a statement assigns and, in the before-image, those of the key.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.judge.problem import Problem
from conformance.judge.updates.events import readable_events
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COLUMNS: Final = (
    "id INT NOT NULL, n INT, j JSON, k JSON, x LONGTEXT, y TINYTEXT NOT NULL, b BLOB, c VARCHAR(300), g GEOMETRY,"
    " v VARBINARY(300)"
)
_DOCUMENT: Final = '{"a": 1, "p": "pppppppppppppppppppppp"}'
_ROW: Final = f"(1, 0, '{_DOCUMENT}', '[1]', 'x', 'y', 'b', 'c', ST_GeomFromText('POINT(1 1)'), 'v')"
_WITHOUT: Final = (1, 2, 3, 4, 8, 9, 10)  # neither BLOB nor TEXT
_ALL: Final = tuple(range(1, 11))
_TEXT, _TINY, _BLOB = 5, 6, 7
# The key of a table -> its columns in every before-image.
_KEYS: Final = {
    "PRIMARY KEY (id)": _WITHOUT,
    "PRIMARY KEY (y(10), id)": tuple(sorted((*_WITHOUT, _TINY))),
    "KEY (n)": _ALL,  # no key that tells rows apart
}
# A statement -> the BLOB and TEXT columns that it assigns.
_STATEMENTS: Final = {
    "UPDATE t SET n=n+1": (),
    "UPDATE t SET j=JSON_SET(j,'$.a',2)": (),
    "UPDATE t SET j=JSON_SET(j,'$.a',3), x='other'": (_TEXT,),
    "UPDATE t SET b='other', c='other'": (_BLOB,),
}


class Images(NamedTuple):
    """The columns in the images of an update, counted from 1. ``partial``: those whose after-image holds diffs."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    partial: tuple[int, ...] = ()


class ImageCase(NamedTuple):
    """A table, an update of its only row, and the images that are due."""

    setup: tuple[str, ...]
    update: str
    due: Images


def image_cases() -> Iterator[ImageCase]:
    """Each statement on a table with each key, with the option on and off."""
    for (key, before), option, (update, assigned) in product(_KEYS.items(), ("PARTIAL_JSON", ""), _STATEMENTS.items()):
        setup = (
            f"SET SESSION binlog_row_image='NOBLOB', SESSION binlog_row_value_options='{option}'",
            f"CREATE TABLE t ({_COLUMNS}, {key})",
            f"INSERT INTO t VALUES {_ROW}",
        )
        after = tuple(sorted((*_WITHOUT, *assigned)))
        yield ImageCase(setup, update, Images(before, after, (3, 4) if option else ()))


def images_of(events: Iterable[bytes]) -> list[Images]:
    """The images of each updated row. Raises :class:`CodecError` for an event that cannot be read."""
    found = []
    for _, event in readable_events(events):
        body = event.body
        if isinstance(body, RowsBody) and body.type in UPDATE_TYPES:
            before, after = (
                tuple(index + 1 for index in included(bitmap or 0, body.column_count))
                for bitmap in (body.before_columns, body.after_columns)
            )
            json = [index + 1 for index in body.map().json_columns]
            for row in body.rows:
                diffs = row.partial_columns or 0
                partial = tuple(column for place, column in enumerate(json) if diffs >> place & 1)
                found.append(Images(before, after, partial))
    return found


def judge_images(case: ImageCase, found: list[Images]) -> list[Problem]:
    """D14: exactly these columns, in one row."""
    if len(found) != 1:
        message = "an update of one row has not one row in the log"
        return [Problem("rows", "1", str(len(found)), message, statements=(*case.setup, case.update))]
    return [
        Problem(f"columns of the {name}", str(due), str(got), message, statements=(*case.setup, case.update))
        for name, due, got, message in (
            ("before-image", case.due.before, found[0].before, "NOBLOB keeps other columns in the before-image"),
            ("after-image", case.due.after, found[0].after, "NOBLOB keeps other columns in the after-image"),
            ("diffs", case.due.partial, found[0].partial, "JSON columns under NOBLOB are logged in another form"),
        )
        if due != got
    ]
