"""A reader of data files without a fault, from the reference, and readers with one fault each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.data_files.whole_file import read_dictionary, read_rows
from conformance.reference.innodb import stored_tables
from conformance.reference.innodb.lob import IndexedLob
from conformance.reference.innodb.stored_tables import StoredTable
from tests.subjects.faulty.reading import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.innodb.dictionary import ClusteredIndex

    Row = dict[str, Any]

_PREFIX = 768  # bytes of a large value that old formats keep in the row
_MOST_COLUMNS = 100
INDEXES = "clustered_indexes"


class Reader:
    """A subject: ``row`` alters each row, ``value`` each value of a column, ``entry`` each entry."""

    silent: ClassVar[bool] = False  # about damage

    def hello(self) -> dict[str, Any]:
        """Introduce the subject."""
        return {"name": type(self).__name__, "version": "1", "roles": ["rows", "sdi"], "capabilities": []}

    def rows(self, path: str) -> Iterator[Row]:
        """The rows of a data file, with the fault."""
        problems: list[str] = []
        for line, _ in read_rows(path, problems.append, tagged=False):
            row = parse(line)
            row["values"] = {name: self.value(value) for name, value in row["values"].items()}
            if (given := self.row(row)) is not None:
                yield given
        self.end(problems)

    def sdi(self, path: str) -> Iterator[Any]:
        """The dictionary information of a data file, with the fault."""
        problems: list[str] = []
        entries = json.loads(read_dictionary(path, problems.append) or b"[]")
        for number, item in enumerate(entry for entry in entries if isinstance(entry, dict)):
            if (given := self.entry(number, item)) is not None:
                yield given
        self.end(problems)

    def end(self, problems: list[str]) -> None:
        """Say what was wrong."""
        if problems and not self.silent:
            raise ValueError("; ".join(problems))

    def value(self, value: Any) -> Any:
        """The value that the subject gives for a column's value."""
        return value

    def row(self, row: Row) -> Row | None:
        """The row that the subject gives, if any."""
        return row

    def entry(self, number: int, entry: Row) -> Row | None:
        """The entry that the subject gives, if any. ``number``: counted from 0."""
        del number
        return entry


class FirstEntryOnly(Reader):
    """Ends behind the first entry of a file."""

    def entry(self, number: int, entry: Row) -> Row | None:
        """The first entry."""
        return entry if not number else None


class EntriesUpToAPage(Reader):
    """Leaves out the columns that do not fit into a page."""

    def entry(self, number: int, entry: Row) -> Row | None:
        """The entry, cut."""
        del number
        if (columns := entry["object"]["dd_object"].get("columns")) is not None:
            entry["object"]["dd_object"]["columns"] = columns[:_MOST_COLUMNS]
        return entry


class GivesDeletedRows(Reader):
    """Does not look at the bit of deleted records."""

    def __init__(self) -> None:
        sound = StoredTable.rows

        def every(table: StoredTable, **more: Any) -> Iterator[Any]:
            return sound(table, **{**more, "deleted": True})

        setattr(StoredTable, sound.__name__, every)

    def row(self, row: Row) -> Row | None:
        """Any row that can be read, as if it were a current one."""
        return {key: value for key, value in row.items() if key != "state"}


class FirstLeafOnly(Reader):
    """Reads the first leaf page of each table."""

    def rows(self, path: str) -> Iterator[Row]:
        """The rows of one page."""
        rows = list(super().rows(path))
        yield from [row for row in rows if row["page"] == rows[0]["page"]]


class WrongSign(Reader):
    """Takes unsigned integers for signed ones."""

    def value(self, value: Any) -> Any:
        """The number that the same bytes are with a sign."""
        for bits in (8, 16, 24, 32, 64):
            if value == (1 << bits) - 1:
                return -1
        return value


class EmptyAsNull(Reader):
    """Gives SQL NULL for an empty text."""

    def value(self, value: Any) -> Any:
        """NULL for nothing."""
        return None if value == "" else value


class PrefixOfLargeValues(Reader):
    """Gives the bytes in the row as the whole value."""

    def value(self, value: Any) -> Any:
        """The beginning of a text."""
        return value[:_PREFIX] if isinstance(value, str) else value


class OldVersions(Reader):
    """Reads the oldest version of a large value."""

    def __init__(self) -> None:
        sound = IndexedLob.read

        def oldest(lob: IndexedLob, version: int | None = None) -> bytes:
            return sound(lob, version or lob.versions[0])

        setattr(IndexedLob, sound.__name__, oldest)


class NoInstantDefaults(Reader):
    """Gives SQL NULL for the columns that old records do not have."""

    def __init__(self) -> None:
        sound: Callable[[Any], Iterator[ClusteredIndex]] = getattr(stored_tables, INDEXES)

        def without(entry: Any) -> Iterator[ClusteredIndex]:
            for index in sound(entry):
                fields = tuple(field._replace(default=None) for field in index.format.fields)
                yield index._replace(format=index.format._replace(fields=fields))

        setattr(stored_tables, INDEXES, without)


class DroppedColumnsAsThere(Reader):
    """Gives the columns that were dropped as well."""

    def row(self, row: Row) -> Row | None:
        """The row, with a column that is none."""
        if "front" in row["values"] or "n" in row["values"]:
            row["values"]["!hidden!_dropped_v2_p5_b"] = None
        return row


class FirstTableOnly(Reader):
    """Reads the first table of a shared tablespace."""

    def row(self, row: Row) -> Row | None:
        """The rows of the table that sorts first."""
        return row if row["table"] == "t" else None


class CompressedAsEmpty(Reader):
    """Finds no page in a compressed file."""

    def rows(self, path: str) -> Iterator[Row]:
        """Nothing, where pages are smaller than usual."""
        with open(path, "rb") as file:  # noqa: PTH123 - its first bytes
            if len(file.read()) >= 1 << 16:
                yield from super().rows(path)


class SilentAtDamage(Reader):
    """Passes over what is damaged."""

    silent = True


class QuietAboutOtherFiles(Reader):
    """Gives nothing of a file that it cannot open, and does not say so."""

    def rows(self, path: str) -> Iterator[Row]:
        """The rows, or nothing."""
        try:
            yield from super().rows(path)
        except Exception:  # noqa: BLE001 - the fault
            return

    def sdi(self, path: str) -> Iterator[Any]:
        """The entries, or nothing."""
        try:
            yield from super().sdi(path)
        except Exception:  # noqa: BLE001 - the fault
            return


class RowsWithoutTable(Reader):
    """Does not say whose rows they are."""

    def row(self, row: Row) -> Row | None:
        """The row without its table."""
        return {key: value for key, value in row.items() if key != "table"}
