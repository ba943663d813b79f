"""Updates: vectors captured from a server, and a case for every row of the evaluation and decision tables."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import Unsupported
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import LARGE_ARRAY
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Constant,
    Expression,
    Function,
    Increment,
    Literal,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.sql.expressions import parse_expression
from tests.reference.jsonb.jsonb_vectors import nested
from tests.reference.kit import number, outcome
from tests.reference.partial.path_vectors import shown

if TYPE_CHECKING:
    from tests.reference.kit import Kit

VECTORS: Final = Path(__file__).parents[2] / "data" / "vectors"
J: Final = Column("j")


def load(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((VECTORS / name).read_text())["vectors"]
    return loaded


def call(function: str, *arguments: Any, document: Expression = J) -> Call:
    """``function(j, path, value, ...)`` with plain values."""
    step = 1 if function == "JSON_REMOVE" else 2
    pairs: list[tuple[str | None, Expression | None]] = []
    for index in range(0, len(arguments), step):
        value = arguments[index + 1] if step == 2 else None
        known = isinstance(value, Column | Literal | SqlNull | Call) or step == 1
        pairs.append((arguments[index], value if known else Literal(value)))
    return Call(Function(function), document, tuple(pairs))


# Vectors outside the grammar of ``predict``, as trees; n and id are integer columns, k is another JSON column.
BY_HAND: Final[dict[str, tuple[Assignment, ...]]] = {
    "column-assigned-twice": (
        Assignment("j", call("JSON_SET", "$.b", 6, document=call("JSON_SET", "$.a", 5))),
        Assignment("j", call("JSON_SET", "$.a", 7)),
    ),
    "json-insert-not-eligible": (Assignment("j", call("JSON_INSERT", "$.q", 1)),),
    "array-append-not-eligible": (Assignment("j", call("JSON_ARRAY_APPEND", "$.c", 4)),),
    "plain-assignment": (Assignment("j", Literal({})),),
    "plain-same-value-other-col": (Assignment("j", J), Assignment("n", Constant(7))),
    "two-columns-one-partial-one-full": (
        Assignment("j", call("JSON_SET", "$.a", 5)),
        Assignment("k", call("JSON_SET", "$.a", 8, document=Column("k"))),
    ),
    "value-with-holes-copied-in-place": (Assignment("j", call("JSON_SET", "$.p", Column("k"))),),
    "two-rows": (Assignment("j", call("JSON_SET", "$.a", Column("id"))),),
}


@cache
def assignments(name: str, sql: str) -> tuple[Assignment, ...]:
    """The SET clause of a vector."""
    if name in BY_HAND:
        return BY_HAND[name]
    text = sql.removeprefix("UPDATE t SET ")
    first: tuple[Assignment, ...] = ()
    if text.startswith("n=n+1, "):
        first = (Assignment("n", Increment("n", 1)),)
        text = text.removeprefix("n=n+1, ")
    return (*first, Assignment("j", parse_expression(text.removeprefix("j="))))


def _row(vector: dict[str, Any], kit: Kit) -> dict[str, object]:
    row: dict[str, object] = {"id": vector.get("row_id", 1), "n": 0}
    for cell in vector.get("cells", [vector]):
        stored = cell.get("before_jsonb_hex")
        name = cell.get("column", "j")
        row[name] = bytes.fromhex(stored) if stored else kit.encode.encode(parse_text(cell["before_text"]))
    if vector["name"] == "value-with-holes-copied-in-place":
        whole = kit.encode.encode({"x": ["aaaaaaaa", 2], "y": 2})
        earlier = Assignment("k", call("JSON_REMOVE", "$.x[0]", "$.y", document=Column("k")))
        row["k"] = update(kit, {"id": 1, "n": 0, "k": whole}, (earlier,)).after["k"]
        assert isinstance(row["k"], bytes)
        assert kit.layout.storage_free(row["k"]) > 0
    return row


def update(kit: Kit, row: dict[str, object], clause: tuple[Assignment, ...]) -> Any:
    names = tuple(name for name in row if name not in ("id", "n"))
    return kit.update.update_row(row, clause, kit.update.Columns(names), log_diffs=True)


def check_captured(kit: Kit, vector: dict[str, Any]) -> None:
    """Field bytes, diffs, sizes, free space, text and stored bytes, for every cell of a captured update."""
    row = _row(vector, kit)
    change = update(kit, row, assignments(vector["name"], vector["update_sql"]))
    assert change.logged is (vector["affected_rows"] > 0)
    if not change.logged:
        assert change.after == row
        return
    for cell in vector.get("cells", [vector]):
        name = cell["column"]
        stored = change.after[name]
        decision = kit.decision.decide(row[name], stored, change.columns.get(name), partial_json=True)
        assert (None if decision.field is None else decision.field.hex()) == cell["after_image_field_hex"]
        assert decision.partial is cell["is_partial"]
        assert (None if stored is None else stored.hex()) == cell.get("after_jsonb_hex")
        if stored is None:
            continue
        assert (len(stored), kit.layout.storage_free(stored)) == (cell["storage_size"], cell["storage_free"])
        assert format_text(kit.decode.decode(stored)) == cell["after_text"]
        if cell["is_partial"]:
            found = kit.diffs.decode_diffs(decision.data)
            assert [(diff.operation.name, str(diff.path)) for diff in found] == [
                (diff["op"], diff["path"]) for diff in cell["diffs"]
            ]
            assert [kit.encode.encode(diff.value).hex() for diff in found if diff.operation != 2] == [
                diff["value_hex"] for diff in cell["diffs"] if diff["op"] != "REMOVE"
            ]
            # A replica that starts from the same bytes ends with the same document.
            applied = kit.apply.apply_field(row[name], decision.data)
            assert format_text(kit.decode.decode(applied)) == cell["after_text"]


def _expand(text: str) -> str:
    """``x{n}`` in documents, ``xx{n}`` in hex."""
    return re.sub(r"(.)\{(\d+)\}", lambda match: match[1] * int(match[2]), text)


def check_ranges(kit: Kit, vector: dict[str, Any]) -> None:
    """Bytes, free space and byte ranges of an update in place."""
    row: dict[str, object] = {"j": kit.encode.encode(parse_text(_expand(vector["document"])))}
    for earlier in vector["earlier_updates"]:
        row["j"] = update(kit, row, (Assignment("j", parse_expression(earlier)),)).after["j"]
    before = row["j"]
    assert isinstance(before, bytes)
    if "{" not in vector["before_jsonb_hex"]:
        assert before.hex() == vector["before_jsonb_hex"]
    change = update(kit, row, (Assignment("j", parse_expression(vector["call"])),))
    column = change.columns["j"]
    expected = re.sub(r"(..)\{(\d+)\}", lambda match: match[1] * int(match[2]), vector["after_jsonb_hex"])
    assert change.after["j"].hex() == expected
    assert kit.layout.storage_free(change.after["j"]) == vector["storage_free_after"]
    assert column.in_place is vector["in_place"]
    if vector["ranges"] is None:
        assert column.ranges is None
        return
    # A range of no bytes changes nothing; this model drops it (partial-update 3.4).
    assert [list(item) for item in column.ranges] == vector["ranges"]
    for position, (old, new) in enumerate(zip(before, change.after["j"], strict=True)):
        assert old == new or any(start <= position < start + length for start, length in column.ranges)
    stored = kit.layout.decode_stored(change.after["j"])
    assert kit.layout.encode_stored(stored) == change.after["j"]


class Row(NamedTuple):
    """``diffs``: as text; ``None`` when none are collected. ``rules``: what the model says it did."""

    rules: tuple[str, ...]
    document: str
    sql: str
    diffs: list[str] | None
    after: str
    in_place: bool
    dialect: str = ""


GONE: Final = "GONE"
D: Final = '{"a": 1, "b": "str", "c": [1, 2, 3], "d": {"x": 1}}'


def _d(**changes: Any) -> str:
    value = parse_text(D)
    assert isinstance(value, dict)
    value.update(changes)
    return format_text({key: item for key, item in value.items() if item != GONE})


EVALUATION: Final = [
    # 2.1 while in place
    Row(("in-place/root", "tree/replace-root"), D, "JSON_SET(j, '$', 5)", None, "5", False),
    Row(("in-place/root", "tree/replace-root"), D, "JSON_REPLACE(j, '$', 5)", None, "5", False),
    Row(("strip/dropped", "in-place/root", "tree/replace-root"), D, "JSON_SET(j, '$[0]', 5)", None, "5", False),
    Row(("in-place/parent-missing",), D, "JSON_SET(j, '$.q.r', 5)", [], D, True),
    Row(("in-place/parent-missing",), D, "JSON_SET(j, '$.c[3].x', 5)", [], D, True),
    Row(("in-place/object-cell-replace",), D, "JSON_REPLACE(j, '$[1]', 5)", [], D, True),
    Row(("in-place/object-cell-replace",), D, "JSON_REPLACE(j, '$.d[last-1]', 5)", [], D, True),
    Row(
        ("in-place/object-cell-set", "tree/auto-wrap"), D, "JSON_SET(j, '$.d[1]', 5)",
        ['REPLACE $.d [{"x": 1}, 5]'], _d(d=[{"x": 1}, 5]), False,
    ),
    Row(("in-place/array-member",), D, "JSON_SET(j, '$.c.x', 5)", [], D, True),
    Row(("in-place/array-member",), D, "JSON_REPLACE(j, '$.c.x', 5)", [], D, True),
    Row(("in-place/scalar-parent",), D, "JSON_REPLACE(j, '$.a[1]', 5)", [], D, True),
    Row(("in-place/scalar-parent",), D, "JSON_SET(j, '$.a.x', 5)", [], D, True),
    Row(
        ("in-place/scalar-parent-set-cell", "tree/auto-wrap"), D, "JSON_SET(j, '$.a[1]', 5)",
        ["REPLACE $.a [1, 5]"], _d(a=[1, 5]), False,
    ),
    Row(
        ("in-place/scalar-parent-set-cell", "tree/auto-wrap-front"), D, "JSON_SET(j, '$.a[last-1]', 5)",
        ["REPLACE $.a [5, 1]"], _d(a=[5, 1]), False,
    ),
    Row(("in-place/absent-replace",), D, "JSON_REPLACE(j, '$.q', 5)", [], D, True),
    Row(("in-place/absent-replace",), D, "JSON_REPLACE(j, '$.c[3]', 5)", [], D, True),
    Row(("in-place/absent-set", "tree/object-insert"), D, "JSON_SET(j, '$.q', 5)", ["INSERT $.q 5"], _d(q=5), False),
    Row(
        ("in-place/absent-set", "tree/array-insert"), D, "JSON_SET(j, '$.c[7]', 9)",
        ["INSERT $.c[7] 9"], _d(c=[1, 2, 3, 9]), False,
    ),
    Row(
        ("in-place/absent-set", "tree/array-insert-front"), D, "JSON_SET(j, '$.c[last-7]', 9)",
        ["INSERT $.c[last-7] 9"], _d(c=[9, 1, 2, 3]), False,
    ),
    Row(("in-place/fits-changed",), D, "JSON_SET(j, '$.a', 5)", ["REPLACE $.a 5"], _d(a=5), True),
    Row(("in-place/fits-changed",), D, "JSON_REPLACE(j, '$.b', 'x')", ['REPLACE $.b "x"'], _d(b="x"), True),
    Row(("in-place/fits-changed",), D, "JSON_SET(j, '$.c[last]', 9)", ["REPLACE $.c[last] 9"], _d(c=[1, 2, 9]), True),
    Row(("in-place/fits-same",), D, "JSON_SET(j, '$.a', 1)", [], D, True),
    Row(("in-place/fits-same",), D, "JSON_SET(j, '$.c', CAST('[1, 2, 3]' AS JSON))", [], D, True),
    Row(
        ("in-place/no-room", "tree/replace"), D, "JSON_SET(j, '$.b', 'long')",
        ['REPLACE $.b "long"'], _d(b="long"), False,
    ),
    Row(
        ("strip/dropped", "in-place/fits-changed"), D, "JSON_SET(j, '$[0].a[0][last]', 5)",
        ["REPLACE $.a 5"], _d(a=5), True,
    ),
    Row(
        ("strip/dropped", "in-place/fits-changed"), D, "JSON_SET(j, '$.c[1][0]', 5)",
        ["REPLACE $.c[1] 5"], _d(c=[1, 5, 3]), True,
    ),
    # 2.1 on the tree
    Row(
        ("in-place/absent-set", "tree/object-insert", "tree/replace"), D, "JSON_SET(j, '$.q', 5, '$.a', 1)",
        ["INSERT $.q 5", "REPLACE $.a 1"], _d(q=5), False,
    ),
    Row(
        ("in-place/fits-changed", "in-place/root", "tree/replace-root"), D, "JSON_SET(j, '$.a', 2, '$', 1)",
        None, "1", False,
    ),
    Row(
        ("in-place/absent-set", "tree/absent-replace"), D, "JSON_REPLACE(JSON_SET(j, '$.q', 5), '$.r', 1)",
        ["INSERT $.q 5"], _d(q=5), False,
    ),
    Row(("tree/parent-missing",), D, "JSON_SET(j, '$.q', 5, '$.r.s', 1)", ["INSERT $.q 5"], _d(q=5), False),
    Row(("tree/nothing",), D, "JSON_SET(j, '$.q', 5, '$.c.x', 1)", ["INSERT $.q 5"], _d(q=5), False),
    Row(("tree/nothing",), D, "JSON_SET(j, '$.q', 5, '$.a.x', 1)", ["INSERT $.q 5"], _d(q=5), False),
    Row(
        ("tree/auto-wrap",), D, "JSON_SET(j, '$.c[last][1]', 5)",
        ["REPLACE $.c[2] [3, 5]"], _d(c=[1, 2, [3, 5]]), False,
    ),
    Row(("tree/auto-wrap-root",), '{"a": 1}', "JSON_SET(j, '$[1]', 5)", None, '[{"a": 1}, 5]', False),
    Row(("tree/auto-wrap-root",), '{"a": 1}', "JSON_SET(j, '$[last-1]', 5)", None, '[5, {"a": 1}]', False),
    Row(("tree/auto-wrap-root",), "7", "JSON_SET(j, '$[3]', 5)", None, "[7, 5]", False),
    Row(
        ("in-place/root", "tree/replace-root", "tree/object-insert"), '{"a": 1}',
        "JSON_SET(j, '$', CAST('{}' AS JSON), '$.q', 1)", None, '{"q": 1}', False,
    ),
    Row(
        ("tree/array-insert",), "[1]", "JSON_SET(j, '$[1]', 2, '$[2]', 3)",
        ["INSERT $[1] 2", "INSERT $[2] 3"], "[1, 2, 3]", False,
    ),
    # 2.2
    Row(("remove/root",), D, "JSON_REMOVE(j, '$[0]')", [], D, True),
    Row(("remove/missing",), D, "JSON_REMOVE(j, '$.q')", [], D, True),
    Row(("remove/missing",), D, "JSON_REMOVE(j, '$.c[3]')", [], D, True),
    Row(("remove/missing",), D, "JSON_REMOVE(j, '$.c.x')", [], D, True),
    Row(("remove/missing",), D, "JSON_REMOVE(j, '$.q.r')", [], D, True),
    Row(("remove/in-place",), D, "JSON_REMOVE(j, '$.c[last-1]')", ["REMOVE $.c[last-1]"], _d(c=[1, 3]), True),
    Row(("strip/dropped", "remove/in-place"), D, "JSON_REMOVE(j, '$.b[0]')", ["REMOVE $.b"], _d(b=GONE), True),
    Row(
        ("tree/object-insert", "remove/tree"), D, "JSON_REMOVE(JSON_SET(j, '$.q', 5), '$.a')",
        ["INSERT $.q 5", "REMOVE $.a"], _d(q=5, a=GONE), False,
    ),
    Row(
        ("remove/in-place", "in-place/absent-set", "tree/object-insert"), D,
        "JSON_SET(JSON_REMOVE(j, '$.a'), '$.a', 1)",
        ["REMOVE $.a", "INSERT $.a 1"], D, False,
    ),
    Row(("in-place/fits-changed",), D, "JSON_SET(j, '$.a', 2, '$.a', 1)", ["REPLACE $.a 2", "REPLACE $.a 1"], D, True),
]  # fmt: skip


def check_evaluation(kit: Kit, row: Row) -> None:
    """One row of tables 2.1 and 2.2: rules taken, diffs, result, and whether the bytes were changed in place."""
    before = kit.encode.encode(parse_text(row.document))
    change = update(kit, {"j": before}, (Assignment("j", parse_expression(row.sql)),)).columns["j"]
    assert set(row.rules) <= set(change.rules), change.rules
    assert (None if change.diffs is None else shown(change.diffs)) == row.diffs
    assert format_text(kit.decode.decode(change.after)) == row.after
    assert change.in_place is row.in_place
    if row.in_place:
        assert len(change.after) == len(before)
    else:
        assert kit.layout.storage_free(change.after) == 0
    if change.diffs is not None:
        assert kit.diffs.encode_diffs(change.diffs) == change.encoded


# (SET clause as (column, expression), eligible columns)
ELIGIBLE: Final[list[tuple[str, tuple[tuple[str, Expression], ...], set[str]]]] = [
    ("JSON_SET", (("j", call("JSON_SET", "$.a", 1)),), {"j"}),
    ("JSON_REPLACE", (("j", call("JSON_REPLACE", "$.a", 1)),), {"j"}),
    ("JSON_REMOVE", (("j", call("JSON_REMOVE", "$.a")),), {"j"}),
    ("nested", (("j", call("JSON_SET", "$.a", 1, document=call("JSON_REMOVE", "$.b"))),), {"j"}),
    ("JSON_INSERT outside", (("j", call("JSON_INSERT", "$.a", 1)),), set()),
    ("JSON_INSERT inside", (("j", call("JSON_SET", "$.a", 1, document=call("JSON_INSERT", "$.b", 1))),), set()),
    ("JSON_ARRAY_APPEND", (("j", call("JSON_ARRAY_APPEND", "$", 1)),), set()),
    ("JSON_ARRAY_INSERT", (("j", call("JSON_ARRAY_INSERT", "$[0]", 1)),), set()),
    ("another column", (("j", call("JSON_SET", "$.a", 1, document=Column("k"))),), set()),
    ("plain", (("j", J),), set()),
    ("literal", (("j", Literal(1)),), set()),
    ("a literal inside", (("j", call("JSON_SET", "$.a", 1, document=Literal({}))),), set()),
    ("NULL", (("j", SqlNull()),), set()),
    ("wrapped outside", (("j", Wrapped(Wrapper.COALESCE, call("JSON_SET", "$.a", 1))),), set()),
    ("wrapped inside", (("j", call("JSON_SET", "$.a", 1, document=Wrapped(Wrapper.CAST, J))),), set()),
    ("twice, both good", (("j", call("JSON_SET", "$.a", 1)), ("j", call("JSON_REMOVE", "$.a"))), {"j"}),
    ("twice, the first bad", (("j", Literal([])), ("j", call("JSON_SET", "$[0]", 1))), set()),
    ("twice, the second bad", (("j", call("JSON_SET", "$[0]", 1)), ("j", Literal([]))), set()),
    (
        "two columns, each by itself",
        (("j", call("JSON_SET", "$.a", 1)), ("k", call("JSON_INSERT", "$.a", 1, document=Column("k")))),
        {"j"},
    ),
    ("any value", (("j", call("JSON_SET", "$.a", Column("k"), "$.b", J)),), {"j"}),
]


def check_eligible(kit: Kit, clause: tuple[tuple[str, Expression], ...], expected: set[str]) -> None:
    made = [Assignment(name, expression) for name, expression in clause]
    assert kit.update.eligible_columns(made, ("j", "k")) == expected


# (SQL, number): statements that the server refuses
REFUSED: Final = [
    ("JSON_SET(j, '$[*]', 1)", 3149),
    ("JSON_REPLACE(j, '$.*', 1)", 3149),
    ("JSON_REMOVE(j, '$**.a')", 3149),
    ("JSON_SET(j, '$[0 to 1]', 1)", 3149),
    ("JSON_SET(j, '$.', 1)", 3143),
    ("JSON_REMOVE(j, 'a')", 3143),
    ("JSON_REMOVE(j, '$')", 3153),
    ("JSON_REMOVE(j, ' $ ')", 3153),
    ("JSON_REMOVE(j, '$', '$.')", 3143),
    ("JSON_REMOVE(j, '$[0]', '$')", 3153),
]


def check_refused(kit: Kit, sql: str, expected: int) -> None:
    row: dict[str, object] = {"j": kit.encode.encode([1])}
    assert number(outcome(update, kit, row, (Assignment("j", parse_expression(sql)),))[1]) == expected


def check_update_depth(kit: Kit) -> None:
    """A tree deeper than 100 is refused (3157); in place nobody looks (partial-update 8.3)."""
    path = "$" + "[0]" * 60
    for length, refused in ((1000, False), (1, True)):
        row: dict[str, object] = {"j": kit.encode.encode(nested(60, "x" * length))}
        clause = (Assignment("j", call("JSON_SET", path, nested(60))),)
        if refused:
            assert number(outcome(update, kit, row, clause)[1]) == 3157
        else:
            change = update(kit, row, clause).columns["j"]
            assert change.in_place
            assert kit.layout.storage_free(change.after) > 0


def check_find_room(kit: Kit) -> None:
    """Where a value may go (partial-update 3.1): its own place, up to the next neighbour, back to the one before."""
    document = bytearray(kit.encode.encode(["aaaa", "bbbb", 1, "cccc"]))
    view = kit.view.open_document(document)
    assert [view.place(index) for index in range(4)] == [(17, 22), (22, 27), None, (27, 32)]
    room = kit.in_place.find_room
    assert [room(view, 0, need) for need in (1, 5, 6)] == [17, 17, None]
    assert [room(view, 2, need) for need in (0, 1)] == [27, None]
    assert [room(view, 3, need) for need in (5, 6)] == [27, None]
    # Shorten the middle one: its hole belongs to it and to the cell after it.
    assert kit.in_place.replace_in_place(view, 1, 0x0C, b"\x01b", []) is True
    assert view.place(1) == (22, 24)
    assert [room(view, 2, need) for need in (3, 4)] == [24, None]
    assert [room(view, 3, need) for need in (5, 8, 9)] == [27, 24, None]
    assert room(view, 0, 6) is None
    # Inline it: the whole gap is free for both neighbours.
    assert kit.in_place.replace_in_place(view, 1, 0x05, b"\x01\x00", []) is True
    assert [room(view, 0, need) for need in (10, 11)] == [17, None]
    assert [room(view, 1, need) for need in (5, 6)] == [22, None]
    assert [room(view, 3, need) for need in (10, 11)] == [22, None]
    # With holes on both sides a value stays where it is as long as the hole behind it is enough.
    document = bytearray(kit.encode.encode(["aaaa", "bbbb", "cccc"]))
    view = kit.view.open_document(document)
    for index in (0, 1):
        assert kit.in_place.replace_in_place(view, index, 0x0C, b"\x01x", []) is True
    assert [view.place(index) for index in range(3)] == [(14, 16), (19, 21), (24, 29)]
    assert [room(view, 1, need) for need in (2, 5, 6, 8, 9)] == [19, 19, 16, 16, None]


def check_large_entries(kit: Kit) -> None:
    """int32 and uint32 are inlined in a large parent only (partial-update 3.1)."""
    for kind, data, small in (
        (0x07, b"\xa0\x86\x01\x00", None),
        (0x08, b"\x00\x00\x01\x00", None),
        (0x05, b"\x01\x00", True),
    ):
        for large in (False, True):
            document = bytearray(kit.encode.encode(["", "x" * 70_000] if large else ["", "x"]))
            view = kit.view.open_document(document)
            assert (document[0] == LARGE_ARRAY) is large
            ranges: list[tuple[int, int]] = []
            assert kit.in_place.replace_in_place(view, 0, kind, data, ranges) is (True if large else small)
            if large:
                assert ranges == [(9, 5)]
                assert document[9:14] == kind.to_bytes(1, "little") + data.ljust(4, b"\0")


def outside(name: str, sql: str) -> bool:
    """Whether a vector's text is outside the grammar, so that its tree must be given by hand."""
    try:
        parse_expression(sql.removeprefix("UPDATE t SET ").removeprefix("n=n+1, ").removeprefix("j="))
    except Unsupported:
        return True
    return False


