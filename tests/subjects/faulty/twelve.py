"""Twelve broken decoders: the reference, each with one fault, and what a report must say of each.

They were chosen, and :data:`TWELVE` written down, before the code that groups failing Cases by their cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY
from conformance.reference.text.columns import member_text
from conformance.reference.text.row_changes import RowChanges
from conformance.verdict import Verdict
from tests.subjects.faulty.public_reports import Cannot
from tests.subjects.faulty.reading import Reader, events_of, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.tables.metadata import ColumnInfo
    from tests.subjects.faulty.reading import Change

_PARTIAL: Final = "PARTIAL_UPDATE_ROWS_EVENT"
_BITS: Final = {types.TINY: 8, types.SHORT: 16, types.INT24: 24, types.LONG: 32, types.LONGLONG: 64}
_HOURS: Final = timedelta(hours=2)


class Step(NamedTuple):
    """One event as the reference reads it: the columns of its table, and the lines of its changes."""

    event: Event
    columns: dict[str, ColumnInfo]
    lines: list[str]


class ReadOnce(NamedTuple):
    """A whole log, read once for all twelve. ``damage``: the error at its end."""

    steps: tuple[Step, ...]
    damage: CodecError | None


@cache
def read_once(path: str) -> ReadOnce:
    """The reference's reading of a log."""
    writer = RowChanges(tagged=True)
    steps: list[Step] = []
    try:
        for event in events_of(path):
            table = event.body.map() if isinstance(event.body, LazyRows) else None
            named = dict(zip(table.column_names, table.described, strict=True)) if table is not None else {}
            lines: list[str] = []
            steps.append(Step(event, named, lines))
            lines.extend(writer.event(event))  # those in front of damage stay
    except CodecError as error:
        return ReadOnce(tuple(steps), error)
    return ReadOnce(tuple(steps), None)


class Broken(Reader):
    """A reader whose fault goes into one of four places: events, changes, columns, or the end of the log."""

    def decode(self, path: str) -> Iterator[Change]:
        """The changes of a log, with the fault."""
        found = read_once(path)
        for step in found.steps:
            if self.keep(step.event):
                for line in step.lines:
                    yield self.altered(parse(line), step.columns)
        if found.damage is not None:
            self.damaged(found.damage)

    def altered(self, change: Change, columns: dict[str, ColumnInfo]) -> Change:
        """The change with the values that the decoder gives."""
        for image in ("before", "after"):
            if change[image] is not None:
                change[image] = {name: self.column(columns[name], value) for name, value in change[image].items()}
        return self.change(change)

    def column(self, info: ColumnInfo, value: Any) -> Any:
        """The value that the decoder gives for that of a column."""
        del info
        return self.value(value)

    def damaged(self, damage: CodecError) -> None:
        """End at damage."""
        raise damage


class DropsDelete(Broken):
    def keep(self, event: Event) -> bool:
        return not event.name.startswith("DELETE_ROWS")


class SwallowsErrors(Broken):
    def damaged(self, damage: CodecError) -> None:
        del damage


class CutsTextAt255(Broken):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        text = info.type.is_character and info.collation != BINARY
        return value[:255] if text and isinstance(value, str) else value


class SignedAsUnsigned(Broken):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        bits = _BITS.get(info.type.real_type)
        return value + (1 << bits) if bits and isinstance(value, int) and value < 0 else value


class RefusesEvent39(Broken):
    """Has one text for all errors."""

    def keep(self, event: Event) -> bool:
        if event.name == _PARTIAL:
            raise Cannot("the log cannot be read")
        return True

    def damaged(self, damage: CodecError) -> None:
        raise Cannot("the log cannot be read") from damage


class LosesEventsInside40(Broken):
    def keep(self, event: Event) -> bool:
        return event.inner is None


class UtcShifted(Broken):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        temporal = info.type.type in (types.TIMESTAMP, types.TIMESTAMP2)
        if not temporal or value is None or value.startswith("0000"):
            return value
        moment, _, fraction = value.partition(".")
        return str(datetime.fromisoformat(moment) + _HOURS) + (f".{fraction}" if fraction else "")


class JsonNullAsSqlNull(Broken):
    def value(self, value: Any) -> Any:
        return None if value == {"json": None} else value


class EnumAsNumber(Broken):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        if info.type.real_type != types.ENUM or value is None:
            return value
        if isinstance(value, dict):
            return value["index"]
        names = [member_text(info, number) for number in range(1, len(info.members or ()) + 1)]
        return names.index(value) + 1 if value in names else 0


class DecimalsAsFloats(Broken):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        decimal = info.type.real_type == types.NEWDECIMAL and value is not None
        return float(value) if decimal else value


class FirstDiffOnly(Broken):
    def value(self, value: Any) -> Any:
        diffs = value.get("diffs") if isinstance(value, dict) else None
        return {"diffs": diffs[:1]} if diffs else value


class TwoColumnsSwapped(Broken):
    """Gives the second column of a table the value of the third, and the other way round."""

    def altered(self, change: Change, columns: dict[str, ColumnInfo]) -> Change:
        names = list(columns)[1:3]
        for image in ("before", "after"):
            found = change[image]
            if len(names) == 2 and found is not None and found.keys() >= set(names):
                found[names[0]], found[names[1]] = found[names[1]], found[names[0]]
        return change


@dataclass(frozen=True, slots=True)
class Due:
    """The words that a report owes a broken decoder.

    ``because``: what the failing Cases share and the passing ones lack.
    """

    decoder: type[Broken]
    title: str
    requirement: str
    because: str
    verdict: Verdict = Verdict.SILENT_LOSS


TWELVE: Final = (
    Due(DropsDelete, "Every DELETE is lost", "DEC24", "a DELETE"),
    Due(SwallowsErrors, "Damage ends the log in silence", "DEC22", "damage in the log"),
    Due(CutsTextAt255, "Text of more than 255 characters is cut", "DEC12", "more than 255 characters"),
    Due(SignedAsUnsigned, "Negative integers arrive as unsigned ones", "DEC10", "a negative integer"),
    Due(
        RefusesEvent39, "It stops at PARTIAL_UPDATE_ROWS_EVENT (39)", "DEC1", "PARTIAL_UPDATE_ROWS_EVENT (39)",
        Verdict.REFUSED,
    ),
    Due(
        LosesEventsInside40, "Every row change in a compressed transaction is lost", "DEC16",
        "in a compressed transaction",
    ),
    Due(UtcShifted, "TIMESTAMP values are shifted by 2 hours", "DEC11", "a TIMESTAMP column"),
    Due(JsonNullAsSqlNull, "The JSON literal null arrives as SQL NULL", "DEC5", "the JSON literal null"),
    Due(
        EnumAsNumber, "ENUM values arrive as numbers, without their names", "DEC12", "an ENUM column", Verdict.LENIENT
    ),
    Due(DecimalsAsFloats, "DECIMAL values are rounded to doubles", "DEC10", "a DECIMAL of more than 15 digits"),
    Due(
        FirstDiffOnly, "Diffs behind the first of their column are lost", "DEC2",
        "a diff behind the first of its column",
    ),
    Due(TwoColumnsSwapped, "Columns arrive with each other's values", "DEC14", "the second or third column"),
)  # fmt: skip
