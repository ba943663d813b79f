"""Which columns stand in the images of a row event (binlog-events 10; observed on 9.7.4)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.reference.tables.columns import BLOB

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.reference.tables.table_map import TableMap


class RowImage(StrEnum):
    """``binlog_row_image``."""

    FULL = "FULL"
    MINIMAL = "MINIMAL"
    NOBLOB = "NOBLOB"


def before_columns(
    table: TableMap, key: Collection[int], primary: Collection[int], image: RowImage
) -> list[int] | None:
    """Columns of the before image of an UPDATE or DELETE; ``None``: all of them, with the FULL form of the bitmap.

    ``key``: columns of the primary key, else of a unique key whose columns are all NOT NULL; empty without one.
    ``primary``: columns of the primary key alone.
    """
    every = range(len(table.columns))
    if image is RowImage.FULL or not key:
        return None
    if image is RowImage.MINIMAL:
        return sorted(key)
    # NOBLOB drops TEXT and BLOB only: JSON, GEOMETRY and VECTOR stay, against the worklog's advice.
    return [index for index in every if table.columns[index].type != BLOB or index in primary]


def read_columns(
    table: TableMap, key: Collection[int], primary: Collection[int], referenced: Collection[int], image: RowImage
) -> set[int]:
    """Columns whose old values an UPDATE reads: those its expressions name, and those its row image needs."""
    every = set(range(len(table.columns)))
    if image is RowImage.FULL or not key:
        return every
    if image is RowImage.MINIMAL:
        return set(referenced) | set(key)
    return set(referenced) | {i for i in every if table.columns[i].type != BLOB or i in primary}


def after_columns(table: TableMap, assigned: Collection[int], image: RowImage) -> list[int] | None:
    """Columns of the after image of an UPDATE that assigns ``assigned``; ``None``: all, with the FULL bitmap."""
    if image is RowImage.FULL:
        return None
    if image is RowImage.MINIMAL:
        return sorted(assigned)
    return [index for index, column in enumerate(table.columns) if column.type != BLOB or index in assigned]
