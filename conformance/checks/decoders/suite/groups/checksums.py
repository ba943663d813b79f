"""Checksums: CRC32, none, and wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import Allowed
from conformance.checks.decoders.suite.declare import Setting, Written, recorded, words
from conformance.checks.decoders.suite.rewrite import CHECKSUM, damaged_at, event_end, index_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.cases.decoder_case import DecoderCase

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, v VARCHAR(20))"
_INSERTS: Final = ("INSERT INTO t VALUES (1, '{\"a\": 1}', 'one')", "INSERT INTO t VALUES (2, NULL, 'two')")
_BASE: Final = "checksums/crc32"


def _wrong(*types: int, nth: int = 0) -> Callable[[Mapping[str, DecoderCase]], bytes]:
    def build(bases: Mapping[str, DecoderCase]) -> bytes:
        case = bases[_BASE]
        end = event_end(case.log, index_of(parts_of(case), *types, nth=nth))
        return damaged_at(case.log, end - CHECKSUM, bytes(byte ^ 0xFF for byte in case.log[end - CHECKSUM : end]))

    return build


def _written(name: str, title: str, *types: int, nth: int = 0) -> Written:
    return Written(
        id=f"checksums/{name}", title=title, why="A decoder that verifies checksums refuses, one that does not reads on: both are right, half a row is not.",
        requirements=words("DEC19"), allowed=Allowed.CHANGES_OR_ERROR, needs=("file",), build=_wrong(*types, nth=nth), same_as=_BASE,
    )  # fmt: skip


CASES: Final = (
    recorded("checksums/crc32", "CRC32 behind each event", "Four bytes belong to no column: left in the row, the last value is too long.", "DEC19", setting=Setting(), prepare=_TABLE, statements=_INSERTS),
    recorded("checksums/none", "No checksums", "The first event has one nevertheless; four bytes cut off the others are data.", "DEC19", setting=Setting(checksum="NONE"), prepare=_TABLE, statements=_INSERTS),
    recorded("checksums/none-partial", "Partial updates without checksums", "The list of diffs ends at the last byte of the event.", "DEC19 DEC3", setting=Setting(checksum="NONE", partial=True), prepare=("CREATE TABLE t (id INT PRIMARY KEY, j JSON)", "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)))"), statements="UPDATE t SET j = JSON_SET(j, '$.a', 2)"),
    recorded("checksums/none-document-last", "A document as the last value, without checksums", "Nothing stands behind the document.", "DEC19 DEC7", setting=Setting(checksum="NONE"), prepare="CREATE TABLE t (id INT PRIMARY KEY, j JSON)", statements="INSERT INTO t VALUES (1, '{\"a\": [1, 2]}')"),
    _written("wrong-at-rows", "A wrong checksum at a rows event", 30),
    _written("wrong-at-last-rows", "A wrong checksum at the last rows event", 30, nth=-1),
    _written("wrong-at-table-map", "A wrong checksum at a TABLE_MAP", 19),
    _written("wrong-at-gtid", "A wrong checksum at the first GTID event", 34),
    _written("wrong-at-commit", "A wrong checksum at the XID", 16),
)  # fmt: skip
