"""Work is bounded by the size of the input: counted in steps, never in time."""

from __future__ import annotations

import struct
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import UInt
from fuzz import documents
from fuzz.events import PLAIN, file_seeds
from fuzz.mutators.framing import reframed
from fuzz.prefixed import join
from fuzz.targets import load, target_names
from generators.damaged_events import diff
from tests.steps import TooManySteps, count_steps

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 120  # lines for each byte of an input: three to five readings of it, and their comparison
OF_DATA_FILES = frozenset(("innodb-page", "innodb-record", "lob", "sdi"))
DATA_FILE = 1 << 10  # bytes more: an input of these targets names a recorded file, and changes it
FREE = 48  # bytes that every input is taken to have more; with caches that other tests have filled, more is read anew
# A compressed input counts by what comes out of it, which the limit of the target bounds.
COMPRESSED = {"compressed", "bomb"}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", target_names())
def test_every_seed_takes_steps_in_proportion_to_its_bytes(name: str) -> None:
    target = load(name)
    for seed, data in target.seeds():
        target.check(data)  # what is built once is not counted
        if seed not in COMPRESSED:
            room = FREE + (DATA_FILE if name in OF_DATA_FILES else 0)
            assert count_steps(target.check, data) <= STEPS * (len(data) + room), seed


def objects(count: int) -> bytes:
    return encode({f"k{number}": [number] for number in range(count)})


def same_key(count: int) -> bytes:
    """Members that all point to one key."""
    head = 4 + 7 * count
    entries = struct.pack("<HH", head, 20) * count + b"\x04\x00\x00" * count
    return b"\x00" + struct.pack("<HH", count, head + 20) + entries + b"k" * 20


def same_child(count: int) -> bytes:
    """Elements that are all the same small array."""
    head = 4 + 3 * count
    return (
        b"\x02" + struct.pack("<HH", count, head + 4) + struct.pack("<BH", 2, head) * count + struct.pack("<HH", 0, 4)
    )


def framed(rows: bytes) -> bytes:
    return reframed(struct.pack("<IBIIIH", 0, 30, 1, 0, 0, 0) + PLAIN.table_id.to_bytes(6, "little") + rows)


DOCUMENTS: dict[str, Callable[[int], bytes]] = {
    "shared": documents.shared,
    "deep": documents.nested,
    "objects": objects,
    "same key": same_key,
    "same child": same_child,
    "long string": lambda size: encode("x" * size),
}
HOSTILE: dict[str, dict[str, Callable[[int], bytes]]] = {
    **dict.fromkeys(("jsonb-decode", "jsonb-differential", "jsonb-encode", "jsonb-text"), DOCUMENTS),
    "jsonb-compare": {
        "shared and equal": lambda size: join(
            documents.shared(size // 4, encode([1])), documents.shared(size // 4, encode([UInt(1)])), b""
        ),
        "objects": lambda size: join(objects(size), objects(size), objects(size)),
    },
    "json-text": {"brackets": lambda size: b"[" * size, "numbers": lambda size: b"1" * size},
    "path": {"members": lambda size: b"$" + b".a" * size, "stars": lambda size: b"$" + b"** " * size},
    "diffs": {
        "removals": lambda size: diff(2, b"$.a", None) * size,
        "shared": lambda size: diff(data=documents.shared(size)),
    },
    "applier": {
        "appends": lambda size: join(encode([]), diff(1, b"$[0]", encode(1)) * size),
        "replaces": lambda size: join(
            encode({"a": 1}), (diff(0, b"$.a", encode(1)) + diff(0, b"$.a", encode(2))) * size
        ),
    },
    "events": {
        "rows without columns": lambda size: framed(b"\x00\x00\x02\x00\x02\x00" + bytes(size)),
        "every column": lambda size: framed(b"\x00\x00\x02\x00\xfd\xff\xff\xff" + b"\xff" * size),
        "intervals": lambda size: reframed(struct.pack("<IBIIIH", 0, 35, 1, 0, 0, 0) + b"\xff" * 7 + bytes(size)),
    },
    "explain": {"rows without columns": lambda size: framed(b"\x00\x00\x02\x00\x02\x00" + bytes(size))},
    "gtid-set": {"text": lambda size: b"0b1a5000-0000-4000-8000-000000000093" + b":1" * size},
    "statements": {
        "quotes": lambda size: b"\\'" * size,
        "comments": lambda size: b"/* " * size,
        "ends": lambda size: b";" * size,
        "columns": lambda size: b"create table t (" + b",".join(b"c%d int" % place for place in range(size)) + b")",
        "brackets": lambda size: b"create table t " + b"(" * size,
    },
    "table-metadata": {"fields": lambda size: b"\0" + PLAIN.encode() + b"\x04\x00" * size},
    "boundaries": {"groups": lambda size: dict(file_seeds())["empty"] * size},
}


@pytest.mark.parametrize(("name", "family"), [(name, family) for name in HOSTILE for family in HOSTILE[name]])
def test_twice_the_input_takes_about_twice_the_steps(name: str, family: str) -> None:
    target, make = load(name), HOSTILE[name][family]
    target.check(make(4))
    small, large = make(40), make(80)
    first, second = (count_steps(target.check, data) for data in (small, large))
    assert second <= 2.6 * first * max(1, len(large) / len(small) / 2) + 500


def test_counting_ends_where_the_work_does_not() -> None:
    def endless() -> None:
        for _ in range(100_000):
            decode(b"\x05\x01\x00")

    with pytest.raises(TooManySteps):
        count_steps(endless, limit=1000)


def test_a_call_that_does_twice_the_work_takes_twice_the_steps() -> None:
    data = encode(list(range(10)))

    def times(count: int) -> None:
        for _ in range(count):
            decode(data)

    assert count_steps(times, 20) == 2 * count_steps(times, 10) > 0


@pytest.mark.parametrize("size", [2_000, 4_000])
@pytest.mark.parametrize("what", ["string", "key"])
def test_shared_bytes_are_not_copied_for_every_entry(what: str, size: int) -> None:
    if what == "string":
        long = encode("s" * size)[1:]
        head = 8 + 5 * size
        data = b"\x03" + struct.pack("<II", size, head + len(long)) + struct.pack("<BI", 12, head) * size + long
    else:
        head = 8 + 11 * size
        entries = struct.pack("<IH", head, size) * size + b"\x04\x00\x00\x00\x00" * size
        data = b"\x01" + struct.pack("<II", size, head + size) + entries + b"k" * size
    tracemalloc.start()
    try:
        with pytest.raises(Exception, match="share"):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(data)
    finally:
        tracemalloc.stop()
