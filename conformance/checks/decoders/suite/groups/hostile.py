"""Damaged logs: cut off, with wrong lengths, with bytes that are no values. Each begins with a transaction that is whole.

None of them crashes a released MySQL program: the recorder runs mysqlbinlog on each, and documents with damaged names,
which do, are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Allowed
from conformance.checks.decoders.suite.declare import Setting, Written, recorded, words
from conformance.checks.decoders.suite.rewrite import (
    ROWS,
    damaged_at,
    index_of,
    inserted,
    laid,
    offsets,
    parts_of,
    with_rows,
)
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.reference.binlog.rows import RowsBody

    Bases = Mapping[str, DecoderCase]

_BASE: Final = "hostile/base"
_DIFFS: Final = "hostile/base-diffs"
_COLUMN: Final = ("j", "@2")  # of the documents
_DAMAGED: Final = (
    "Damage must end in an error, and what came before it must arrive: neither a crash, nor a hang, nor silence."
)


def _case(
    name: str,
    title: str,
    build: Callable[[Bases], bytes],
    *,
    base: str = _BASE,
    changes: tuple[int, ...] = (0,),
    why: str = _DAMAGED,
    allowed: Allowed = Allowed.ERROR,
    open_changes: tuple[int, ...] = (),
    damaged: tuple[str, ...] | None = None,
    requirements: str = "DEC22",
) -> Written:
    return Written(
        id=f"hostile/{name}",
        title=title,
        why=why,
        requirements=words(requirements),
        allowed=allowed,
        needs=("file",),
        build=build,
        same_as=base,
        changes=changes,
        rolled_back=open_changes,
        damaged=damaged,
    )


# --- cut off ---------------------------------------------------------------------------------------------------------


def _cut(name: str, title: str, code: int, nth: int, inside: int, changes: tuple[int, ...]) -> Written:
    """Cut ``inside`` bytes behind the start of an event. What the cut transaction has is never committed."""

    def build(bases: Bases) -> bytes:
        case = bases[_BASE]
        return case.log[: offsets(case.log)[index_of(parts_of(case), code, nth=nth)] + inside]

    return _case(
        f"cut-{name}", f"Cut off {title}", build, changes=changes, open_changes=changes[nth:] if nth > 0 else ()
    )


_CUT: Final = (
    _cut("in-description", "inside of the first event", 15, 0, 40, ()),
    _cut("in-previous-gtids", "inside of the second event", 35, 0, 22, ()),
    _cut("in-header", "inside of an event's header", 34, 1, 7, (0,)),
    _cut("in-gtid", "inside of a GTID event", 34, 1, 30, (0,)),
    _cut("in-query", "inside of BEGIN", 2, 1, 33, (0,)),
    _cut("in-table-map", "inside of a TABLE_MAP", 19, 1, 40, (0,)),
    _cut("in-rows", "inside of a rows event", 30, 1, 35, (0,)),
    _cut("in-commit", "inside of the XID: the rows are there, the commit is not", 16, 1, 25, (0, 1)),
    _cut("before-last-byte", "one byte before the end of the file", 4, -1, 43, (0, 1)),
)

# --- lengths ---------------------------------------------------------------------------------------------------------


def _length(name: str, title: str, length: int) -> Written:
    def build(bases: Bases) -> bytes:
        case = bases[_BASE]
        place = offsets(case.log)[index_of(parts_of(case), 30, nth=1)]
        return damaged_at(case.log, place + 9, length.to_bytes(4, "little"))

    return _case(f"event-length-{name}", f"A rows event whose length is {title}", build)


def _plain(name: str, title: str, data: bytes, why: str = "Such files are given to decoders every day.") -> Written:
    return _case(name, title, lambda _: data, changes=(), why=why)


_LENGTHS: Final = (
    _length("18", "less than a header", 18),
    _length("20", "too small for its fields", 20),
    _length("largest", "four gigabytes", 0xFFFFFFFF),
    _length("plus-1", "one byte too much", 0x10000),
    _plain("empty-file", "A file of no bytes", b""),
    _plain("magic-alone-cut", "Two bytes of the magic number", b"\xfeb"),
    _plain("other-magic", "A file that is no binary log", b"PK\x03\x04 this is a zip file, and not a log of any kind"),
    _plain(
        "encrypted",
        "An encrypted log",
        b"\xfdbin\x01\x01\x00\x00\x00" + bytes(503),
        why="Encrypted logs have another magic number: to say so is the right answer.",
    ),
    _plain("zeros", "A file of zeros", bytes(600)),
)

# --- bodies ----------------------------------------------------------------------------------------------------------


def _body(
    name: str,
    title: str,
    code: int,
    change: Callable[[bytearray], object],
    *,
    nth: int = 1,
    why: str = _DAMAGED,
    changes: tuple[int, ...] = (0,),
    damaged: tuple[str, ...] | None = None,
) -> Written:
    """Another body in the second transaction, with a checksum that is right."""

    def build(bases: Bases) -> bytes:
        parts = parts_of(bases[_BASE])
        place = index_of(parts, code, nth=nth)
        return laid([*parts[:place], parts[place].raw(change), *parts[place + 1 :]])

    return _case(name, title, build, why=why, changes=changes, open_changes=changes[nth:], damaged=damaged)


def _put(place: int, data: bytes) -> Callable[[bytearray], object]:
    return lambda body: body.__setitem__(slice(place, place + len(data)), data)


def _drop(count: int) -> Callable[[bytearray], object]:
    return lambda body: body.__delitem__(slice(len(body) - count, None))


def _without_map(bases: Bases) -> bytes:
    parts = parts_of(bases[_BASE])
    place = index_of(parts, 19, nth=1)
    return laid(
        [
            *(
                part.raw(_put(0, b"\x63\x01\0\0\0\0")) if number == place + 1 else part
                for number, part in enumerate(parts)
                if number != place
            )
        ]
    )


def _event(name: str, title: str, code: int, data: bytes, *, why: str = _DAMAGED) -> Written:
    """An event with an impossible body behind all transactions: whoever passes over it loses no row of another."""

    def build(bases: Bases) -> bytes:
        parts = parts_of(bases[_BASE])
        return laid(inserted(parts, len(parts) - 1, Opaque(type=code, data=data)))

    return _case(name, title, build, why=why, changes=(0, 1))


_BODIES: Final = (
    _case(
        "rows-without-table-map",
        "Rows whose TABLE_MAP is missing",
        _without_map,
        why="Without it nobody knows the types: guessing with an older TABLE_MAP gives invented rows.",
    ),
    _body("rows-cut", "A rows event that lacks the last 5 bytes of its row", 30, _drop(5)),
    _body(
        "rows-one-byte-more", "A rows event with one byte too many", 30, lambda body: body.extend(b"\0"), changes=(0, 1)
    ),
    _body("rows-column-count", "A rows event with more columns than its TABLE_MAP", 30, _put(10, b"\x09")),
    _body(
        "rows-extra-too-long",
        "A rows event whose extra data are longer than the event",
        30,
        _put(8, b"\xff\xff"),
        damaged=(),
    ),
    _body(
        "rows-extra-too-short",
        "A rows event whose extra data are shorter than their own length",
        30,
        _put(8, b"\x01\x00"),
        damaged=(),
    ),
    _body("table-map-name-too-long", "A TABLE_MAP whose schema name is longer than the event", 19, _put(8, b"\xfa")),
    _body(
        "table-map-count-too-large",
        "A TABLE_MAP with 16 million columns",
        19,
        _put(15, b"\xfd\xff\xff\xff"),
        why="Memory for what a length says, before it is looked at, ends the process.",
    ),
    _body(
        "table-map-no-columns",
        "A TABLE_MAP that ends behind the names",
        19,
        lambda body: body.__delitem__(slice(15, None)),
    ),
    _body(
        "gtid-cut",
        "A GTID event that ends inside of its number",
        34,
        lambda body: body.__delitem__(slice(20, None)),
        damaged=(),
    ),
    _event(
        "previous-gtids-count",
        "A set of GTIDs with 2^47 entries",
        35,
        b"\0\0\0\0\0\x80\0\0",
        why="Memory for what a count says, before it is looked at, ends the process.",
    ),
    _event("tagged-gtid-size", "A tagged GTID whose message is longer than the event", 42, b"\x02\xfe\x02\x00\x00"),
    _event("payload-empty", "A payload event without fields", 40, b"\0"),
    _event("payload-truncated-field", "A payload event that ends inside of a field", 40, b"\x02\x01"),
    _event(
        "payload-size-too-large",
        "A payload that says it has more bytes than the event",
        40,
        b"\x02\x01\x00\x01\x03\xfc\xff\xff\x00abc",
    ),
    _event(
        "payload-not-zstd",
        "A payload that is not compressed as it says",
        40,
        TransactionPayload(payload=b"these are no compressed bytes", uncompressed_size=100).encode(),
    ),
    _event(
        "payload-unknown-compression",
        "A payload with a compression that nobody knows",
        40,
        TransactionPayload(payload=b"abc", compression=77, uncompressed_size=3).encode(),
    ),
    _event(
        "payload-nested",
        "A payload inside of a payload",
        40,
        TransactionPayload(
            payload=bytes(4) + b"\x28" + bytes(4) + (20).to_bytes(4, "little") + bytes(6) + b"\0",
            compression=255,
            uncompressed_size=20,
        ).encode(),
        why="Without a limit, payloads in payloads grow without end.",
    ),
    _event(
        "payload-garbage-inside",
        "A payload whose content is no events",
        40,
        TransactionPayload(payload=b"\xff" * 40, compression=255, uncompressed_size=40).encode(),
    ),
)

# --- documents and diffs ---------------------------------------------------------------------------------------------


def _document(
    name: str,
    title: str,
    document: bytes,
    *,
    why: str = _DAMAGED,
    allowed: Allowed = Allowed.ERROR,
    changes: tuple[int, ...] = (0,),
) -> Written:
    """Another document in the second transaction."""

    def change(body: RowsBody) -> RowsBody:
        first = next(iter(body.rows)).after
        assert first is not None
        return replace(body, rows=(Row(None, (first[0], document, *first[2:])),))

    return _case(
        f"document-{name}",
        title,
        lambda bases: laid(with_rows(parts_of(bases[_BASE]), change, nth=1)),
        why=why,
        allowed=allowed,
        changes=changes,
        damaged=_COLUMN,
    )


def _u2(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(2, "little") for number in numbers)


_DEEP: Final = 2000


def _nested(levels: int) -> bytes:
    data = _u2(0, 4)
    for _ in range(levels):
        data = _u2(1, 7 + len(data)) + b"\x02" + _u2(7) + data
    return b"\x02" + data


def _shared(levels: int) -> bytes:
    """Arrays in arrays, whose two cells are one and the same array each."""
    data = _u2(0, 4)
    for _ in range(levels):
        data = _u2(2, 10 + len(data)) + (b"\x02" + _u2(10)) * 2 + data
    return b"\x02" + data


_DOCUMENTS: Final = (
    _document("shared-children", "Twelve levels of arrays whose cells are one and the same array", _shared(12), why="130 bytes stand for 4,096 arrays: with more levels memory and time grow without end."),
    _document("unknown-type", "A document of a type that does not exist", b"\x0d\x00"),
    _document("count-too-large", "An array of 65,535 cells in eight bytes", b"\x02" + _u2(0xFFFF, 8) + bytes(4)),
    _document("size-too-large", "An array that is larger than the value", b"\x02" + _u2(1, 500) + b"\x05" + _u2(1)),
    _document("value-outside", "A value that stands outside of the array", b"\x02" + _u2(1, 8) + b"\x0c" + _u2(900) + b"\0"),
    _document("value-in-header", "A value that stands in the header of its array", b"\x02" + _u2(1, 10) + b"\x02" + _u2(0) + bytes(3), why="An array that contains itself never ends."),
    _document("string-too-long", "A string that is longer than the value", b"\x0c\x7fabc"),
    _document("string-length-endless", "A string whose length never ends", b"\x0c" + b"\xff" * 12),
    _document("literal-unknown", "A literal that does not exist", b"\x04\x07"),
    _document("number-cut", "A double of five bytes", b"\x0b" + bytes(5)),
    _document("opaque-cut", "An opaque value without its length", b"\x0f\xf6"),
    _document("opaque-too-long", "An opaque value that is longer than the document", b"\x0f\xf6\x7f\x05\x02"),
    _document("deep-101", "An array 101 levels deep", _nested(100), why="The server refuses what is deeper than 100 levels."),
    _document("deep-2000", f"An array {_DEEP} levels deep", _nested(_DEEP), why="Recursion without a limit ends the process."),
)  # fmt: skip


def _list(name: str, title: str, diffs: bytes, *, why: str = _DAMAGED, allowed: Allowed = Allowed.ERROR) -> Written:
    """Another list of diffs in the second transaction."""

    def change(body: RowsBody) -> RowsBody:
        row = next(iter(body.rows))
        assert row.after is not None
        after = tuple(PartialJson(diffs) if isinstance(value, PartialJson) else value for value in row.after)
        return replace(body, rows=(Row(row.before, after),))

    return _case(
        f"diffs-{name}",
        title,
        lambda bases: laid(with_rows(parts_of(bases[_DIFFS]), change, nth=1)),
        base=_DIFFS,
        why=why,
        allowed=allowed,
        requirements="DEC22 DEC3",
        damaged=_COLUMN,
    )


def _list_length(name: str, title: str, length: int) -> Written:
    """Another length in front of the list; the list itself stays."""

    def build(bases: Bases) -> bytes:
        parts = parts_of(bases[_DIFFS])
        place = index_of(parts, *ROWS, nth=1)
        body: Any = parts[place].body
        (value,) = [item for item in body.rows[0].after if isinstance(item, PartialJson)]
        data = body.encode()
        at = data.index(len(value.diffs).to_bytes(4, "little") + value.diffs)
        return laid([*parts[:place], parts[place].raw(_put(at, length.to_bytes(4, "little"))), *parts[place + 1 :]])

    return _case(f"diffs-length-{name}", title, build, base=_DIFFS, requirements="DEC22 DEC3")


_NUMBER: Final = encode(2)
_LISTS: Final = (
    _list("unknown-operation", "A diff with an operation that does not exist", b"\x03\x03$.a" + bytes([len(_NUMBER)]) + _NUMBER),
    _list("path-too-long", "A diff whose path is longer than the list", b"\x00\x7f$.a"),
    _list("value-too-long", "A diff whose value is longer than the list", b"\x00\x03$.a\x7f\x05\x02\x00"),
    _list("value-missing", "A REPLACE without a value", b"\x00\x03$.a"),
    _list("operation-alone", "A list of one byte", b"\x00"),
    _list("value-no-document", "A diff whose value is no document", b"\x00\x03$.a\x02\x0d\x00"),
    _list("value-cut-document", "A diff whose value is a string that goes on behind it", b"\x00\x03$.a\x03\x0c\x50x"),
    _list_length("too-large", "A list whose length goes beyond the event", 5000),
    _list_length("largest", "A list of four gigabytes", 0xFFFFFFFF),
    _list_length("too-small", "A list whose length ends inside of a diff", 3),
)  # fmt: skip

CASES: Final = (
    recorded("hostile/base", "Two transactions, whole", "The log that the damaged ones are made of.", "DEC22 DEC21", setting=Setting(), prepare="CREATE TABLE t (id INT PRIMARY KEY, j JSON, v VARCHAR(20))", statements=("INSERT INTO t VALUES (1, '{\"a\": 1}', 'one')", "INSERT INTO t VALUES (2, '[1, 2]', 'two')")),
    recorded("hostile/base-diffs", "Two partial updates, whole", "The log that those with damaged diffs are made of.", "DEC22 DEC1", setting=Setting(partial=True), prepare=("CREATE TABLE t (id INT PRIMARY KEY, j JSON, v VARCHAR(20))", "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)), 'one')"), statements=("UPDATE t SET j = JSON_SET(j, '$.a', 2)", "UPDATE t SET j = JSON_SET(j, '$.a', 3)")),
    *_CUT, *_LENGTHS, *_BODIES, *_DOCUMENTS, *_LISTS,
)  # fmt: skip
