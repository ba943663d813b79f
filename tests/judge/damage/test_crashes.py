"""The signature of a crash: which damage the bytes have, and when the server died."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.injection import Injection, InjectionOutcome, full_image, partial_image
from conformance.judge.damage.crashes import (
    crash_of,
    crash_of_client,
    crash_of_rows,
    damage_of,
    damage_of_log,
    damage_of_values,
    has_key_twice,
)
from conformance.judge.damage.document_bytes import has_bad_key_entry
from conformance.reference.binlog.control_events import Opaque, Stop
from conformance.reference.binlog.statement_events import UserVarType
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.diffs import Diff, Operation, encode_diff, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.requirements.crashes import PRINTING, VARIABLE_LENGTH, Crash
from generators import damaged_events, object_entries
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

SOUND = encode({"a": {"b": [1, {"c": "d"}]}, "e": "f" * 300})


def test_sound_values_have_no_damage() -> None:
    diffs = encode_diffs(
        [Diff(Operation.REMOVE, parse_path("$.z")), Diff(Operation.INSERT, parse_path("$.y"), {"k": 1})]
    )
    sound = (partial_image(diffs), full_image(SOUND), partial_image(b""))
    for image in sound:
        assert damage_of(image) == ""
        for size in range(len(image)):
            assert damage_of(image[:size]) in ("row-cut", "")
            assert damage_of_values(image[:size]) == ""
    for image in (b"", b"\x00", b"\x01", b"\xfc\x01\x00\x01", full_image(SOUND)[:-1]):
        assert damage_of(image) == "row-cut"


def test_no_other_listed_damage_is_taken_for_one_of_members() -> None:
    for item in damaged_events.listed():
        unknown = item.name.startswith("value-options-") and item.name != "value-options-of-3-bytes"
        assert damage_of(item.image) in (("value-options",) if unknown else ("row-cut", "")), item.name


@pytest.mark.parametrize(
    "options", ["02", "03", "fa", "fb", "fc0200", "fc", "fc02", "fd010001", "fe0100000000000001", "ff"]
)
def test_options_above_1_are_a_damage(options: str) -> None:
    assert damage_of(bytes.fromhex(options)) == "value-options"
    assert damage_of(bytes.fromhex(options) + partial_image(b"")[1:]) == (
        "value-options" if options != "fc" else "row-cut"
    )


@pytest.mark.parametrize("options", ["00", "01", "fc0100", "fd000000", "fe0100000000000000"])
def test_options_of_0_and_1_are_none(options: str) -> None:
    assert damage_of(bytes.fromhex(options)) == "row-cut"


@pytest.mark.parametrize("place", [object_entries.DIFF, object_entries.FULL])
def test_every_generated_damage_of_a_key_is_seen_in_the_bytes(place: str) -> None:
    expected = "member-in-diff" if place == object_entries.DIFF else "member-in-document"
    for number in range(300):
        item = object_entries.injection(Stream("keys", number), place, keys=True)
        assert damage_of(item.image) == expected, item.name
        # In the other form of a whole document as well: value_options 1 and no bit of partial_columns.
        if place == object_entries.FULL:
            assert damage_of(b"\x01\x00" + item.image[1:]) == expected


def test_other_numbers_of_an_object_are_another_damage() -> None:
    # A count that is too large moves the entries: keys are wrong then as well.
    named = ("diff-value", "diff-size", "diff-cut")
    items = [
        object_entries.injection(Stream("others", number), object_entries.DIFF, keys=False) for number in range(300)
    ]
    assert all(damage_of(item.image) == "" for item in items if item.name.startswith(named))
    assert {item.name for item in items} == {f"diff-{what}" for what in object_entries._OTHERS}


def user_variable(kind: int, length: int, value: bytes = bytes.fromhex("03028119")) -> bytes:
    """A log with one."""
    name, collation = b"v", 33
    body = b"\1\0\0\0" + name + b"\0" + bytes((kind,)) + collation.to_bytes(4, "little") + length.to_bytes(4, "little")
    writer = FileWriter(timestamp=1)
    return writer.start() + writer.add(Stop()) + writer.add(Opaque(type=EventType.USER_VAR, data=body + value))


@pytest.mark.parametrize(("length", "damage"), [(3, ""), (4, ""), (5, VARIABLE_LENGTH), (1 << 31, VARIABLE_LENGTH)])
def test_a_decimal_variable_that_is_longer_than_its_event_is_seen(length: int, damage: str) -> None:
    assert damage_of_log(user_variable(UserVarType.DECIMAL, length)) == damage
    assert crash_of_client(user_variable(UserVarType.DECIMAL, length), -11) == Crash(PRINTING, damage, 11)


def test_variables_of_other_types_and_damaged_ones_are_not() -> None:
    for kind in (UserVarType.STRING, UserVarType.REAL, UserVarType.INT):
        assert damage_of_log(user_variable(kind, 100)) == ""
    writer = FileWriter(timestamp=1)
    start = writer.start()
    for body in (b"", b"\xff\0\0\0v", b"\1\0\0\0v", b"\1\0\0\0v\1", b"\1\0\0\0v\1\4" + b"\xff" * 8):
        assert damage_of_log(start + writer.add(Opaque(type=EventType.USER_VAR, data=body))) == ""


def same_key(*values: JsonValue, inside: bool = False) -> bytes:
    """An object whose members all have the key of the first."""
    named = dict(zip("klm", values, strict=False))
    document = bytearray(encode([named] if inside else named))
    view = next(each for each in object_entries.containers(open_document(bytes(document))) if each.is_object)
    for index in range(1, view.count):
        document[view.keys + 4 * index : view.keys + 4 * index + 4] = document[view.keys : view.keys + 4]
    return bytes(document)


def test_a_key_that_comes_again_is_a_damage_where_a_container_has_to_go_for_it() -> None:
    gone: list[list[JsonValue]] = [[[], 1], [["x"], None], [{}, 1], [{"a": 1}, {"b": 2}], [1, [], 1], [[], [], []]]
    for going in gone:
        assert has_key_twice(same_key(*going)), going
        assert has_key_twice(same_key(*going, inside=True)), going
        diff = encode_diff(Operation.INSERT, parse_path("$.a"), same_key(*going))
        assert damage_of(partial_image(diff)) == "member-twice-in-diff"
        assert damage_of(full_image(same_key(*going))) == ""
    stayed: list[list[JsonValue]] = [[1, []], ["x", "y"], [1, 2, {}], [[]]]
    for staying in stayed:
        assert not has_key_twice(same_key(*staying)), staying
    assert not has_key_twice(encode({"a": [], "b": [], "c": {"a": []}}))
    assert not has_key_twice(b"")


def test_documents_that_share_their_parts_take_no_time() -> None:
    # An array of 60 entries of which each is the array behind it, sixty levels deep.
    levels = 60
    inner = b"\x00\x00\x04\x00"
    for _ in range(levels):
        entries = b"".join(b"\x02" + (4 + 3 * levels).to_bytes(2, "little") for _ in range(levels))
        inner = levels.to_bytes(2, "little") + (4 + 3 * levels + len(inner)).to_bytes(2, "little") + entries + inner
        if len(inner) > 60_000:
            break
    assert not has_bad_key_entry(b"\x02" + inner)
    assert not has_key_twice(b"\x02" + inner)


def test_a_crash_is_when_and_what_and_the_signal() -> None:
    item = object_entries.injection(Stream("crash", 1), object_entries.DIFF, keys=True)
    assert crash_of(item, InjectionOutcome(error=3649)) is None
    assert crash_of(item, InjectionOutcome(death="no crash report")) is None
    assert crash_of(item, InjectionOutcome(death="signal 6: 0a1,b2c")) == Crash("applying", "member-in-diff", 6)
    assert crash_of(item, InjectionOutcome(death="signal 11: ", reading=True)) == Crash("reading", "member-in-diff", 11)
    assert crash_of_rows([item], "signal 6: 0a1") == Crash("applying", "member-in-diff", 6)
    assert crash_of_rows([item], "") is None
    other = Injection(name="", stored=None, image=partial_image(b""))
    assert crash_of_rows([other, item], "signal 6: 1") == Crash("applying", "member-in-diff", 6)
    placed = crash_of(item, InjectionOutcome(death="signal 6 in a::b < c (build 0123456789ab)"))
    assert placed == Crash("applying", "member-in-diff", 6, ("a::b", "c"), "0123456789ab")
    assert str(placed) == "signal 6 while applying, damage: member-in-diff, in a::b < c"
    assert str(crash_of(other, InjectionOutcome(death="signal 6: 1"))) == (
        "signal 6 while applying, damage: none that is listed"
    )
