"""The JSON values in a data file, and every other value stored off-page, with all versions: printed and exported."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from conformance.console import Output, error, narrate
from conformance.data_files.tablespaces import refusals, tablespaces
from conformance.data_files.value_text import json_line, key_text, plain, text_lines, title
from conformance.messages import counted
from conformance.reference.errors import CodecError
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.data_files.tablespaces import DataFile
    from conformance.data_files.value_history import ValueHistory
    from conformance.reference.innodb.large_values import LargeValue
    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.pages import Page
    from conformance.reference.innodb.records import OffPage
    from conformance.reference.innodb.undo.log import UndoTablespaces

_LONGEST_KEY: Final = 80  # in the name of an exported file
_LONGEST_NAME: Final = 200


class Wishes(NamedTuple):
    """The choice of what is printed. ``directory``: where the bytes of values go. ``undo``: files of undo tablespaces.

    ``dictionary``: another file, with the dictionary information.
    """

    as_json: bool
    documents: bool
    directory: Path | None
    deleted: bool
    undo: Sequence[str]
    dictionary: str | None


def print_values(file: str, wishes: Wishes, *, verify: bool, keyring: Path | None) -> None:
    """Print all values. Raises :class:`InputCorrupt` at the end if one was damaged."""
    directory = wishes.directory
    if directory is not None and directory.exists() and any(directory.iterdir()):
        raise Usage(f"{directory} is not empty")
    from conformance.data_files.value_history import open_undo

    with ExitStack() as stack:
        paths = [file] if wishes.dictionary is None else [file, wishes.dictionary]
        groups = [next(stack.enter_context(tablespaces([path], verify=verify, keyring=keyring))) for path in paths]
        listing = _Listing(groups[0], as_json=wishes.as_json, documents=wishes.documents, directory=directory)
        logs = open_undo(stack, wishes.undo, verify=verify, keyring=keyring) if wishes.undo else None
        try:
            with refusals(file):
                listing.print(groups[-1], logs, deleted=wishes.deleted)
        finally:
            listing.end()
        if listing.problems or listing.damaged:
            raise InputCorrupt(
                f"{file}: {listing.problems} of {listing.count} values cannot be read completely,"
                f" and {listing.damaged} pages or records not at all"
            )


class _Listing:
    """The values of one file as they are printed; ``problems`` counts those that are damaged.

    ``damaged`` counts errors of pages and records, of which nobody knows how many values they had.
    """

    def __init__(self, file: DataFile, *, as_json: bool, documents: bool, directory: Path | None) -> None:
        from conformance.reference.innodb.large_values import LobReader

        self._file, self._as_json, self._documents, self._directory = file, as_json, documents, directory
        self._reader = LobReader(file.space)
        self._output = Output()
        self.count = self.problems = self.damaged = 0
        self._said = ""

    def print(self, source: DataFile, undo: UndoTablespaces | None, *, deleted: bool) -> None:
        """Print every value. ``source`` is the file with the dictionary information."""
        from conformance.data_files.value_history import value_histories
        from conformance.reference.innodb.large_values import first_pages, large_values, table_objects
        from conformance.reference.innodb.sdi import has_sdi

        tables = list(table_objects(source.space, damage=self._damage)) if has_sdi(source.space) else []
        if tables and undo is not None:
            for found in value_histories(self._file.space, tables, undo, deleted=deleted):
                self._value(found, found)
            return
        if tables:
            for value in large_values(self._file.space, tables, deleted=deleted, damage=self._damage):
                self._value(value)
            return
        narrate(f"{source.name}: no table in the dictionary information; LOBs are found by their first page")
        if not has_sdi(self._file.space):
            narrate("if the file is older than MySQL 8.0: --dictionary takes a newer file of the same table definition")
        for page in first_pages(self._file.space, damage=self._damage):
            self._found(page)

    def _damage(self, problem: CodecError) -> None:
        """Report a page or record that cannot be read; the walk goes on. A second look at a page says the same."""
        said = str(problem)
        if said != self._said:
            self._said = said
            self.damaged += 1
            self._output.flush()
            error(f"{self._file.name}: {said}")

    def end(self) -> None:
        """Close the list."""
        if self._as_json:
            self._write("\n]" if self.count else "[]")
        self._output.flush()
        narrate(counted(self.count, "value"))

    def _value(self, value: LargeValue | ValueHistory, history: ValueHistory | None = None) -> None:
        from conformance.reference.innodb.dictionary import ColumnType
        from conformance.reference.innodb.lob import is_written
        from conformance.reference.innodb.records import OffPage

        row, stored = value.row, value.value
        entry: dict[str, Any] = {
            "schema": row.schema,
            "table": row.table,
            "partition": row.partition,
            "key": {name: plain(part) for name, part in row.key},
            "record": {"page": row.page, "offset": row.origin, "deleted": row.deleted},
            "column": value.column,
            "type": value.type.name,
        }
        is_json = value.type == ColumnType.JSON
        name, suffix = _file_name(value), "jsonb" if is_json else "bin"
        versions: list[dict[str, Any]] = []
        if stored is None:
            entry["stored"] = "null"
        elif not isinstance(stored, OffPage):
            entry |= {"stored": "inline", "length": len(stored)}
            versions = [self._version({}, stored, f"{name}.{suffix}", is_json=is_json)]
        else:
            reference, length = stored.reference, stored.reference.length + len(stored.prefix)
            entry |= {"stored": "off-page", "length": length, "prefix": len(stored.prefix), "flags": _flags(stored)}
            if is_written(reference):
                try:
                    lob = self._reader.open(stored)
                    entry |= _described(lob)
                    versions = list(self._versions(lob, stored.prefix, name, suffix))
                except CodecError as problem:
                    entry["error"] = str(problem)
        if history is None:
            self._print(entry, versions)
            return
        describe = partial(self._version, is_json=is_json)
        states = list(history.states(lambda state, data, file: describe(state, data, f"{file}.{suffix}"), name))
        entry["end"] = history.end
        if history.damaged:
            entry["error"] = history.end
        self._print(entry, versions, states)

    def _found(self, page: Page) -> None:
        """A LOB without a row."""
        entry: dict[str, Any] = {"stored": "off-page", "first_page": page.number}
        versions: list[dict[str, Any]] = []
        try:
            lob = self._reader.open_first(page)
            entry |= {"length": lob.length, **_described(lob)}
            versions = list(self._versions(lob, b"", f"page-{page.number}", "bin"))
        except CodecError as problem:
            entry["error"] = str(problem)
        self._print(entry, versions)

    def _versions(self, lob: Lob, prefix: bytes, name: str, suffix: str) -> Iterator[dict[str, Any]]:
        for number in lob.versions:
            version: dict[str, Any] = {"version": number}
            try:
                version["pages"] = lob.pages(number)
                data = prefix + lob.read(number)
            except CodecError as problem:
                yield {**version, "error": str(problem)}
                continue
            file = f"{name}.{suffix}" if number is None else f"{name}.v{number}.{suffix}"
            yield self._version(version, data, file, is_json=suffix == "jsonb")

    def _version(self, version: dict[str, Any], data: bytes, file: str, *, is_json: bool) -> dict[str, Any]:
        """Complete a version: its length, its document, and the file that it is written to."""
        from conformance.reference.jsonb.decode import decode
        from conformance.reference.jsonb.text import format_text

        version["length"] = len(data)
        if self._directory is not None:
            self._directory.mkdir(parents=True, exist_ok=True)
            (self._directory / file).write_bytes(data)
            version["file"] = file
        if is_json and self._documents:
            try:
                version["document"] = format_text(decode(data))
            except CodecError as problem:
                version["error"] = str(problem)
        return version

    def _print(
        self, entry: dict[str, Any], versions: list[dict[str, Any]], states: list[dict[str, Any]] | None = None
    ) -> None:
        problems = [part["error"] for part in (entry, *versions, *(states or ())) if "error" in part]
        self.problems += bool(problems)
        self.count += 1
        lists = {"versions": versions} | ({} if states is None else {"history": states})
        lines = [json_line(entry, lists)] if self._as_json else text_lines(entry, versions, states or ())
        if self._as_json:
            self._write(",\n" if self.count > 1 else "[\n")
        self._write("\n".join(lines) + ("" if self._as_json else "\n"))
        if problems:
            self._output.flush()
        for problem in problems:
            error(f"{self._file.name}: {title(entry)}: {problem}")

    def _write(self, text: str) -> None:
        self._output.write(text.encode("utf-8", "backslashreplace"))


def _flags(value: OffPage) -> list[str]:
    """The words for the bits of a reference that are not as in a row at rest."""
    reference = value.reference
    bits = {"not-owner": not reference.owned, "inherited": reference.inherited,
            "being-modified": reference.being_modified}  # fmt: skip
    return [word for word, holds in bits.items() if holds]


def _described(lob: Lob) -> dict[str, Any]:
    """Return the facts about a value that its first page tells."""
    return {"format": lob.format, "first_page": lob.first.number, "lob_version": lob.current}


def _file_name(value: LargeValue | ValueHistory) -> str:
    """The name of an exported file: table, key and column, and the record's place where that is too long."""
    row = value.row
    words = [row.schema, row.table, *([] if row.partition is None else [row.partition])]
    key = key_text({name: plain(part) for name, part in row.key})
    if row.deleted or len(quote(key, safe="=,")) > _LONGEST_KEY:
        key = f"page={row.page},record={row.origin}"
    return quote(".".join([*words, key, value.column]), safe="=,.")[:_LONGEST_NAME]
