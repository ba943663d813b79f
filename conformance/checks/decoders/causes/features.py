"""Features of a Case, taken from its expected changes and its log: those of each change, of each value and each diff.

A feature is a word, such as ``operation:delete`` or ``leaf:DECIMAL``; ``words`` has the phrase for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import DECODE, Allowed
from conformance.judge.decoding.log_columns import INTEGERS, tables_of
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.tables.charsets import COLLATIONS
from conformance.requirements.reading import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.decoder_case import DecoderCase
    from conformance.judge.decoding.log_columns import LogColumn, LogTable
    from conformance.reference.binlog.event import Event

Features = frozenset[str]
DAMAGE: Final = "damage"
PAYLOAD: Final = "payload"
NULL: Final = "NULL"
IMAGES: Final = ("before", "after")
_EVERYWHERE: Final = frozenset(  # events of ordinary logs, and the payload, of which the events inside say it
    (
        "FORMAT_DESCRIPTION_EVENT", "PREVIOUS_GTIDS_LOG_EVENT", "GTID_LOG_EVENT", "QUERY_EVENT", "TABLE_MAP_EVENT",
        "XID_EVENT", "ROTATE_EVENT", "STOP_EVENT", "TRANSACTION_PAYLOAD_EVENT",
    )
)  # fmt: skip
_LONG: Final = 255  # characters
_WIDTHS: Final = (64, 250)  # columns
_EXACT: Final = 15  # digits that every double keeps
_SAFE: Final = 1 << 53
_BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64}
_TEXTS: Final = frozenset(("CHAR", "VARCHAR", "TEXT"))
_PLAIN: Final = frozenset(("utf8mb4", "utf8mb3", "ascii", "binary"))
_TEMPORAL: Final = frozenset(("DATE", "TIME", "DATETIME", "TIMESTAMP"))


@dataclass(frozen=True, slots=True)
class CaseFeatures:
    """The features of each change by its number, of each value by image and column, of each diff by its number.

    ``end``: what stands behind the last change. ``places``: the number of each column in its table, from one on.
    """

    changes: tuple[Features, ...]
    end: Features
    values: dict[tuple[int, str, str], Features] = field(default_factory=dict)
    diffs: dict[tuple[int, str, str, int], Features] = field(default_factory=dict)
    places: dict[tuple[int, str, str], int] = field(default_factory=dict)

    @property
    def units(self) -> tuple[Features, ...]:
        """The changes and the end, in the order of the log."""
        return (*self.changes, self.end)


def features_of(case: DecoderCase) -> CaseFeatures:
    """Read the features of a Case."""
    tables = tables_of(case)
    runs, end = _runs_of(case) if case.role == DECODE else ([set() for _ in case.expected], set())
    found = CaseFeatures((), frozenset(end))
    changes = []
    for number, change in enumerate(case.expected):
        table = tables.of(change)
        own = {*runs[number], *_of_change(change, table)}
        inherited = {
            name for name in own if name.startswith(("event:", "partial-image", "no-names")) or name == PAYLOAD
        }
        for image in IMAGES:
            for name, value in (change.get(image) or {}).items():
                column = table.column(name) if table is not None else None
                features = frozenset((image, *inherited, *_of_value(column, value)))
                found.values[number, image, name] = features
                if table is not None and name in table.places:
                    found.places[number, image, name] = table.places[name] + 1
                own.update(one for one in features if one.startswith(("type:", "leaf:")) and value is not None)
                for place, diff in enumerate(_diffs(value)):
                    found.diffs[number, image, name, place] = frozenset((*inherited, *_of_diff(diff, place)))
        changes.append(frozenset(own))
    return CaseFeatures(tuple(changes), found.end, found.values, found.diffs, found.places)


# --- the log ---------------------------------------------------------------------------------------------------------


def _runs_of(case: DecoderCase) -> tuple[list[set[str]], set[str]]:
    """Features of the events since the change before, its own event included; and of those behind the last change."""
    runs: list[set[str]] = []
    run: set[str] = set()
    keys = [_key(change, case.sparse) for change in case.expected]
    for features, key in _events(case):
        run |= features
        first = True
        while len(runs) < len(keys) and keys[len(runs)] == key:
            runs.append(run if first else {*features, "later-row"} - {DAMAGE})
            first = False
        if not first:
            run = set()
    if case.allowed is Allowed.ERROR:  # also inside of a document, which the reading of events does not look at
        run.add(DAMAGE)
    while len(runs) < len(keys):  # a log that the reference reads otherwise: its features are not known
        runs.append(set())
    return runs, run


def _key(change: dict[str, Any], sparse: int) -> tuple[Any, Any]:
    return change["position"] - sparse, change["inner"]


def _events(case: DecoderCase) -> Iterator[tuple[set[str], tuple[Any, Any]]]:
    """The features of each event and its place, also behind damage that a reader can pass over; then the damage."""
    strict = list(_read(case.log, verify=True))
    damaged = strict[-1] is None
    events: Iterable[Event | None] = strict
    if damaged:
        behind = list(_read(case.log, verify=False))[len(strict) - 1 :]
        events = chain(strict, behind)
    had_map = False
    hurt = False
    for event in events:
        if event is None:
            hurt = True
            continue
        features = set(_of_event(event))
        if hurt:
            features.add(DAMAGE)
            hurt = False
        if isinstance(event.body, LazyRows):
            if not had_map:
                features.add("no-map-in-front")
            had_map = False
        had_map = had_map or event.name == "TABLE_MAP_EVENT"
        yield features, (event.position, event.inner)
    if hurt:
        yield {DAMAGE}, (None, None)


def _read(log: bytes, *, verify: bool) -> Iterator[Event | None]:
    """The events, and ``None`` at the end if that is damage."""
    reader = FileReader(expand=True, verify=verify, rules_for=rules_of)
    try:
        reader.feed(log)
        for event in reader.events():
            if isinstance(event.body, LazyRows) and verify:
                event.typed()  # so that damage inside of rows is found
            yield event
        reader.finish()
    except CodecError:
        yield None


def _of_event(event: Event) -> Iterator[str]:
    is_rows = isinstance(event.body, LazyRows)  # ANNOTATE_ROWS of MariaDB has none
    if event.name not in _EVERYWHERE:
        yield f"event:{event.name}" if is_rows else f"behind:{event.name}"
    if event.inner is not None and is_rows:
        yield PAYLOAD
    if event.inner is None and event.checksum is None:
        yield "no-checksum"
    if isinstance(event.body, Query):
        words = event.body.text[:40].decode("utf-8", "replace").upper().split()
        if words and words[0] not in ("BEGIN", "COMMIT"):
            yield f"statement:{' '.join(words[:2]) if words[0] == 'XA' else words[0]}"


# --- changes and values ----------------------------------------------------------------------------------------------


def _of_change(change: dict[str, Any], table: LogTable | None) -> Iterator[str]:
    yield f"operation:{change['operation']}"
    if table is None:
        return
    if any(change.get(image) is not None and len(change[image]) < len(table.columns) for image in IMAGES):
        yield "partial-image"
    if any(name.startswith("@") for image in IMAGES for name in change.get(image) or ()):
        yield "no-names"
    yield from (f"columns>{width}" for width in _WIDTHS if len(table.columns) > width)


def _of_value(column: LogColumn | None, value: Any) -> Iterator[str]:
    if value is None:
        yield NULL
    if isinstance(value, dict) and "json" in value:
        yield "json-null" if value["json"] is None else "document"
        yield from (f"leaf:{kind}" for kind in _leaves(value["json"]))
    elif isinstance(value, dict) and "diffs" in value:
        yield "diffs" if value["diffs"] else "unchanged"
        if len(value["diffs"]) > 1:
            yield "several-diffs"
        yield from (f"leaf:{kind}" for diff in value["diffs"] if "value" in diff for kind in _leaves(diff["value"]))
    if column is None:
        return
    yield f"type:{column.type}"
    if column.unsigned:
        yield "unsigned"
    if column.type in INTEGERS and isinstance(value, int):
        yield from ["negative-integer"] * (value < 0) + ["wide-integer"] * (abs(value) > _SAFE)
        if column.unsigned and value >> (_BITS[column.type] - 1):
            yield "upper-half"
    if column.type == "DECIMAL" and value is not None:
        yield from ["many-digits"] * (sum(map(str.isdigit, str(value).lstrip("-0."))) > _EXACT)
    if column.type in _TEMPORAL and isinstance(value, str):
        yield from _of_moment(value)
    if column.type in _TEXTS:
        yield from _of_text(column, value)
    if column.type in ("ENUM", "SET") and value:
        yield "no-members" if isinstance(value, dict) else "named-member"


def _of_moment(value: str) -> Iterator[str]:
    if "." in value:
        yield "fraction"
    if value.startswith("-"):
        yield "negative-time"
    if value.startswith("0000") or "-00" in value:
        yield "zero-date"


def _of_text(column: LogColumn, value: Any) -> Iterator[str]:
    yield "text"
    if isinstance(value, str):
        yield from ["long"] * (len(value) > _LONG) + ["not-ascii"] * (not value.isascii())
    if column.collation in COLLATIONS and (charset := COLLATIONS[column.collation].charset) not in _PLAIN:
        yield f"charset:{charset}"


def _diffs(value: Any) -> list[dict[str, Any]]:
    return value["diffs"] if isinstance(value, dict) and "diffs" in value else []


def _of_diff(diff: dict[str, Any], place: int) -> Iterator[str]:
    yield f"diff:{diff['operation']}"
    if place:
        yield "later-diff"
    if "value" in diff:
        yield from (f"leaf:{kind}" for kind in _leaves(diff["value"]))
    if '"' in diff["path"]:
        yield "quoted-path"


def _leaves(value: Any) -> set[str]:
    """The types of a document's parts."""
    found: set[str] = set()
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict) and "$type" in one:
            found.add(one["$type"] if isinstance(one["$type"], str) else "OBJECT")
        elif isinstance(one, dict):
            found.add("OBJECT")
            rest += one.values()
        elif isinstance(one, list):
            found.add("ARRAY")
            rest += one
        else:
            found.add(_SCALARS.get(type(one), "DOUBLE"))
    return found


_SCALARS: Final = {type(None): "NULL", bool: "BOOLEAN", int: "INTEGER", str: "STRING"}
