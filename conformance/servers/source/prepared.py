"""Prepared statements of one session: parameters become literals, results go out in the binary form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Final

from conformance.servers.errors import ProtocolError
from conformance.servers.source.packets import EOF, OK, Refused, Rows, counted, definitions, is_numeric
from conformance.servers.wire.packets import lenenc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.source.packets import Value

# A question mark outside quotes is a parameter. A quoted text is matched first, as group 1, and stays as it is.
_HOLE: Final = re.compile(r"('(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`)|\?", re.DOTALL)
_NUMBERS: Final = {1: Struct("<b"), 2: Struct("<h"), 3: Struct("<i"), 8: Struct("<q"), 9: Struct("<i")}
_UNSIGNED: Final = {1: Struct("<B"), 2: Struct("<H"), 3: Struct("<I"), 8: Struct("<Q"), 9: Struct("<I")}
_FLOATS: Final = {4: Struct("<f"), 5: Struct("<d")}
_TEXTS: Final = frozenset((15, 245, 246, 249, 250, 251, 252, 253, 254))
_NULL: Final = 6
_HEAD: Final = Struct("<IBI")
_PREPARED: Final = Struct("<BIHHxH")
_MOST: Final = 1000  # statements of a session


@dataclass(slots=True)
class _Statement:
    sql: str
    holes: int
    types: tuple[int, ...] = ()


class PreparedStatements:
    """The statements of a session; ``answer`` executes a text."""

    def __init__(self, answer: Callable[[str], Rows | None]) -> None:
        self._answer = answer
        self._statements: dict[int, _Statement] = {}
        self._last = 0

    def prepare(self, sql: str) -> Iterator[bytes]:
        """Answer COM_STMT_PREPARE. To know the result's columns, a SELECT is run with NULL for every parameter."""
        holes = sum(not found[1] for found in _HOLE.finditer(sql))
        result = self._answer(_filled(sql, ["NULL"] * holes)) if sql.lstrip()[:6].upper() == "SELECT" else None
        if len(self._statements) >= _MOST:
            raise Refused(1461, "42000", "Can't create more than max_prepared_stmt_count statements")
        self._last += 1
        self._statements[self._last] = _Statement(sql, holes)
        columns = result.columns if result else ()
        yield _PREPARED.pack(0, self._last, len(columns), holes, 0)
        if holes:
            yield from definitions(Rows(("?",) * holes))
            yield EOF
        if result is not None:
            yield from definitions(result)
            yield EOF

    def execute(self, body: bytes) -> Iterator[bytes]:
        """Answer COM_STMT_EXECUTE."""
        try:
            number, _, _ = _HEAD.unpack_from(body)
            statement = self._statements[number]
            result = self._answer(_filled(statement.sql, _parameters(statement, body[_HEAD.size :])))
        except (struct_error, IndexError, KeyError, ProtocolError) as error:
            raise Refused(1243, "HY000", "Unknown prepared statement handler given to EXECUTE") from error
        if result is None:
            yield OK
            return
        yield bytes((len(result.columns),))
        yield from definitions(result)
        yield EOF
        numeric = [is_numeric(result, column) for column in range(len(result.columns))]
        for row in result.rows:
            yield _row(row, numeric)
        yield EOF

    def close(self, body: bytes) -> None:
        """Take COM_STMT_CLOSE, which has no answer."""
        self._statements.pop(int.from_bytes(body[:4], "little"), None)


def _filled(sql: str, literals: list[str]) -> str:
    values = iter(literals)
    return _HOLE.sub(lambda found: found[1] or next(values, "NULL"), sql)


def _parameters(statement: _Statement, data: bytes) -> list[str]:
    """The parameters as literals."""
    count = statement.holes
    if not count:
        return []
    nulls, at = data[: (count + 7) // 8], (count + 7) // 8
    if data[at]:
        at += 1
        statement.types = tuple(int.from_bytes(data[at + 2 * n : at + 2 * n + 2], "little") for n in range(count))
        at += 2 * count
    else:
        at += 1
    out = []
    for number, kind in enumerate(statement.types):
        if nulls[number // 8] >> number % 8 & 1 or kind & 0xFF == _NULL:
            out.append("NULL")
            continue
        value, at = _value(kind, data, at)
        out.append(value)
    return out


def _value(kind: int, data: bytes, at: int) -> tuple[str, int]:
    code, unsigned = kind & 0xFF, bool(kind & 0x8000)
    if code in _NUMBERS:
        form = (_UNSIGNED if unsigned else _NUMBERS)[code]
        return str(form.unpack_from(data, at)[0]), at + form.size
    if code in _FLOATS:
        form = _FLOATS[code]
        return repr(form.unpack_from(data, at)[0]), at + form.size
    if code in _TEXTS:
        length, at = lenenc(data, at)
        text = data[at : at + length].decode("utf-8", "replace").replace("\\", "\\\\").replace("'", "''")
        return f"'{text}'", at + length
    raise ProtocolError(f"a parameter of type {code}")


def _row(row: tuple[Value, ...], numeric: list[bool]) -> bytes:
    nulls = bytearray((len(row) + 9) // 8)
    out = b""
    for number, value in enumerate(row):
        if value is None:
            nulls[(number + 2) // 8] |= 1 << (number + 2) % 8
        elif numeric[number]:
            out += int(value).to_bytes(8, "little", signed=True)
        else:
            out += counted(value if isinstance(value, bytes) else str(value).encode())
    return b"\0" + bytes(nulls) + out
