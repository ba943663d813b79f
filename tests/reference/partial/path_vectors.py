"""Paths and diffs: text, canonical text, wire form (partial-update 4, partial-update 4.1, partial-update 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import JsonValue, UInt, same
from tests.reference.kit import number, outcome

if TYPE_CHECKING:
    from tests.reference.kit import Kit

# (text, canonical text): what the parser accepts, and how the server writes it into its own log.
PATHS: Final[list[tuple[str, str]]] = [
    ("$", "$"),
    (" $ ", "$"),
    ("$.a", "$.a"),
    ('$."a"', "$.a"),
    ('$."k 1"', '$."k 1"'),
    ("$ . a [ 0 ] .b\t", "$.a[0].b"),
    ("$\n.\na", "$.a"),
    ("$\v.\va[\v0\v]", "$.a[0]"),
    ("$\f.\fa[\f0\f]", "$.a[0]"),
    ("$.b[01]", "$.b[1]"),
    ("$[000]", "$[0]"),
    ("$[4294967295]", "$[4294967295]"),
    ("$[0000000000004294967295]", "$[4294967295]"),
    ("$[last]", "$[last]"),
    ("$[ last ]", "$[last]"),
    ("$[last-1]", "$[last-1]"),
    ("$[last - 01]", "$[last-1]"),
    ("$[last-0]", "$[last]"),
    ("$[last-4294967295]", "$[last-4294967295]"),
    ('$.""', '$.""'),
    ("$.$", "$.$"),
    ("$.$_", "$.$_"),
    ("$._1", "$._1"),
    ("$.a1_$", "$.a1_$"),
    ('$."1x"', '$."1x"'),
    ('$."a-b"', '$."a-b"'),
    ('$."a.b"', '$."a.b"'),
    ('$."\\u0061"', "$.a"),
    ('$."\\u00e9"', "$.é"),
    ('$."\\ud83d\\ude00"', '$."😀"'),
    ('$."a\\"b"', '$."a\\"b"'),
    ('$."a\\\\"', '$."a\\\\"'),
    ('$."\\/"', '$."/"'),
    ('$."\\b\\t\\n\\f\\r\\u0001\\u001F"', '$."\\b\\t\\n\\f\\r\\u0001\\u001f"'),
    ('$."*"', '$."*"'),
    ('$."**"', '$."**"'),
    # The identifier test looks at the low eight bits of a code point only (partial-update 4.1).
    ("$.é", "$.é"),
    ("$.文", "$.文"),
    ("$.Ł", "$.Ł"),
    ('$."Ł"', "$.Ł"),
    ('$."ā"', '$."ā"'),
    ('$."中"', '$."中"'),
    ('$."ÿ"', '$."ÿ"'),
    ("$.a\u0301", "$.a\u0301"),
    ('$."\u0301a"', '$."\u0301a"'),
    ("$.a\u200c\u200d\u203f", "$.a\u200c\u200d\u203f"),
    ('$."\u203fa"', '$."\u203fa"'),
    ("$.a\u0130", "$.a\u0130"),  # low byte 0x30: a digit, from the second code point on
    ('$."\u0130a"', '$."\u0130a"'),
    ('$."a\u0100"', '$."a\u0100"'),
    ("$.\u017a", "$.\u017a"),  # low byte 'z'
    ('$."\u017b"', '$."\u017b"'),  # low byte '{'
    ("$.\u0180\u01fe", "$.\u0180\u01fe"),
    ('$."\u01ff"', '$."\u01ff"'),
    # Wildcards parse; who may use them is decided elsewhere.
    ("$.*", "$.*"),
    ("$[*]", "$[*]"),
    ("$**.a", "$**.a"),
    ("$**[0]", "$**[0]"),
    ("$[1 to 2]", "$[1 to 2]"),
    ("$[ 1 to last ]", "$[1 to last]"),
    ("$[last-3 to last-1]", "$[last-3 to last-1]"),
    ("$[5 to last-9]", "$[5 to last-9]"),
]

# (text, character at which it cannot go on)
BAD_PATHS: Final[list[tuple[str, int]]] = [
    ("", 0),
    ("a", 0),
    (".a", 0),
    ("$x", 1),
    ("$ x", 2),
    ("$$", 1),
    ("$.", 2),
    ("$..a", 2),
    ("$.a.", 4),
    ("$.1x", 2),
    ("$.a-b", 2),
    ("$.a b", 4),
    ("$.ā", 2),
    ("$.中", 2),
    ("$.ÿ", 2),
    ("$.\u0301a", 2),
    ('$."a', 2),
    ('$."a\\"', 2),
    ('$."\\x"', 2),
    ('$."a"b', 5),
    ("$.'a'", 2),
    ("$[", 2),
    ("$[]", 2),
    ("$[1", 3),
    ("$[-1]", 2),
    ("$[+1]", 2),
    ("$[1.5]", 3),
    ("$[a]", 2),
    ("$[LAST]", 2),
    ("$[last+1]", 6),
    ("$[last-]", 7),
    ("$[4294967296]", 2),
    ("$[last-4294967296]", 7),
    ("$[99999999999999999999]", 2),
    ("$[1,2]", 3),
    ("$[1to2]", 3),
    ("$[2 to 1]", 3),
    ("$[last to last-1]", 6),
    ("$*", 1),
    ("$**", 3),
    ("$.a**", 5),
    ("$***.a", 3),
    ("$.a]", 2),
]

# (text of the cell, elements, position, in bounds)
POSITIONS: Final[list[tuple[str, int, int, bool]]] = [
    ("0", 0, 0, False),
    ("0", 1, 0, True),
    ("1", 1, 1, False),
    ("2", 3, 2, True),
    ("7", 3, 3, False),
    ("last", 0, 0, False),
    ("last", 1, 0, True),
    ("last", 3, 2, True),
    ("last-1", 1, 0, False),
    ("last-2", 3, 0, True),
    ("last-3", 3, 0, False),
    ("last-7", 3, 0, False),
]


def check_path(kit: Kit, text: str, canonical: str) -> None:
    """Parses, prints in canonical text, and that text means the same."""
    path = kit.paths.parse_path(text)
    assert str(path) == canonical
    assert kit.paths.parse_path(canonical) == path
    assert path.is_exact == (not any(sign in canonical for sign in ("**.", ".*", "[*]", " to ", "**[")))


def check_bad_path(kit: Kit, text: str, position: int) -> None:
    """Error 3143 at a character."""
    path, error = outcome(kit.paths.parse_path, text)
    assert error is not None, path
    assert (number(error), error.offset) == (3143, position), error


def check_position(kit: Kit, cell: str, count: int, position: int, found: bool) -> None:
    (leg,) = kit.paths.parse_path(f"$[{cell}]").legs
    assert leg.position(count) == (position, found)


# --- diffs -----------------------------------------------------------------------------------------------------------


def plain(text: str) -> bytes:
    return bytes.fromhex(text)


# Each: what it shows, the diff, its bytes.
DIFFS: Final[list[tuple[str, tuple[int, str, JsonValue], bytes]]] = [
    ("REPLACE", (0, "$.b", "zz"), plain("00 03 242e62 04 0c027a7a")),
    ("INSERT", (1, "$.new", "n"), plain("01 05 242e6e6577 03 0c016e")),
    ("REMOVE has no value", (2, "$.c[1]", None), plain("02 06 242e635b315d")),
    ("a null value is a value", (0, "$.a", None), plain("00 03 242e61 02 0400")),
    ("last is not resolved", (1, "$.c[last-7]", 9), plain("01 0b 242e635b6c6173742d375d 03 050900")),
    ("the path is UTF-8", (0, "$.é", 4), plain("00 04 242ec3a9 03 050400")),
    ("quoted names", (0, '$."k 1"', 2), plain("00 07 242e226b203122 03 050200")),
    ("unsigned value", (0, "$.b", UInt(7)), plain("00 03 242e62 03 060700")),
    ("path of 250 bytes", (2, "$." + "k" * 248, None), plain("02 fa") + b"$." + b"k" * 248),
    ("path of 251 bytes", (2, "$." + "k" * 249, None), plain("02 fcfb00") + b"$." + b"k" * 249),
    ("path of 65535 bytes", (2, "$." + "k" * 65533, None), plain("02 fcffff") + b"$." + b"k" * 65533),
    ("path of 65536 bytes", (2, "$." + "k" * 65534, None), plain("02 fd000001") + b"$." + b"k" * 65534),
    ("value of 250 bytes", (0, "$.a", "x" * 247), plain("00 03 242e61 fa 0cf701") + b"x" * 247),
    ("value of 251 bytes", (0, "$.a", "x" * 248), plain("00 03 242e61 fcfb00 0cf801") + b"x" * 248),
    ("value of 65535 bytes", (0, "$.a", "x" * 65531), plain("00 03 242e61 fcffff 0cfbff03") + b"x" * 65531),
    ("value of 65536 bytes", (0, "$.a", "x" * 65532), plain("00 03 242e61 fd000001 0cfcff03") + b"x" * 65532),
]

WORKED: Final = plain("00 03 242e62 04 0c027a7a  02 06 242e635b315d  01 05 242e6e6577 03 0c016e")  # partial-update 4.2

# (rule, bytes, diffs as text or the code of the error, code of the strict reading's error or None): partial-update 6.1
DIFF_READINGS: Final[list[tuple[str, bytes, list[str] | str, str | None]]] = [
    ("no diffs", b"", [], None),
    ("worked example 4.2", WORKED, ['REPLACE $.b "zz"', "REMOVE $.c[1]", 'INSERT $.new "n"'], None),
    ("operation 3", plain("03 03 242e61"), "bad-operation", "bad-operation"),
    ("operation 4 after a good diff", WORKED + plain("04"), "bad-operation", "bad-operation"),
    ("operation 255", plain("ff"), "bad-operation", "bad-operation"),
    ("only an operation", plain("00"), "truncated", "truncated"),
    ("path cut off", plain("02 04 242e61"), "truncated", "truncated"),
    ("REPLACE without a length", plain("00 03 242e61"), "truncated", "truncated"),
    ("data cut off", plain("00 03 242e61 03 0501"), "truncated", "truncated"),
    ("two-byte path length cut off", plain("02 fc03"), "truncated", "truncated"),
    ("eight-byte length", plain("02 fe ffffffffffffffff 242e61"), "truncated", "truncated"),
    ("length byte fb", plain("02 fb"), "bad-packed-integer", "bad-packed-integer"),
    ("length byte ff", plain("00 03 242e61 ff"), "bad-packed-integer", "bad-packed-integer"),
    ("path length longer than needed", plain("02 fc0300 242e61"), ["REMOVE $.a"], None),
    ("data length in nine bytes", plain("00 03 242e61 fe0300000000000000 050100"), ["REPLACE $.a 1"], None),
    ("empty path", plain("02 00"), "bad-path", "bad-path"),
    ("path a", plain("02 01 61"), "bad-path", "bad-path"),
    ("path $x", plain("02 02 2478"), "bad-path", "bad-path"),
    ("path $.", plain("02 02 242e"), "bad-path", "bad-path"),
    ("path $[-1]", plain("02 05") + b"$[-1]", "bad-path", "bad-path"),
    ("index over 2^32-1", plain("02 0d") + b"$[4294967296]", "bad-path", "bad-path"),
    ("invalid UTF-8 in a bare name", plain("02 03 242eff"), "bad-path", "bad-utf8"),
    ("spaces and leading zeros", plain("02 0a") + b"$ .b [ 01]", ["REMOVE $.b[1]"], "path-not-canonical"),
    ("needless quotes", plain("02 05") + b'$."a"', ["REMOVE $.a"], "path-not-canonical"),
    ("escaped name", plain("02 0a") + b'$."\\u0061"', ["REMOVE $.a"], "path-not-canonical"),
    ("wildcard", plain("02 03") + b"$.*", ["REMOVE $.*"], "inexact-path"),
    ("all cells", plain("02 04") + b"$[*]", ["REMOVE $[*]"], "inexact-path"),
    ("range of cells", plain("02 09") + b"$[0 to 1]", ["REMOVE $[0 to 1]"], "inexact-path"),
    ("double asterisk", plain("02 05") + b"$**.a", ["REMOVE $**.a"], "inexact-path"),
    ("value of no bytes is null", plain("00 03 242e61 00"), ["REPLACE $.a null"], "truncated"),
    ("bytes after the value", plain("00 03 242e61 05 050100ffff"), ["REPLACE $.a 1"], "trailing-bytes"),
    ("value of an unknown type", plain("00 03 242e61 02 0d00"), "bad-type", "bad-type"),
    ("value cut off inside", plain("00 03 242e61 02 0501"), "truncated", "truncated"),
    (
        "unsorted keys in a value",
        plain("00 03 242e61 15 00 0200 1400 1200 0100 1300 0100 050100 050200 6261"),
        ['REPLACE $.a {"a": 2, "b": 1}'],
        "key-order",
    ),
]


def check_diff(kit: Kit, diff: tuple[int, str, JsonValue], data: bytes) -> None:
    """Exact bytes, and the same diff back."""
    operation, text, value = diff
    made = kit.diffs.Diff(kit.diffs.Operation(operation), kit.paths.parse_path(text), value)
    assert kit.diffs.encode_diffs((made,)) == data
    for strict in (False, True):
        (again,) = kit.diffs.decode_diffs(data, strict=strict)
        assert (int(again.operation), str(again.path)) == (operation, text)
        assert same(again.value, value)


def shown(diffs: Any) -> list[str]:
    """Diffs as text."""
    return [
        f"{diff.operation.name} {diff.path}{'' if diff.operation.name == 'REMOVE' else ' ' + format_text(diff.value)}"
        for diff in diffs
    ]


def check_diff_reading(kit: Kit, data: bytes, lenient: list[str] | str, strict: str | None) -> None:
    for expected, mode in ((lenient, False), (strict if strict is not None else lenient, True)):
        diffs, error = outcome(kit.diffs.decode_diffs, data, strict=mode)
        if error is None:
            assert shown(diffs) == expected
        else:
            assert error.code == expected, error
            assert error.path[0].startswith("diffs[")


def check_truncations(kit: Kit, data: bytes, ends: tuple[int, ...]) -> None:
    """Every prefix is refused, but for those that end with a whole diff."""
    for cut in range(len(data)):
        _, error = outcome(kit.diffs.decode_diffs, data[:cut])
        assert (None if error is None else error.code) == (None if cut in ends else "truncated"), cut
