"""Pseudo-SQL of made-up rows of every type, with made-up documents and diffs, against mysqlbinlog itself."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from decimal import Decimal
from random import Random
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog.rows import (
    DELETE_TYPES,
    UPDATE_TYPES,
    WRITE_TYPES,
    PartitionInfo,
    Row,
    decode_rows_event,
    rows_body,
)
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.metadata import Numbers
from conformance.reference.tables.table_map import TableMap
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp
from conformance.reference.text.pseudo_sql import row_lines
from conformance.servers.errors import ServerUnavailable
from generators.documents import document, value
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live
BITS = {types.TINY: 8, types.SHORT: 16, types.INT24: 24, types.LONG: 32, types.LONGLONG: 64}
DOUBLES = (0.1, 1e5, 1e20, 1e21, 1e22, 123456789012345678.0, 1e-5, 5e-324, -0.0)
LEGS = (".a", '."k k"', "[0]", "[last]", "[last-1]", '."a]"', ".ü", "[12]", '."\\""', '."it\'s"')
AWKWARD = (0, 9, 10, 39, 92, 34, 65, 200)
ROWS = (EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS)


class Maker:
    """Tables and rows that a server could write."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.draw = Stream("pseudo-sql", seed)

    def fraction(self, digits: int) -> int:
        unit: int = 10 ** (6 - digits)
        return self.random.randrange(10**digits) * unit

    def decimal(self, precision: int, scale: int) -> Decimal:
        digits = [self.random.randrange(10) if self.random.random() < 0.7 else 0 for _ in range(precision)]
        return Decimal((self.random.randrange(2) if any(digits) else 0, tuple(digits), -scale))

    def time(self, digits: int) -> Time:
        hour, minute, second = map(self.random.randrange, (839, 60, 60))
        made = Time(False, hour, minute, second, self.fraction(digits))
        return made._replace(negative=any(made[1:]) and self.random.random() < 0.5)

    def vector(self) -> bytes:
        return b"".join(pack("<f", self.random.uniform(-1e6, 1e6)) for _ in range(self.random.randrange(1, 6)))

    def datetime(self, digits: int) -> Datetime:
        year, month, day, hour, minute, second = map(self.random.randrange, (10000, 13, 32, 24, 60, 60))
        return Datetime(year, month, day, hour, minute, second, self.fraction(digits))

    def string(self, length: int) -> bytes:
        random = self.random
        return bytes(random.choice((*AWKWARD, random.randrange(256))) for _ in range(random.randrange(length + 1)))

    def column(self) -> tuple[ColumnType, Callable[[], Any]]:
        """A type, and what makes values of it."""
        random = self.random
        digits = random.randrange(7)
        kind = random.randrange(17)
        if kind == 0:
            code = random.choice(list(BITS))
            half = 1 << BITS[code] - 1
            return ColumnType(code), lambda: random.choice((0, -1, -half, half - 1, random.randrange(-half, half)))
        if kind == 1:
            return ColumnType(types.FLOAT, 4), lambda: unpack("<f", pack("<I", random.getrandbits(32)))[0]
        if kind == 2:
            return ColumnType(types.DOUBLE, 8), lambda: random.choice((*DOUBLES, unpack("<d", random.randbytes(8))[0]))
        if kind == 3:
            precision = random.randrange(1, 66)
            scale = random.randrange(min(30, precision) + 1)
            return ColumnType(types.NEWDECIMAL, precision | scale << 8), lambda: self.decimal(precision, scale)
        if kind == 4:
            bits = random.randrange(1, 65)
            return ColumnType(types.BIT, bits % 8 | bits // 8 << 8), lambda: random.getrandbits(bits)
        if kind == 5:
            return ColumnType(types.YEAR), lambda: random.choice((0, random.randrange(1901, 2156)))
        if kind == 6:
            return ColumnType(types.DATE), lambda: Date(*map(random.randrange, (10000, 13, 32)))
        if kind == 7:
            return ColumnType(types.TIME2, digits), lambda: self.time(digits)
        if kind == 8:
            return ColumnType(types.DATETIME2, digits), lambda: self.datetime(digits)
        if kind == 9:
            return ColumnType(types.TIMESTAMP2, digits), lambda: Timestamp(
                random.randrange(1 << 31), self.fraction(digits)
            )
        if kind == 10:
            size = random.randrange(1, 1020)
            metadata = (types.STRING ^ (size & 0x300) >> 4) | (size & 0xFF) << 8
            return ColumnType(types.STRING, metadata), lambda: self.string(min(size, 40))
        if kind == 11:
            size = random.randrange(1, 60000)
            return ColumnType(types.VARCHAR, size), lambda: self.string(min(size, 300))
        if kind == 12:
            prefix = random.randrange(1, 5)
            return ColumnType(types.BLOB, prefix), lambda: self.string(250)
        if kind == 13:
            width = random.choice((1, 2))
            return ColumnType(types.STRING, types.ENUM | width << 8), lambda: random.randrange(1 << 8 * width)
        if kind == 14:
            width = random.choice((1, 2, 3, 4, 8))
            return ColumnType(types.STRING, types.SET | width << 8), lambda: random.getrandbits(8 * width)
        if kind == 15:
            return ColumnType(types.VECTOR, 4), self.vector
        return ColumnType(types.JSON, 4), lambda: encode(document(self.draw))

    def diffs(self) -> PartialJson:
        out = b""
        for _ in range(self.random.choice((0, 1, 1, 2, 3, 6))):
            operation = self.random.choice(list(Operation))
            path = parse_path("$" + "".join(self.random.choices(LEGS, k=self.random.randrange(1, 4))))
            out += encode_diff(operation, path, None if operation is Operation.REMOVE else encode(value(self.draw)))
        return PartialJson(out)

    def table(self, number: int) -> tuple[TableMap, list[Callable[[], Any]]]:
        columns = [self.column() for _ in range(self.random.randrange(1, 14))]
        vectors = [self.random.randrange(1, 9) for column, _ in columns if column.type == types.VECTOR]
        table = TableMap(
            table_id=number,
            schema="d",
            table=f"t{number}",
            columns=tuple(column for column, _ in columns),
            nullable=tuple(self.random.random() < 0.7 for _ in columns),
            metadata=(Numbers(13, tuple(vectors)),) if vectors else (),
        )
        return table, [make for _, make in columns]

    def row(self, table: TableMap, makers: list[Callable[[], Any]], code: int, before: list[int]) -> Row:
        def one(index: int) -> Any:
            return None if self.random.random() < 0.15 else makers[index]()

        old = None if code in WRITE_TYPES else tuple(one(index) for index in before)
        new = None if code in DELETE_TYPES else [one(index) for index in range(len(makers))]
        if code == EventType.PARTIAL_UPDATE_ROWS and new is not None:
            for index in table.json_columns:
                if self.random.random() < 0.7:
                    new[index] = self.diffs()
        return Row(old, None if new is None else tuple(new))


@pytest.mark.parametrize("seed", range(4))
def test_made_up_rows_print_as_the_client_prints_them(installation: Installation, tmp_path: Path, seed: int) -> None:
    try:
        program = installation.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(str(error))
    maker = Maker(seed)
    writer = FileWriter(timestamp=1700000000)
    out = [writer.start()]
    ours: dict[str, list[bytes]] = {"-v": [], "-vv": []}
    for number in range(1, 41):
        table, makers = maker.table(number)
        everything = list(range(len(makers)))
        some = [index for index in everything if maker.random.random() < 0.6] or everything
        # Of a VECTOR that is not in the image the client takes the dimension for another one.
        before = everything if any(column.type == types.VECTOR for column in table.columns) else some
        for _ in range(4):
            code = maker.random.choice(ROWS)
            rows = [maker.row(table, makers, code, before) for _ in range(maker.random.randrange(1, 4))]
            body = rows_body(table, code, rows, before=before)
            if maker.random.random() < 0.3:
                body = replace(body, extra=(PartitionInfo(3, 5 if code in UPDATE_TYPES else None),))
            out += [writer.add(table), writer.add(body)]
            event = decode_rows_event(code, body.encode(), {number: table})
            for option, texts in ours.items():
                texts += row_lines(event, types=option == "-vv")
    path = tmp_path / "made.binlog"
    path.write_bytes(b"".join(out))
    for option, texts in ours.items():
        command = [*program, "--no-defaults", option, "--base64-output=decode-rows", str(path)]
        done = subprocess.run(command, capture_output=True, check=True)
        real = [line for line in done.stdout.split(b"\n") if line.startswith(b"###")]
        assert [line for line in b"".join(texts).split(b"\n") if line.startswith(b"###")] == real
