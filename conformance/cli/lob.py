"""``binlog-lab lob``: JSON columns and off-page values in an InnoDB data file, in all their versions."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import click

from conformance.cli.console import InputCorrupt, Output, Usage, error, narrate
from conformance.cli.data_files import refusals, tablespaces
from conformance.cli.encryption import keyring_option
from conformance.messages import counted
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cli.data_files import DataFile
    from conformance.cli.lob_history import ValueHistory
    from conformance.reference.innodb.large_values import LargeValue
    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.pages import Page
    from conformance.reference.innodb.records import OffPage
    from conformance.reference.innodb.undo.log import UndoTablespaces

_LONGEST_KEY: Final = 80  # in the name of an exported file
_LONGEST_NAME: Final = 200


@click.command(name="lob")
@click.argument("file", metavar="FILE")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--export", "directory", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Write the bytes of each value and version to a file in DIR, which is new or empty.")  # fmt: skip
@click.option("--no-documents", is_flag=True, help="List the values, and do not print the documents.")
@click.option("--deleted", is_flag=True, help="Also the rows that are deleted and wait for purge.")
@click.option("--undo", multiple=True, metavar="FILE",
              help="Undo tablespaces of the server, one each: also print what every older change of a row left."
              )  # fmt: skip
@click.option("--dictionary", metavar="FILE",
              help="Take the tables from here, if FILE is another partition or older than MySQL 8.0.")  # fmt: skip
@click.option("-n", "--no-check", is_flag=True, help="Do not verify the checksums of pages.")
@keyring_option
def command(
    file: str,
    form: str,
    directory: Path | None,
    no_documents: bool,
    deleted: bool,
    undo: tuple[str, ...],
    dictionary: str | None,
    no_check: bool,
    keyring: Path | None,
) -> None:
    """List the JSON values in an InnoDB data file, and every other value stored off-page, with all versions.

    An in-place update of a large document keeps the older version until purge. Each version is printed. Changes of at
    most 100 bytes to a first version leave none: only the undo log has the states between (--undo). The
    dictionary information gives tables, keys and columns. Without it, LOBs are found by their first page, freed ones
    included. Exit code 1: a value or page is damaged or encrypted; all other values are printed.
    """
    if directory is not None and directory.exists() and any(directory.iterdir()):
        raise Usage(f"{directory} is not empty")
    from conformance.cli.lob_history import open_undo

    with ExitStack() as stack:
        paths = [file] if dictionary is None else [file, dictionary]
        groups = [
            next(stack.enter_context(tablespaces([path], verify=not no_check, keyring=keyring))) for path in paths
        ]
        listing = _Listing(groups[0], as_json=form == "json", documents=not no_documents, directory=directory)
        logs = open_undo(stack, undo, verify=not no_check, keyring=keyring) if undo else None
        try:
            with refusals(file):
                listing.print(groups[-1], logs, deleted=deleted)
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
        from conformance.cli.lob_history import value_histories
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
            "key": {name: _plain(part) for name, part in row.key},
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
        lines = [_json_line(entry, lists)] if self._as_json else _text_lines(entry, versions, states or ())
        if self._as_json:
            self._write(",\n" if self.count > 1 else "[\n")
        self._write("\n".join(lines) + ("" if self._as_json else "\n"))
        if problems:
            self._output.flush()
        for problem in problems:
            error(f"{self._file.name}: {_title(entry)}: {problem}")

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


def _plain(value: int | str | bytes | None) -> int | str | dict[str, str] | None:
    """A key's value as JSON has it."""
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _key(key: dict[str, Any]) -> str:
    words = (f"{name}={'0x' + part['hex'] if isinstance(part, dict) else part}" for name, part in key.items())
    return ",".join(words)


def _title(entry: dict[str, Any]) -> str:
    if "table" not in entry:
        return f"LOB at page {entry['first_page']}"
    part = "" if entry["partition"] is None else f" partition {entry['partition']}"
    return f"{entry['schema']}.{entry['table']}{part} {_key(entry['key'])} {entry['column']}"


def _file_name(value: LargeValue | ValueHistory) -> str:
    """The name of an exported file: table, key and column, and the record's place where that is too long."""
    row = value.row
    words = [row.schema, row.table, *([] if row.partition is None else [row.partition])]
    key = _key({name: _plain(part) for name, part in row.key})
    if row.deleted or len(quote(key, safe="=,")) > _LONGEST_KEY:
        key = f"page={row.page},record={row.origin}"
    return quote(".".join([*words, key, value.column]), safe="=,.")[:_LONGEST_NAME]


def _text_lines(
    entry: dict[str, Any], versions: Sequence[dict[str, Any]], states: Sequence[dict[str, Any]]
) -> Iterator[str]:
    words = [entry["type"]] if "type" in entry else []
    if "length" in entry:
        words.append(f"{entry['length']} bytes")
    if entry["stored"] in {"inline", "null"}:
        words.append("in the record" if entry["stored"] == "inline" else "NULL")
    if "format" in entry:
        words.append(f"{entry['format']} at page {entry['first_page']}")
        if entry["lob_version"] is not None:
            words.append(f"version {entry['lob_version']}")
    if entry.get("prefix"):
        words.append(f"the first {entry['prefix']} in the record")
    if entry.get("record", {}).get("deleted"):
        words.append("row deleted")
    words += entry.get("flags", [])
    yield f"{_title(entry)}: {', '.join(words)}"
    for version in versions:
        where = "" if "pages" not in version else f"pages {' '.join(map(str, version['pages']))}"
        head = " ".join(["  version", str(version["version"])] if version.get("version") is not None else [" "])
        told = [part for part in (where, version.get("file"), version.get("document")) if part]
        if "error" in version:
            told.append(f"error: {version['error']}")
        yield f"{head}{', ' if where and version.get('version') is not None else ' '}{': '.join(told)}"
    yield from map(_state_line, states)
    if entry.get("end") is not None:
        yield f"  before: {entry['end']}"


def _state_line(state: dict[str, Any]) -> str:
    """An older version of the row: who made it and how, and what the value was then."""
    made = "change unknown" if state["change"] is None else state["change"].replace("_", " ")
    head = f"  transaction {state['transaction']}, {made}{', not committed' if 'open' in state else ''}"
    words = [word for word, told in (("unchanged", "unchanged"), ("NULL", "null")) if told in state]
    if "length" in state:
        words.append(f"{state['length']} bytes")
    if "lob_version" in state:
        words.append(f"LOB at page {state['first_page']} version {state['lob_version']}")
    told = [", ".join(words), state.get("file"), state.get("document")]
    if "error" in state:
        told.append(f"error: {state['error']}")
    return ": ".join(part for part in (head, *told) if part)


def _json_line(entry: dict[str, Any], lists: dict[str, list[dict[str, Any]]]) -> str:
    """The value as one JSON object on a line. Documents keep MySQL's text."""
    parts = [json.dumps(entry, ensure_ascii=False)[:-1]]
    for name, items in lists.items():
        objects = [
            ", ".join([f"{json.dumps(key)}: {part if key == 'document' else json.dumps(part)}"
                       for key, part in item.items()]) for item in items
        ]  # fmt: skip
        parts.append(f"{json.dumps(name)}: [{', '.join(f'{{{text}}}' for text in objects)}]")
    return f"{', '.join(parts)}}}"
