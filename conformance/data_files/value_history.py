"""Every older version of a value, from the data file and the undo tablespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.data_files.tablespaces import refusals, tablespaces
from conformance.reference.errors import CodecError
from conformance.reference.innodb.dictionary import ColumnType
from conformance.reference.innodb.large_values import rows
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.undo.log import UndoTablespaces
from conformance.reference.innodb.undo.record import UndoType
from conformance.reference.innodb.undo.row_versions import EXPECTED_ENDS, Histories
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from conformance.reference.innodb.large_values import Row
    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.records import Value
    from conformance.reference.innodb.undo.row_versions import RowHistory, RowVersion

    Describe = Callable[[dict[str, Any], bytes, str], dict[str, Any]]

_KEEPING: Final = (UndoType.UPDATE, UndoType.DELETE)  # an insert sets all values


def open_undo(stack: ExitStack, paths: Sequence[str], *, verify: bool, keyring: Path | None = None) -> UndoTablespaces:
    """The undo tablespaces in files. A file that is none, and a number that comes twice, are wrong usage."""
    spaces: list[Tablespace] = []
    for path in paths:
        file = next(stack.enter_context(tablespaces([path], verify=verify, keyring=keyring)))
        with refusals(path):
            try:
                UndoTablespaces([*spaces, file.space])
            except CodecError as problem:
                raise Usage(f"{path}: {problem.message}") from problem
        spaces.append(file.space)
    return UndoTablespaces(spaces)


class ValueHistory:
    """The versions of one column of one row; ``value`` is the newest."""

    def __init__(self, found: RowHistory, position: int, column: str, kind: ColumnType) -> None:
        self._found, self._position = found, position
        self.row: Row = found.row
        self.column, self.type = column, kind
        self.value: Value = found.versions[0].values[position]

    @property
    def end(self) -> str | None:
        """Why the versions do not go back to the insert."""
        return None if self._found.end is None else str(self._found.end)

    @property
    def damaged(self) -> bool:
        """Whether the end is none that purge or a rebuild of the table made."""
        return self._found.end is not None and self._found.end.code not in EXPECTED_ENDS

    def states(self, describe: Describe, name: str) -> Iterator[dict[str, Any]]:
        """The versions, the newest first, as they are printed. A change of other columns only is ``unchanged``."""
        for version in self._found.versions:
            state: dict[str, Any] = {
                "transaction": version.transaction,
                "change": None if version.change is None else version.change.name.lower(),
            }
            state |= {"open": True} if version.open else {}
            if version.change in _KEEPING and version.changed is not None and self._position not in version.changed:
                state["unchanged"] = True
            else:
                state = self._described(version, state, describe, name)
            yield state

    def _described(self, version: RowVersion, state: dict[str, Any], describe: Describe, name: str) -> dict[str, Any]:
        value, at = version.values[self._position], version.roll_pointer
        if isinstance(value, OffPage):
            state |= {"first_page": value.reference.page, "lob_version": value.reference.version}
        try:
            data = version.read(self._position)
        except CodecError as problem:
            return {**state, "error": str(problem)}
        if data is None:
            return {**state, "null": True}
        return describe(state, data, f"{name}.{version.transaction}-{at.space}-{at.page}-{at.offset}")


def value_histories(
    space: Tablespace, tables: Iterable[dict[str, Any]], undo: UndoTablespaces, *, deleted: bool
) -> Iterator[ValueHistory]:
    """The columns that are JSON, or off-page in any version, of all rows."""
    histories = Histories(space, tables, undo)
    for stored in rows(space, histories.tables, deleted=deleted):
        found = histories.of(stored)
        for position, (field, kind) in enumerate(zip(stored.tree.format.fields, stored.types, strict=True)):
            values = [version.values[position] for version in found.versions]
            json = kind == ColumnType.JSON and any(value is not None for value in values)
            if json or any(isinstance(value, OffPage) for value in values):
                yield ValueHistory(found, position, field.name, kind)
