"""The requirement that a difference breaks: the Case's first one that is about such differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DECODE, Equality
from conformance.judge.decoding.difference import DifferenceKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.judge.decoding.difference import Difference

DECODERS: Final = "DEC"  # requirements of decoders begin so
DATA_FILES: Final = "DAT"  # those of readers of data files
PROTOCOL: Final = "DEC23"
DAMAGE: Final = "DEC22"
PROTOCOL_OF_READERS: Final = "DAT8"
DAMAGE_OF_READERS: Final = "DAT7"
TYPES: Final = "DEC9"
_PARTIAL: Final = "PARTIAL_UPDATE_ROWS_EVENT"
_STREAM: Final = ("DEC14", "DEC15", "DEC16", "DEC17", "DEC18", "DEC19", "DEC20", "DEC21", "DEC22", "DEC24")
_DIFFS: Final = ("DEC2", "DEC3", "DEC4", "DEC5")
_IMAGE: Final = ("DEC14", "DEC4", "DEC3", "DEC5", "DEC15")
_COLUMNS: Final = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"), "DEC10"),
    **dict.fromkeys(("YEAR", "DATE", "TIME", "DATETIME", "TIMESTAMP"), "DEC11"),
    **dict.fromkeys(("CHAR", "VARCHAR", "TEXT", "ENUM", "SET"), "DEC12"),
    **dict.fromkeys(("BINARY", "VARBINARY", "BLOB", "BIT", "GEOMETRY", "VECTOR"), "DEC13"),
}
_SCALARS: Final = frozenset(("NULL", "BOOLEAN", "INTEGER", "UNSIGNED INTEGER", "DOUBLE", "STRING"))
_CONTAINERS: Final = frozenset(("OBJECT", "ARRAY"))


def first_of(requirements: Sequence[str]) -> str:
    """A Case's first requirement of decoders, or of readers of data files."""
    return next((name for name in requirements if name.startswith((DECODERS, DATA_FILES))), PROTOCOL)


def damage_of(role: str) -> str:
    """The requirement about damaged inputs, for subjects in this role."""
    return DAMAGE if role == DECODE else DAMAGE_OF_READERS


def protocol_of(role: str) -> str:
    """The requirement about the form of answers, for subjects in this role."""
    return PROTOCOL if role == DECODE else PROTOCOL_OF_READERS


def protocol_beside(requirements: Sequence[str]) -> str:
    """The requirement about the form of answers that belongs to a Case's others."""
    return PROTOCOL_OF_READERS if first_of(requirements).startswith(DATA_FILES) else PROTOCOL


def requirement_of(requirements: Sequence[str], difference: Difference) -> str:
    """The requirement that the difference breaks. A Case without a fitting one names its first."""
    if first_of(requirements).startswith(DATA_FILES):
        return _of_data_files(requirements, difference)
    if difference.level is Equality.TYPE and difference.kind is not DifferenceKind.ALTERED:
        own = requirements_of_values(difference.what) if not difference.what.startswith("JSON ") else ()
        return next((name for name in requirements if name in own), first_of(requirements) if own else TYPES)
    fitting = _fitting(difference)
    return next((name for name in requirements if name in fitting), first_of(requirements))


def _of_data_files(requirements: Sequence[str], difference: Difference) -> str:
    """The requirement of readers of data files: about whole rows, or about values."""
    whole = difference.kind.name.endswith("_CHANGE")
    fitting = ("DAT1", "DAT2", "DAT6", "DAT7") if whole else ("DAT1", "DAT3", "DAT4", "DAT5", "DAT6")
    return next((name for name in requirements if name in fitting), first_of(requirements))


def _fitting(difference: Difference) -> tuple[str, ...]:
    kind, what = difference.kind, difference.what
    if kind in (DifferenceKind.MISSING_DIFF, DifferenceKind.EXTRA_DIFF, DifferenceKind.MOVED_DIFF, DifferenceKind.DIFF):
        return _DIFFS
    if kind is DifferenceKind.FORM:
        return ("DEC4", "DEC5", "DEC2", "DEC3")
    if kind is DifferenceKind.NULL:
        return ("DEC5", *_IMAGE, *requirements_of_values(what))
    if kind in (
        DifferenceKind.MISSING_COLUMN,
        DifferenceKind.EXTRA_COLUMN,
        DifferenceKind.ABSENT_AS_NULL,
        DifferenceKind.MISSING_IMAGE,
        DifferenceKind.EXTRA_IMAGE,
    ):
        return _IMAGE
    if kind is DifferenceKind.HEADER:
        return ("DEC17", "DEC21", "DEC16", "DEC20")
    if kind is DifferenceKind.ALTERED:
        return (*requirements_of_values(what), "DEC2", "DEC3", "DEC4", "DEC14", "DEC15")
    return ("DEC1", *_STREAM) if difference.event == _PARTIAL else _STREAM


def requirements_of_values(what: str) -> tuple[str, ...]:
    """The requirements about values of a column or a JSON type, such as ``TIME column`` or ``JSON DECIMAL``."""
    if what.startswith("JSON "):
        kind = what.removeprefix("JSON ")
        return (
            ("DEC7", "DEC6", "DEC8")
            if kind in _CONTAINERS
            else ("DEC6", "DEC7")
            if kind in _SCALARS
            else ("DEC8", "DEC7")
        )
    name = _COLUMNS.get(what.partition(" ")[0])
    return () if name is None else (name,)
