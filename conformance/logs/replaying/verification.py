"""The tables that the logs give against the rows in InnoDB's data files."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from conformance.console import Output, narrate
from conformance.data_files.directories import data_files_of, is_directory
from conformance.data_files.tablespaces import tablespaces
from conformance.logs.replaying.tables_output import one_line
from conformance.messages import counted
from conformance.user_errors import InputCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.data_files.tablespaces import DataFile
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.data_files import Comparison, DataFiles, Key, NotCompared
    from conformance.reference.replay.table_state import TableState

_LISTED: Final = 20  # rows of a kind and a table in the text format


class FileFindings(NamedTuple):
    """Findings of a comparison about files: what is wrong, what is worth a note, and which tables it told apart."""

    problems: Sequence[str]
    notes: Sequence[str]
    not_compared: NotCompared


class Verification:
    """Data files, opened before the logs are read, and what comes of them. A directory stands for those in it."""

    def __init__(self, paths: Sequence[str], keyring: Path | None) -> None:
        self._stack = ExitStack()
        self._problems: list[str] = []
        self.whole = any(map(is_directory, paths))
        """Whether a directory is meant: then every page is read, whether rows are in it or not."""
        self._files: Iterator[DataFile] = self._stack.enter_context(
            tablespaces(data_files_of(paths), keyring=keyring, problem=self._problem if self.whole else None)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _problem(self, file: str, error: CodecError) -> None:
        self._problems.append(f"{file}: {error}")

    def files(self) -> DataFiles:
        """The files, to be compared once."""
        from conformance.reference.replay.data_files import DataFiles

        files = [(file.name, file.space) for file in self._files]
        return DataFiles(files, self._problems)

    def print(self, tables: Mapping[tuple[str, str], TableState], form: str) -> None:
        """Compare and print. Raises :class:`InputCorrupt` if a file does not have the rows of the logs."""
        files = self.files()
        comparisons = list(files.compare(tables))
        if self.whole:
            files.check_pages()
        self.show(comparisons, FileFindings(files.problems, files.notes, files.not_compared), form)

    def show(self, comparisons: Iterable[Comparison], files: FileFindings, form: str) -> None:
        """Print comparisons, and what was found of files. Raises as :meth:`print`."""
        problems, apart = files.problems, files.not_compared
        output = Output()
        shown: list[dict[str, Any]] = []
        newest = 0
        wrong = equal = 0
        for found in comparisons:
            wrong += not found.agrees
            equal += found.equal
            newest = max(newest, found.newest_lsn)
            if form == "json":
                shown.append(_entry(found))
            else:
                output.write("".join(f"{one_line(line)}\n" for line in _lines(found)).encode("utf-8", "replace"))
        if form == "json":
            answer = {"tables": shown, "problems": problems, "not_compared": apart._asdict()}
            output.write(json.dumps(answer, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n")
        output.flush()
        for text in (*files.notes, *problems):
            narrate(text)
        if apart.of_server:
            narrate(f"not compared: {counted(apart.of_server, 'table')} of the server itself, which no log makes"
                    f" ({counted(apart.rows_of_server, 'row')} read)")  # fmt: skip
        if apart.hidden:
            narrate(f"not compared: {counted(apart.hidden, 'hidden table')} of the storage engine")
        if wrong or problems:
            narrate(f"the newest page read has LSN {newest}. Files of a running server lag behind its log:"
                    " compare copies made after FLUSH TABLES … FOR EXPORT, or after a shutdown")  # fmt: skip
            tables_, files_ = counted(wrong, "table"), counted(len(problems), "file")
            raise InputCorrupt(f"not as in the log: {tables_} and {files_}; {counted(equal, 'row')} equal")
        narrate(f"{counted(equal, 'row')} equal, no other row in the log or the files")


def _entry(found: Comparison) -> dict[str, Any]:
    """A table in the JSON output."""
    schema, table = found.name
    return {
        "schema": schema,
        "table": table,
        "files": found.files,
        "agrees": found.agrees,
        "problem": found.problem or None,
        "equal": found.equal,
        "other_layout": found.other_layout,
        "missing": found.missing,
        "only_in_file": found.only_in_file,
        "differing": [each._asdict() for each in found.differing],
        "damaged": found.damaged,
        "columns_not_compared": found.not_compared,
        "newest_lsn": found.newest_lsn,
    }


def _lines(found: Comparison) -> Iterator[str]:
    name = ".".join(found.name)
    counts = [
        f"{counted(found.equal, 'row')} equal",
        *(f"{count} {words}" for count, words in (
            (len(found.missing), "missing in the file"), (len(found.only_in_file), "only in the file"),
            (found.differing_rows, "differing"), (len(found.damaged), "damaged"),
        ) if count),
    ]  # fmt: skip
    yield f"{name}: {', '.join(counts) if found.files else found.problem}"
    if found.files and found.problem:
        yield f"  not all rows were compared: {found.problem}"
    if found.not_compared:
        yield f"  not compared, as the file has no virtual columns: {', '.join(found.not_compared)}"
    if found.other_layout:
        yield f"  {counted(found.other_layout, 'document')} equal, and stored with other bytes"
    for words, rows in (("missing in the file", found.missing), ("only in the file", found.only_in_file)):
        yield from _some([f"{words}: {_key(row)}" for row in rows[:_LISTED]], len(rows))
    yield from _some(
        [f"differing: {_key(each.key)}: {each.column}: log {_value(each.log)}, file {_value(each.file)}"
         for each in found.differing[:_LISTED]],
        len(found.differing),
    )  # fmt: skip
    yield from _some([f"damaged: {each}" for each in found.damaged[:_LISTED]], len(found.damaged))


def _some(lines: Sequence[str], count: int) -> Iterator[str]:
    yield from (f"  {line}" for line in lines)
    if count > len(lines):
        yield f"  … and {count - len(lines)} more; --format json lists all"


def _key(key: Key) -> str:
    return ", ".join(f"{name}={'NULL' if text is None else text}" for name, text in key.items())


def _value(text: str | None) -> str:
    return "NULL" if text is None else f"'{text}'"
