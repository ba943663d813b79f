"""Lists of row changes: each change once, in the order of the log, with its table, operation, images and columns.

What is forgiven: facts of the event that the subject does not give, and columns under their number for their name or
the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.alignment import GAP, align, leftovers
from conformance.judge.decoding.column_values import differences_of_values
from conformance.judge.decoding.difference import INVENTED, MISSING, Difference, DifferenceKind, Found, show
from conformance.judge.decoding.documents import INVENTED_MEMBER, MISSING_MEMBER
from conformance.judge.decoding.numbers import number_in, number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.judge.decoding.log_columns import LogTable, LogTables

    Rows = Sequence[dict[str, Any]]

_NUMBERS: Final = ("position", "timestamp", "server_id", "row", "inner")
_TEXTS: Final = ("event", "gtid")
_IMAGES: Final = ("before", "after")
_ABSENT: Final = object()
_NOTHING: Final = "nothing"
_OTHER_CHANGE: Final = 2 * GAP


class Compared(NamedTuple):
    """All differences of two lists of changes. ``last_partner``: number of the last expected change that arrived."""

    differences: tuple[Difference, ...]
    last_partner: int


class Changes:
    """The comparison of a Case's changes with those of a subject."""

    def __init__(self, expected: Rows, resolved: Rows, got: Sequence[Any], tables: LogTables, *, tagged: bool) -> None:
        self.expected = expected
        self.resolved = resolved if len(resolved) == len(expected) else expected
        self.got = got
        self.tables = tables
        self.tagged = tagged
        self._known: dict[tuple[int, int], list[Found]] = {}

    def compare(self) -> Compared:
        """Compare the two lists."""
        pairs = align(len(self.expected), len(self.got), self._cost)
        moved, repeated, further, missing = leftovers(pairs, self._cost, len(self.expected))
        out: list[Difference] = []
        last = -1
        for one, other in pairs:
            if one is not None and other is not None:
                last = one
                change = self.expected[one]
                out += [_difference(item, change, one) for item in self._found(one, other)]
            elif one in missing:
                change = self.expected[one]
                out.append(_difference(Found(DifferenceKind.MISSING_CHANGE, "", _summary(change), None), change, one))
            elif other in moved:
                number = moved[other]
                last = max(last, number)
                change = self.expected[number]
                out.append(_difference(Found(DifferenceKind.MOVED_CHANGE, "", _summary(change), None), change, number))
            elif other in repeated or other in further:
                kind = DifferenceKind.REPEATED_CHANGE if other in repeated else DifferenceKind.EXTRA_CHANGE
                answer = self.got[other]
                found = Found(kind, "", None, _summary(answer))
                out.append(_difference(found, answer if isinstance(answer, dict) else {}, other))
        return Compared(tuple(out), last)

    def _found(self, one: int, other: int) -> list[Found]:
        key = (one, other)
        if key not in self._known:
            expected, got = self.expected[one], self.got[other]
            table = self.tables.of(expected)
            self._known[key] = list(_of_change(expected, got, self.resolved[one], table, tagged=self.tagged))
        return self._known[key]

    def _cost(self, one: int, other: int) -> float:
        found = self._found(one, other)
        if not found:
            return 0.0
        columns: set[str] = set()
        facts = 0
        for item in found:
            if item.kind is DifferenceKind.MALFORMED:
                return _OTHER_CHANGE
            if item.kind in (DifferenceKind.TABLE, DifferenceKind.OPERATION):
                facts += 5
            elif item.kind is DifferenceKind.HEADER:
                facts += 1
            elif item.level is not Equality.TYPE:
                columns.add(".".join(item.place.split(".")[:2]))
        images = [self.expected[one].get(image) or () for image in _IMAGES]
        share = len(columns) / max(1, sum(map(len, images)))
        return min(1.9, (0.2 if columns else 0.0) + min(share, 1.0) + facts * 0.15)


def in_order(expected: Rows, got: Sequence[Any]) -> list[Any]:
    """Changes that stand for rows of a file, in the order of the expected ones: rows have none of their own.

    A row is known by its table and the first column of that, which is the key.
    """
    keys: dict[tuple[str, str], str] = {}
    places: dict[tuple[str, str, str], int] = {}
    for place, change in enumerate(expected):
        keys.setdefault((change["schema"], change["table"]), next(iter(change["after"])))
        places.setdefault(_identity(change, keys), place)
    return sorted(got, key=lambda change: places.get(_identity(change, keys), len(expected)))


def _identity(change: dict[str, Any], keys: dict[tuple[str, str], str]) -> tuple[str, str, str]:
    schema, table = change["schema"], change["table"]
    return schema, table, str(change["after"].get(keys.get((schema, table))))


