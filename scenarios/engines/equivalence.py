"""A replica's document that equals the source's, by ``=`` or as text, and must equal it after the update (FR4).

The source's document gets an update; the engine encodes and decodes the logged event and applies it to the replica's
document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.update_case import Step
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.compare import equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import date, datetime, decimal_from_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import UInt
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.expression import Assignment, Call, Column, Function, Increment, Literal
from conformance.reference.tables.columns import PartialJson
from scenarios.codes import Code, Wrong
from scenarios.engines import changes, update
from scenarios.engines.documents import SHAPES, Leaf, document
from scenarios.engines.due import outcome_of
from scenarios.expected import columns as expected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.jsonb.values import JsonValue, Opaque
    from generators.draw import Draw
    from scenarios.engines.documents import Made
    from scenarios.matrix import Setting

REVISION: Final = 2
RELATIONS: Final = ("identical", "padded", "re-ordered", "double", "unsigned", "decimal", "date", "datetime")
SETTINGS: Final[dict[str, range | tuple[str, ...]]] = {
    "relation": RELATIONS,
    "size": range(4, (1 << 20) + 1),
    "shape": SHAPES,
    "update": tuple(kind for kind in changes.UPDATES if kind not in ("beside", "null")),
    "pairs": range(1, 33),
    "image": ("FULL", "MINIMAL", "NOBLOB"),
    "key": update.KEYS,
    "aim": ("anywhere", "same", "other"),
}
"""``aim``: which value the update takes: any, or the re-typed one, to be set to what the replica has or to another."""
MEASURES: Final = (
    "verdict", "error", "document", "replica_document", "partial", "diff_size", "same_before", "same_after",
    "due_partial", "due_diff_size",  # what the source's statement must give (scenarios.expected)
)  # fmt: skip
BREAKS: Final[dict[Code, str]] = {}

_TEXTUAL: Final = ("date", "datetime")
_TAKES_ALL: Final = flipped(MYSQL, "refuse_unchanging_replace")
_DAYS: Final = ("2020-01-01", "2024-02-29", "1999-12-31")


def cost(settings: Mapping[str, Setting]) -> float:
    """The approximate microseconds that a scenario takes."""
    return 320 + 0.006 * int(settings.get("size", 300))


def measure(draw: Draw, settings: Mapping[str, Setting]) -> tuple[int, ...]:
    """Run one scenario; return the values of ``MEASURES``."""
    get = settings.get
    relation = str(get("relation", "padded"))
    frame = update.frame_of(1, str(get("key", "primary")), str(get("image", "MINIMAL")), "MINIMAL")
    source, replica, made, special = _pair(draw, relation, str(get("shape", "flat")), int(get("size", 300)))
    _require(relation, source, replica, "before the update")
    row: dict[str, object] = {"id": 1, "j0": source, "n": 1, "t": b"side"}
    assignments = _assignments(draw, settings, made, special)
    hole = made.leaves[0].path if relation == "padded" else None
    due = outcome_of(expected.before(made.value, hole), assignments[0].expression)
    logged_as_diffs = due.diffs is not None and (not due.diffs or due.same_bytes or due.partial)
    wanted = (int(logged_as_diffs), due.encoded if logged_as_diffs and not due.same_bytes else 0)
    step = Step((*assignments, Assignment("n", Increment("n", 1))), (0,))
    prediction = update.predicted(frame.on, row, step)
    after = prediction.rows[0].change.after["j0"]
    _, body, logged = update.round_trip(frame, prediction.events)
    assert logged.after is not None
    value = logged.after[frame.names_in(body.after_columns).index("j0")]
    same = int(source == replica)
    if not isinstance(value, PartialJson):
        if value != after:
            raise Wrong(Code.READ_BACK, "the document reads otherwise")
        return (int(Code.OK), 0, len(source), len(replica), 0, 0, same, 1, *wanted)
    verdict, number = Code.OK, 0
    try:
        result = apply_field(replica, value.diffs)
    except MysqlError as error:
        number = error.number
        result = _tolerant(replica, value.diffs, error)
        verdict = Code.EXPLAINED
    assert isinstance(after, bytes)
    assert result is not None
    _require(relation, after, result, "after the update")
    return (
        int(verdict), number, len(source), len(replica), 1, len(value.diffs), same, int(after == result), *wanted,
    )  # fmt: skip


def _tolerant(replica: bytes, diffs: bytes, refused: MysqlError) -> bytes | None:
    """The result of an applier that accepts a REPLACE by the value already there: the listed deviation alone."""
    try:
        return apply_field(replica, diffs, _TAKES_ALL)
    except MysqlError:
        raise Wrong(Code.NOT_APPLIED, f"the replica refuses the diffs: {refused}", refused.number) from refused


def _require(relation: str, source: bytes, replica: bytes, when: str) -> None:
    if relation in _TEXTUAL:
        holds = format_text(decode(source)) == format_text(decode(replica))
    else:
        holds = equal_stored(source, replica)
    if not holds:
        raise Wrong(Code.RELATION, f"the documents are not equal {when}")


# ------------------------------------------------------------------------------------------------------- the documents


def _pair(draw: Draw, relation: str, shape: str, size: int) -> tuple[bytes, bytes, Made, tuple[Leaf, JsonValue]]:
    """The source's document and the replica's; and a value that both contain, of another type."""
    made = document(draw, shape, size)
    mine, theirs = _values(draw, relation)
    value, other = _with(made.value, mine), _with(made.value, theirs)
    leaf = Leaf(f"$[{len(value) - 1}]" if isinstance(value, list) else "$.special", -1)
    source, replica = encode(value), encode(other)
    if relation == "padded":
        source = update.with_hole(source, made.leaves[0].path)
        replica = encode(decode(source))
    elif relation == "re-ordered":
        replica = encode(_reversed(value))
    return source, replica, made._replace(value=value), (leaf, theirs)


def _values(draw: Draw, relation: str) -> tuple[JsonValue, JsonValue]:
    number = draw.below(1 << 20)
    if relation in _TEXTUAL:
        day = draw.choice(_DAYS)
        year, month, dom = map(int, day.split("-"))
        opaque: Opaque = date(year, month, dom) if relation == "date" else datetime(year, month, dom, 1, 2, 3)
        return opaque, format_text(opaque)[1:-1]
    if relation == "double":
        return number, float(number)
    if relation == "unsigned":
        return number, UInt(number)
    if relation == "decimal":
        return number, decimal_from_text(f"{number}.0")
    values: tuple[JsonValue, ...] = (number, date(2020, 1, 1 + number % 28), decimal_from_text(f"{number}.5"))
    same = draw.choice(values)
    return same, same


def _with(value: JsonValue, special: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [*value, special]
    assert isinstance(value, dict)
    return {**value, "special": special}


def _reversed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _assignments(
    draw: Draw, settings: Mapping[str, Setting], made: Made, special: tuple[Leaf, JsonValue]
) -> list[Assignment]:
    aim = str(settings.get("aim", "anywhere"))
    if aim == "anywhere":
        return changes.assignments(
            draw, "j0", made, str(settings.get("update", "replace")), int(settings.get("pairs", 1))
        )
    leaf, theirs = special
    value = theirs if aim == "same" else _values(draw, str(settings.get("relation", "padded")))[0]
    other = made.leaves[0]
    pairs = ((leaf.path, Literal(value)), (other.path, Literal("another value")))
    return [Assignment("j0", Call(Function.JSON_SET, Column("j0"), pairs))]
