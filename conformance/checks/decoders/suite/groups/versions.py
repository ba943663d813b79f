"""Logs of other versions: row events of version 1, descriptions and TABLE_MAPs of older servers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, Written, recorded, words
from conformance.checks.decoders.suite.rewrite import ROWS, laid, parts_of, with_map
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum
from conformance.requirements.reading import described_lengths

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.rewrite import Part
    from conformance.reference.tables.table_map import TableMap

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, a BIGINT, v VARCHAR(300), d DECIMAL(10,2), m DATETIME, k BLOB)"
_BASE: Final = "versions/base-minimal"
_V1: Final = {30: 23, 31: 24, 32: 25}
_EXTRA: Final = slice(8, 10)  # the length of the extra data, which version 1 has not


def _old(version: str, *, first: bool, metadata: bool, gtids: bool = True, algorithm: int = Checksum.CRC32) -> Written:
    number = version.partition("-")[0]
    what = f"row events of version {1 if first else 2}, {'with' if metadata else 'without'} optional metadata"

    def build(bases: Mapping[str, DecoderCase]) -> bytes:
        lengths = described_lengths(version)
        parts = with_map(parts_of(bases[_BASE]), lambda table: table if metadata else _bare(table))
        out: list[Part] = []
        for part in parts:
            body = part.body
            if isinstance(body, FormatDescription):
                part = replace(part, body=replace(body, server_version=version, post_header_lengths=lengths))
            elif (isinstance(body, Gtid) and not gtids) or (part.type == 35 and not gtids):
                continue
            elif first and part.type in ROWS:
                assert isinstance(body, Opaque)
                part = replace(part, body=Opaque(type=_V1[part.type], data=body.data[:8] + body.data[10:]))
            out.append(part)
        return laid(out, algorithm=algorithm)

    return Written(
        id=f"versions/{number}-rows-v{1 if first else 2}{'' if metadata else '-bare'}", title=f"A log of {number}: {what}",
        why="Old logs are kept for years, and old servers still write: version 1 has no extra data in front of the images.", requirements=words("DEC21 DEC15"),
        build=build, same_as=_BASE,
    )  # fmt: skip


def _bare(table: TableMap) -> TableMap:
    return replace(table, metadata=())


CASES: Final = (
    recorded(
        "versions/base-minimal", "A log of 9.7 without column names", "What logs of older versions hold, as the newest server writes it.", "DEC15 DEC21", setting=Setting(metadata="MINIMAL"),
        prepare=_TABLE, statements=("INSERT INTO t VALUES (1, -2, 'one', -1.50, '2024-02-29 12:00:00', x'00ff'), (2, NULL, NULL, NULL, NULL, NULL)", "UPDATE t SET a = 9, v = 'two' WHERE id = 1", "DELETE FROM t WHERE id = 2"),
    ),
    _old("5.6.51-log", first=True, metadata=False),
    _old("5.6.51-log", first=False, metadata=False),
    _old("5.7.44-log", first=True, metadata=False),
    _old("5.7.44-log", first=False, metadata=False),
    _old("5.5.62-log", first=True, metadata=False, gtids=False, algorithm=Checksum.UNDEFINED),
    _old("8.0.43", first=False, metadata=True),
    _old("8.0.43", first=True, metadata=True),
    _old("8.4.6", first=False, metadata=True),
)  # fmt: skip