def _summary(change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    return {key: change[key] for key in ("schema", "table", "operation", *_IMAGES) if key in change}


def _difference(found: Found, change: dict[str, Any], number: int) -> Difference:
    position = change.get("position")
    place = f"changes[{number}]" + (f".{found.place}" if found.place else "")
    operation = str(change.get("operation") or "").upper()
    return Difference(
        kind=found.kind,
        place=place,
        expected=_NOTHING if found.kind in INVENTED or found.cause == INVENTED_MEMBER else show(found.expected),
        got=_NOTHING if found.kind in MISSING or found.cause == MISSING_MEMBER else show(found.got),
        position=position if isinstance(position, int) else None,
        level=Equality.STRUCTURE if found.kind.name.endswith("_CHANGE") else found.level,
        what=found.what or operation,
        cause=found.cause,
        event=str(change.get("event") or ""),
        change=number,
        inner=change.get("inner") is not None,
    )


def _of_change(
    expected: dict[str, Any], got: Any, resolved: dict[str, Any], table: LogTable | None, *, tagged: bool
) -> Iterator[Found]:
    def wrong(kind: DifferenceKind, place: str, cause: str = "") -> Found:
        return Found(kind, place, expected.get(place), got.get(place), Equality.STRUCTURE, cause=cause)

    if not isinstance(got, dict) or any(not isinstance(got.get(key), str) for key in ("schema", "table", "operation")):
        yield Found(DifferenceKind.MALFORMED, "", _summary(expected), got, Equality.STRUCTURE)
        return
    for key in ("schema", "table"):
        if got[key] != expected[key]:
            yield wrong(DifferenceKind.TABLE, key)
    if got["operation"] != expected["operation"]:
        yield wrong(DifferenceKind.OPERATION, "operation", f"{got['operation']} for {expected['operation']}"[:40])
        return  # other images are a matter of course
    for key in _NUMBERS:
        if got.get(key) is not None and key in expected and not _same_number(expected[key], got[key]):
            yield wrong(DifferenceKind.HEADER, key)
    for key in _TEXTS:
        value = got.get(key)
        if value is not None and key in expected and str(value).lower() != str(expected[key]).lower():
            yield wrong(DifferenceKind.HEADER, key)
    for image in _IMAGES:
        yield from _of_image(
            image, expected.get(image), got.get(image), resolved.get(image) or {}, table, tagged=tagged
        )


def _same_number(expected: Any, got: Any) -> bool:
    number = number_in(got) if isinstance(got, str) else number_of(got)
    return number is not None and number == expected


def _of_image(
    place: str, expected: Any, got: Any, resolved: dict[str, Any], table: LogTable | None, *, tagged: bool
) -> Iterator[Found]:
    def found(kind: DifferenceKind, column: str, one: Any, other: Any) -> Found:
        known = None if table is None else table.column(column)
        what = known.what if known is not None else ""
        return Found(kind, f"{place}.{column}", one, other, Equality.STRUCTURE, what)

    if expected is None and got is None:
        return
    if expected is None:
        yield Found(DifferenceKind.EXTRA_IMAGE, place, None, got, Equality.STRUCTURE, cause=f"{place} image")
        return
    if got is None:
        yield Found(DifferenceKind.MISSING_IMAGE, place, expected, None, Equality.STRUCTURE, cause=f"{place} image")
        return
    if not isinstance(got, dict):
        yield Found(DifferenceKind.MALFORMED, place, expected, got, Equality.STRUCTURE)
        return
    given = _under_their_names(expected, got, table)
    for column, value in expected.items():
        other = given.pop(column, _ABSENT)
        if other is _ABSENT:
            yield found(DifferenceKind.MISSING_COLUMN, column, value, None)
            continue
        known = None if table is None else table.column(column)
        yield from differences_of_values(known, value, other, resolved.get(column), f"{place}.{column}", tagged=tagged)
    for column, value in given.items():
        yield found(
            DifferenceKind.ABSENT_AS_NULL if value is None else DifferenceKind.EXTRA_COLUMN, column, None, value
        )


def _under_their_names(expected: dict[str, Any], got: dict[str, Any], table: LogTable | None) -> dict[str, Any]:
    """The subject's image with the names that the expected image uses."""
    if got.keys() == expected.keys():
        return dict(got)
    if table is None:
        return dict(got)
    if not table.named and len(got) == len(expected) and not any(name.startswith("@") for name in got):
        return dict(zip(expected, got.values(), strict=True))  # a reader of the server's schema; nobody here knows it
    names = {table.places[name]: name for name in expected if name in table.places}
    out: dict[str, Any] = {}
    for name, value in got.items():
        wanted = name if name in expected else names.get(table.places.get(name, -1), name)
        out[wanted if wanted not in out else name] = value
    return out