# (rule, before, after, bytes of all diffs or None, option, (partial, which bytes, reason)): partial-update 5
DECISIONS: Final[list[tuple[str, bytes | None, bytes | None, bytes | None, bool, tuple[bool, str, str]]]] = [
    ("1: NULL", b"\x04\x00", None, None, True, (False, "null", "null")),
    ("1: NULL with the option off", b"\x04\x00", None, None, False, (False, "null", "null")),
    ("2: option off", b"\x04\x00", b"\x04\x00", b"", False, (False, "after", "option-off")),
    ("3: no diffs, other bytes", b"\x04\x00", b"\x04\x01", None, True, (False, "after", "no-diffs")),
    ("3: no diffs, same bytes", b"\x04\x00", b"\x04\x00", None, True, (True, "empty", "no-diffs-same-bytes")),
    ("3: no diffs, NULL before", None, b"\x04\x00", None, True, (False, "after", "no-diffs")),
    ("3: a value of no bytes that stays", b"", b"", None, True, (True, "empty", "no-diffs-same-bytes")),
    ("4: diffs were collected, none is there", b"\x04\x00", b"\x04\x00", b"", True, (True, "empty", "empty-diffs")),
    ("5: diffs that lead back", b"x" * 90, b"x" * 90, b"d" * 20, True, (True, "empty", "same-bytes")),
    ("5 comes before 6", b"x" * 9, b"x" * 9, b"d" * 20, True, (True, "empty", "same-bytes")),
    ("6: E = L - 1", b"y" * 25, b"x" * 25, b"d" * 20, True, (True, "diffs", "smaller")),
    ("6: E = L", b"y" * 24, b"x" * 24, b"d" * 20, True, (False, "after", "not-smaller")),
    ("6: E = L + 1", b"y" * 23, b"x" * 23, b"d" * 20, True, (False, "after", "not-smaller")),
]  # fmt: skip


def check_decision(
    kit: Kit,
    before: bytes | None,
    after: bytes | None,
    encoded: bytes | None,
    option: bool,
    wanted: tuple[bool, str, str],
) -> None:
    """Partial or full (partial-update 5); ``encoded`` None: no diffs were collected; the diffs themselves are not
    looked at."""
    diff = kit.diffs.Diff(kit.diffs.Operation.REMOVE, kit.paths.parse_path("$.a"))
    change = kit.update.ColumnChange(
        before=before,
        after=after,
        diffs=None if encoded is None else (diff,) * bool(encoded),
        encoded=encoded or b"",
        in_place=True,
        ranges=(),
        rules=(),
    )
    partial, data, reason = wanted
    made = [kit.decision.decide(before, after, change, partial_json=option)]
    if encoded is None:
        made.append(kit.decision.decide(before, after, None, partial_json=option))
    for decision in made:
        assert (decision.partial, decision.reason) == (partial, reason)
        assert decision.data == {"null": None, "after": after, "empty": b"", "diffs": encoded}[data]
        if decision.data is None:
            assert decision.field is None
        else:
            assert decision.field == len(decision.data).to_bytes(4, "little") + decision.data
