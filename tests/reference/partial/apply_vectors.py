"""The applier's tables (partial-update 6, partial-update 8): each row a case with its outcome or the number of its
error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.dialect import MYSQL, WORKLOG, Dialect
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import BLOB, DECIMAL, Opaque
from tests.reference.jsonb.jsonb_vectors import nested
from tests.reference.kit import number, outcome

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from tests.reference.kit import Kit

TREE: Final = "INSERT $.tree 0"  # a first diff that ends the in-place mode
ACCEPTING: Final = replace(MYSQL, behaviour=replace(MYSQL.behaviour, refuse_unchanging_replace=False))
NOT_NULL: Final = replace(MYSQL, behaviour=replace(MYSQL.behaviour, null_takes_empty_diffs=False))


class Row(NamedTuple):
    """``document`` and ``after`` as JSON text (``None``: SQL NULL); ``error``: the number instead of ``after``."""

    rule: str
    document: str | None
    diffs: tuple[str, ...]
    after: str | None = None
    error: int = 0
    free: int = 0  # JSON_STORAGE_FREE of the result; more than 0 only after changes in place
    dialect: Dialect = MYSQL


APPLYING: Final = [
    # REPLACE
    Row("REPLACE a member in place", '{"a": 1, "b": "xy"}', ("REPLACE $.a 2",), '{"a": 2, "b": "xy"}'),
    Row("REPLACE by less leaves a hole", '{"b": "xyz"}', ('REPLACE $.b "x"',), '{"b": "x"}', free=2),
    Row("REPLACE without room goes to the tree", '{"b": "x"}', ('REPLACE $.b "xyz"',), '{"b": "xyz"}'),
    Row("REPLACE a cell", "[1, 2]", ("REPLACE $[1] 3",), "[1, 3]"),
    Row("REPLACE the last cell", "[1, 2]", ("REPLACE $[last] 3",), "[1, 3]"),
    Row("REPLACE a cell from the end", "[1, 2]", ("REPLACE $[last-1] 3",), "[3, 2]"),
    Row("REPLACE deep", '{"a": [1, {"b": 2}]}', ("REPLACE $.a[1].b 3",), '{"a": [1, {"b": 3}]}'),
    Row("REPLACE by the same member name in another object", '{"a": {"x": 1}}', ("REPLACE $.x 1",), error=3648),
    Row("REPLACE of a missing member", '{"a": 1}', ("REPLACE $.b 1",), error=3648),
    Row("REPLACE of a cell out of bounds", "[1, 2]", ("REPLACE $[2] 1",), error=3648),
    Row("REPLACE of a cell before the front", "[1, 2]", ("REPLACE $[last-2] 1",), error=3648),
    Row("REPLACE under a scalar", '{"a": 1}', ("REPLACE $.a.b 1",), error=3648),
    Row("REPLACE of cell 0 of a scalar: no auto-wrap", '{"a": 1}', ("REPLACE $.a[0] 2",), error=3648),
    Row("REPLACE of cell 0 of an object: no auto-wrap", '{"a": 1}', ("REPLACE $[0] 2",), error=3648),
    Row("REPLACE of a member of an array", "[1]", ("REPLACE $.a 1",), error=3648),
    Row("REPLACE of a cell of an object", '{"0": 1}', ("REPLACE $[0] 1",), error=3648),
    Row("REPLACE with a missing parent", '{"a": 1}', ("REPLACE $.b.c 1",), error=3648),
    Row("REPLACE of the root", '{"a": 1}', ("REPLACE $ 1",), error=3648),
    Row("REPLACE by the same value in place", '{"a": 1}', ("REPLACE $.a 1",), error=3648),
    Row("REPLACE by the same string in place", '{"a": "x"}', ('REPLACE $.a "x"',), error=3648),
    Row("REPLACE by the same number of another type", '{"a": 1}', ("REPLACE $.a 1.0",), '{"a": 1.0}'),
    Row("REPLACE by the same value on the tree", '{"a": 1}', (TREE, "REPLACE $.a 1"), '{"a": 1, "tree": 0}'),
    Row(
        "REPLACE by the same value after a change in place", '{"a": 1}', ("REPLACE $.a 2", "REPLACE $.a 2"), error=3648
    ),
    Row("REPLACE and back changes bytes each time", '{"a": 1}', ("REPLACE $.a 2", "REPLACE $.a 1"), '{"a": 1}'),
    Row("the switch lets it pass", '{"a": 1}', ("REPLACE $.a 1",), '{"a": 1}', dialect=ACCEPTING),
    Row("the worklog lets it pass", '{"a": 1}', ("REPLACE $.a 1",), '{"a": 1}', dialect=WORKLOG),
    Row(
        "partial-update 8.1: what the source logs from its tree is refused in place",
        '{"a": 5, "b": "xxxxxxxxxxxx"}',
        ('REPLACE $.b "yyyyyyyyyyyy"', "REPLACE $.a 5"),
        error=3648,
    ),
    Row(
        "partial-update 8.1: a replica without room does it on the tree",
        '{"a": 5, "b": "x"}',
        ('REPLACE $.b "yyyyyyyyyyyy"', "REPLACE $.a 5"),
        '{"a": 5, "b": "yyyyyyyyyyyy"}',
    ),
    # INSERT
    Row("INSERT a member", '{"b": 1}', ("INSERT $.a 2",), '{"a": 2, "b": 1}'),
    Row("INSERT into a member's object", '{"a": {}}', ("INSERT $.a.x 2",), '{"a": {"x": 2}}'),
    Row("INSERT of a member that exists", '{"a": 1}', ("INSERT $.a 2",), error=3648),
    Row("INSERT of a member that exists, on the tree", '{"a": 1}', (TREE, "INSERT $.a 2"), error=3648),
    Row("INSERT of a member into an array", "[]", ("INSERT $.a 2",), error=3648),
    Row("INSERT of a member into a scalar", '{"a": 1}', ("INSERT $.a.b 2",), error=3648),
    Row("INSERT with a missing parent", '{"a": 1}', ("INSERT $.b.c 2",), error=3648),
    Row("INSERT at the front", "[1, 2]", ("INSERT $[0] 0",), "[0, 1, 2]"),
    Row("INSERT in the middle", "[1, 2]", ("INSERT $[1] 0",), "[1, 0, 2]"),
    Row("INSERT at the end", "[1, 2]", ("INSERT $[2] 0",), "[1, 2, 0]"),
    Row("INSERT past the end appends", "[1, 2]", ("INSERT $[77] 0",), "[1, 2, 0]"),
    Row("INSERT at last is before the last element", "[1, 2]", ("INSERT $[last] 0",), "[1, 0, 2]"),
    Row("INSERT at last-1", "[1, 2]", ("INSERT $[last-1] 0",), "[0, 1, 2]"),
    Row("INSERT beyond the front is at 0", "[1, 2]", ("INSERT $[last-7] 0",), "[0, 1, 2]"),
    Row("INSERT into an empty array", "[]", ("INSERT $[last] 0",), "[0]"),
    Row("INSERT of a cell into an object", "{}", ("INSERT $[0] 0",), error=3648),
    Row("INSERT of a cell into a scalar", '{"a": 1}', ("INSERT $.a[1] 0",), error=3648),
    Row("INSERT of the root", "[]", ("INSERT $ 0",), error=3648),
    # REMOVE
    Row("REMOVE a member", '{"a": 1, "b": 2}', ("REMOVE $.a",), '{"b": 2}', free=4 + 3 + 1),
    Row("REMOVE the only member", '{"a": 1}', ("REMOVE $.a",), "{}", free=8),
    Row("REMOVE a cell", "[1, 2]", ("REMOVE $[0]",), "[2]", free=3),
    Row("REMOVE the last cell", "[1, 2]", ("REMOVE $[last]",), "[1]", free=3),
    Row("REMOVE on the tree leaves no hole", '{"a": 1, "b": "x"}', (TREE, "REMOVE $.b"), '{"a": 1, "tree": 0}'),
    Row("REMOVE of a missing member", '{"a": 1}', ("REMOVE $.b",), error=3648),
    Row("REMOVE out of bounds", "[1]", ("REMOVE $[1]",), error=3648),
    Row("REMOVE before the front", "[1]", ("REMOVE $[last-1]",), error=3648),
    Row("REMOVE of cell 0 of a scalar", '{"a": 1}', ("REMOVE $.a[0]",), error=3648),
    Row("REMOVE of a member of an array", "[1]", ("REMOVE $.a",), error=3648),
    Row("REMOVE of the root", "[1]", ("REMOVE $",), error=3648),
    Row("REMOVE twice", '{"a": 1, "b": 2}', ("REMOVE $.a", "REMOVE $.a"), error=3648),
    # sequences
    Row("later diffs see earlier ones", "[1]", ("INSERT $[1] 2", "REMOVE $[0]", "REPLACE $[0] 3"), "[3]"),
    Row(
        "REMOVE makes room for REPLACE",
        '{"a": "xxxx", "b": "y"}',
        ("REMOVE $.a", 'REPLACE $.b "12345"'),
        '{"b": "12345"}',
        free=9,
    ),
    # paths that name no single place (partial-update 6.1)
    Row("all members", '{"a": 1}', ("REMOVE $.*",), error=3648),
    Row("all cells", "[1]", ("REPLACE $[*] 2",), error=3648),
    Row("a range", "[1, 2]", ("REMOVE $[0 to 1]",), error=3648),
    Row("a double asterisk is rejected", '{"a": 1}', ("REPLACE $**.a 2",), error=3648),
    # SQL NULL
    Row("no diffs on SQL NULL give JSON null", None, (), "null"),
    Row("no diffs on SQL NULL, by the switch", None, (), None, dialect=NOT_NULL),
    Row("no diffs change nothing", '{"a": 1}', (), '{"a": 1}'),
    Row("REPLACE on SQL NULL", None, ("REPLACE $.a 1",), error=3648),
    Row("INSERT on SQL NULL", None, ("INSERT $[0] 1",), error=3648),
    Row("REMOVE on SQL NULL", None, ("REMOVE $.a",), error=3648),
    Row("any diff on a scalar", "1", ("REPLACE $[0] 1",), error=3648),
]


def parse_diffs(kit: Kit, texts: tuple[str, ...]) -> tuple[Any, ...]:
    """``OPERATION PATH VALUE``; the path may have spaces inside brackets."""
    diffs = []
    for text in texts:
        word, _, rest = text.partition(" ")
        operation = kit.diffs.Operation[word]
        if word == "REMOVE":
            diffs.append(kit.diffs.Diff(operation, kit.paths.parse_path(rest)))
        else:
            path, _, value = rest.partition(" ")
            diffs.append(kit.diffs.Diff(operation, kit.paths.parse_path(path), parse_text(value)))
    return tuple(diffs)


def check_applying(kit: Kit, row: Row) -> None:
    """From the wire form, since that is what a replica gets; the base document stays as it is."""
    stored = None if row.document is None else kit.encode.encode(parse_text(row.document))
    kept = stored
    field = kit.diffs.encode_diffs(parse_diffs(kit, row.diffs))
    after, error = outcome(kit.apply.apply_field, stored, field, row.dialect)
    assert number(error) == row.error, error or after
    if error is not None:
        assert error.path[0].startswith("diffs[")
    elif row.after is None:
        assert after is None
    else:
        assert isinstance(after, bytes)
        assert format_text(kit.decode.decode(after)) == row.after
        assert kit.layout.storage_free(after) == row.free
        kit.layout.decode_strict(after)
    assert stored == kept


# (rule, field, number): what cannot be read is refused before anything is applied (partial-update 6.1)
UNREADABLE: Final[list[tuple[str, bytes, int]]] = [
    ("operation 3", bytes.fromhex("03 03 242e61"), 3649),
    ("a good diff, then a torn one", bytes.fromhex("00 03 242e61 03 050200 02 04 242e62"), 3649),
    ("length byte fb", bytes.fromhex("02 fb"), 3649),
    ("length byte ff", bytes.fromhex("02 ff"), 3649),
    ("path that does not parse", bytes.fromhex("02 01 61"), 3649),
    ("value that is no JSONB", bytes.fromhex("00 03 242e61 01 0d"), 3649),
    ("value cut off", bytes.fromhex("00 03 242e61 02 0501"), 3649),
    ("a DECIMAL(2,0) without digits", bytes.fromhex("00 03 242e61 05 0ff6020200"), 3142),
    ("the same inside an array", bytes.fromhex("00 03 242e61 0c 0201000b000f0700f6020200"), 3142),
    ("a string over the end of its array", bytes.fromhex("00 03 242e61 0a 020100 0900 0c0700 0261"), 3142),
    ("the same in front of a torn diff", bytes.fromhex("00 03 242e61 0a 020100 0900 0c0700 0261 03"), 3142),
    ("the same behind a damaged path", bytes.fromhex("02 01 61 00 03 242e61 0a 020100 0900 0c0700 0261"), 3649),
    ("the same behind a damaged frame", bytes.fromhex("0003242e61020501 0003242e610a02010009000c07000261"), 3649),
    ("an array larger than its value", bytes.fromhex("00 03 242e61 0a 020100 0a00 0c0700 0161"), 3649),
]


def decimal(data: str) -> Opaque:
    return Opaque(DECIMAL, bytes.fromhex(data))


WIDE: Final = decimal("01 00 8a")  # a DECIMAL(1,0) that says 10
ROOM: Final = "x" * 20
REFUSING: Final = replace(MYSQL, behaviour=replace(MYSQL.behaviour, reads_wide_decimals=False))

# (rule, document, (operation, path, value)..., number): it can be read, and not be written (all observed on 9.7.4)
WIDE_DECIMALS: Final[list[tuple[str, JsonValue, tuple[tuple[str, str, JsonValue], ...], int]]] = [
    ("in place", {"a": ROOM}, (("REPLACE", "$.a", WIDE),), 1032),
    ("in place, in an array", {"a": ROOM}, (("REPLACE", "$.a", [1, WIDE]),), 1032),
    ("in place, by the same bytes", {"a": WIDE}, (("REPLACE", "$.a", WIDE),), 1032),
    ("in place, then taken out", {"a": ROOM}, (("REPLACE", "$.a", WIDE), ("REMOVE", "$.a", None)), 1032),
    ("in place, in front of what does not fit", {"a": ROOM}, (("REPLACE", "$.a", WIDE), ("REMOVE", "$.b", None)), 1032),
    ("for no path", {"a": ROOM}, (("REPLACE", "$.b", WIDE),), 3648),
    ("on the tree", {"a": 1}, (("INSERT", "$.b", WIDE),), 1032),
    ("on the tree, then taken out", {"a": 1}, (("INSERT", "$.b", WIDE), ("REMOVE", "$.b", None)), 0),
    ("on the tree, in front of what does not fit", {}, (("INSERT", "$.b", WIDE), ("REMOVE", "$.c", None)), 3648),
    ("stored, and another changed in place", {"a": WIDE, "b": ROOM}, (("REPLACE", "$.b", "y"),), 0),
    ("stored, and removed in place", {"a": WIDE}, (("REMOVE", "$.a", None),), 0),
    ("stored, and all written anew", {"a": {"b": [WIDE]}}, (("INSERT", "$.c", 1),), 1032),
    ("stored, removed, and the rest written anew", {"a": WIDE}, (("INSERT", "$.c", 1), ("REMOVE", "$.a", None)), 0),
    ("99 of two digits", {}, (("INSERT", "$.b", decimal("02 00 e3")),), 0),
    ("100 of two digits", {}, (("INSERT", "$.b", decimal("02 00 e4")),), 1032),
    ("-100 of two digits", {}, (("INSERT", "$.b", decimal("02 00 1b")),), 1032),
    ("100 of one digit", {}, (("INSERT", "$.b", decimal("01 00 e4")),), 3142),
    ("10^9 of nine digits", {}, (("INSERT", "$.b", decimal("09 00 bb9aca00")),), 3142),
    (
        "10 of one digit and nine",
        {},
        (("INSERT", "$.b", decimal("0a00 8a00000000")),),
        1032,
    ),
    ("digits behind the point", {}, (("INSERT", "$.b", decimal("05 05 8186a0")),), 3142),
]


ODD: Final = decimal("0201 7fff")  # -0.0
PLAIN: Final = decimal("0201 8000")
HALF: Final = decimal("0201 8005")
OTHER: Final = Opaque(BLOB, ODD.payload)

# (rule, document, (operation, path, value)..., document then): numbers keep their places and not their bytes (9.7.4)
ODD_DECIMALS: Final[list[tuple[str, JsonValue, tuple[tuple[str, str, JsonValue], ...], JsonValue]]] = [
    ("a minus zero in place", {"a": ROOM}, (("REPLACE", "$.a", ODD),), {"a": PLAIN}),
    ("a minus zero on the tree", {}, (("INSERT", "$.b", ODD),), {"b": PLAIN}),
    ("a minus zero of one digit", {}, (("INSERT", "$.b", decimal("0100 7f")),), {"b": decimal("0100 80")}),
    ("in an array and an object", {"a": ROOM}, (("REPLACE", "$.a", [1, {"k": ODD}]),), {"a": [1, {"k": PLAIN}]}),
    ("no digits", {}, (("INSERT", "$.b", decimal("0000")),), {"b": decimal("0100 80")}),
    ("a last group out of range", {}, (("INSERT", "$.b", decimal("0201 8085")),), {"b": HALF}),
    ("the same of a negative", {}, (("INSERT", "$.b", decimal("0201 7f7a")),), {"b": decimal("0201 7ffa")}),
    ("a precision not needed", {}, (("INSERT", "$.b", decimal("0400 8005")),), {"b": decimal("0400 8005")}),
    ("beside one that is not odd", {}, (("INSERT", "$.b", [ODD, HALF]),), {"b": [PLAIN, HALF]}),
    ("stored, and another changed in place", {"a": ODD, "b": ROOM}, (("REPLACE", "$.b", 1),), {"a": ODD, "b": 1}),
    ("stored, and all written anew", {"a": [ODD, 2.5]}, (("INSERT", "$.b", 1),), {"a": [PLAIN, 2.5], "b": 1}),
    ("stored, beside another type", {"a": ODD}, (("INSERT", "$.b", OTHER),), {"a": PLAIN, "b": OTHER}),
]

# (rule, field, error in lenient reading): the strict dialect refuses more
STRICT_ONLY: Final[list[tuple[str, bytes]]] = [
    ("value of no bytes", bytes.fromhex("00 03 242e61 00")),
    ("bytes after the value", bytes.fromhex("00 03 242e61 04 05020000")),
    ("path not canonical", bytes.fromhex("00 05") + b'$."a"' + bytes.fromhex("03 050200")),
    ("value of invalid UTF-8", bytes.fromhex("00 03 242e61 03 0c01ff")),
]


def check_unreadable(kit: Kit, field: bytes, expected: int) -> None:
    stored = kit.encode.encode({"a": 1, "b": 2})
    assert number(outcome(kit.apply.apply_field, stored, field)[1]) == expected


def wide_field(kit: Kit, diffs: tuple[tuple[str, str, JsonValue], ...]) -> bytes:
    """Wire form."""
    made = [kit.diffs.Diff(kit.diffs.Operation[word], kit.paths.parse_path(path), value) for word, path, value in diffs]
    field: bytes = kit.diffs.encode_diffs(made)
    return field


def check_wide_decimal(
    kit: Kit, document: JsonValue, diffs: tuple[tuple[str, str, JsonValue], ...], expected: int
) -> None:
    """As 9.7.4 does it; a server that takes none of them out of a diff says that the value is invalid."""
    stored, field = kit.encode.encode(document), wide_field(kit, diffs)
    assert number(outcome(kit.apply.apply_field, stored, field)[1]) == expected
    if expected == 1032 and any(value is not None and "Opaque" in repr(value) for _, _, value in diffs):
        assert number(outcome(kit.apply.apply_field, stored, field, REFUSING)[1]) == 3142


def check_odd_decimal(
    kit: Kit, document: JsonValue, diffs: tuple[tuple[str, str, JsonValue], ...], after: JsonValue
) -> None:
    made = kit.apply.apply_field(kit.encode.encode(document), wide_field(kit, diffs))
    assert encode(decode(made)) == encode(after)  # in place there is room around it


def check_strict_only(kit: Kit, field: bytes) -> None:
    stored = kit.encode.encode({"a": 1})
    kit.apply.apply_field(stored, field)
    assert number(outcome(kit.apply.apply_field, stored, field, WORKLOG)[1]) == 3649


def check_apply_depth(kit: Kit) -> None:
    """In place a document may get deeper than 100; on the tree it is error 3157 (partial-update 6.2,
    partial-update 8.3)."""
    path = "$" + "[0]" * 60
    value = nested(60)
    diffs = (kit.diffs.Diff(kit.diffs.Operation.REPLACE, kit.paths.parse_path(path), value),)
    roomy = kit.encode.encode(nested(60, "x" * 1000))
    deep = kit.apply.apply_diffs(roomy, diffs)
    assert len(deep) == len(roomy)
    assert number(outcome(kit.decode.decode, deep)[1]) == 3157
    tight = kit.encode.encode(nested(60, "x"))
    assert number(outcome(kit.apply.apply_diffs, tight, diffs)[1]) == 3157
