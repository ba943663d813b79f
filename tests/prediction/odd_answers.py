"""A server's answers to odd expressions over one row: recorded, and asked again by a live test."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError, Unsupported
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.stored_text import document_text
from conformance.reference.partial.evaluation import evaluate_document
from conformance.reference.partial.expression import Call, Columns
from conformance.reference.sql.quoting import quote_string
from conformance.reference.sql.row_expressions import RowFacts, read_expression, read_value
from conformance.servers.errors import SqlError
from generators.draw import Stream
from tests.prediction.campaign import prepare
from tests.prediction.odd_statements import odd_expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.run.process import ProcessServer

RECORDED: Final = Path(__file__).parents[1] / "data" / "odd-expressions-9.7.4.json"
_J: Final = (
    '{"n": 1.5, "s": "12", "tags": [1, "x", true, null], "o": {"x": 70000, "y": {"z": ["7"]}}, "log": [], '
    '"price": "9.99", "on": true, "z": -3, "pad": "pppppppppppppppppppppppppppppppppppppppp"}'
)
_K: Final = '{"q": "12y", "r": [1, 2]}'
_ROW: Final = RowFacts(
    {"j": encode(parse_text(_J)), "k": encode(parse_text(_K))},
    {name: read_value(sql, RowFacts({})) for name, sql in (("n", "5"), ("s", "'8text'"), ("d", "2.50"))},
    datetime(2023, 11, 14, 22, 13, 20, 123456),  # noqa: DTZ001 - the session's time zone is UTC
)
NAMES: Final = {
    1264: "ER_WARN_DATA_OUT_OF_RANGE", 1292: "ER_TRUNCATED_WRONG_VALUE", 1365: "ER_DIVISION_BY_ZERO",
    1366: "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD", 1690: "ER_DATA_OUT_OF_RANGE", 3064: "ER_INCORRECT_TYPE",
    3140: "ER_INVALID_JSON_TEXT", 3141: "ER_INVALID_JSON_TEXT_IN_PARAM", 3143: "ER_INVALID_JSON_PATH",
    3144: "ER_INVALID_JSON_CHARSET", 3146: "ER_INVALID_TYPE_FOR_JSON", 3149: "ER_INVALID_JSON_PATH_WILDCARD",
    3153: "ER_JSON_VACUOUS_PATH", 3156: "ER_INVALID_JSON_VALUE_FOR_CAST", 3158: "ER_JSON_DOCUMENT_NULL_KEY",
    3165: "ER_INVALID_JSON_PATH_ARRAY_CELL",
}  # fmt: skip
_OPERANDS: Final = (
    "0", "1", "-3", "n", "d", "2.50", "0.0", "-0.75", "123456789.123456789", "1e0", "2.5e300", "'12'", "' 7x'", "'1e2'",
    "s", "j->'$.n'", "j->>'$.s'", "j->'$.o'", "k->>'$.q'", "k->'$.r[0]'", "NULL", "TRUE", "9223372036854775807",
    "-9223372036854775808", "18446744073709551615", "99999999999999999999999999999999999.5", "IFNULL(s, 1)",
    "-.9", ".91729265902425895470", "999999998.5", "0.000000001",
    "COALESCE(k->'$.q', j)", "CAST(k->'$.none' AS DECIMAL)", "CAST('7' AS UNSIGNED)",
)  # fmt: skip
_CASTS: Final = ("SIGNED", "UNSIGNED", "DECIMAL", "DECIMAL(5,2)", "CHAR", "JSON")
Answer = int | str | None  # the number of an error, or the document's text


def foretold(sql: str) -> Answer:
    """The reference's answer to an expression. Raises :class:`Unsupported` outside the grammar."""
    try:
        made = _made(sql)
    except MysqlError as error:
        return _named(error)
    if made is None:
        return None
    before = _ROW.documents["j"]
    assert before is not None
    # An equal document is not stored: 1.5 stays where 1.50 would come.
    return document_text(before if equal(decode(made), decode(before)) else made)


def _made(sql: str) -> bytes | None:
    """The document, or NULL. Raises the error that the server meets first."""
    refused: MysqlError | None = None
    try:
        expression = read_expression(sql, _ROW).expression
    except MysqlError as error:
        if not isinstance(error.decoded, Call):
            raise
        refused, expression = error, error.decoded  # what the server does before it comes to the error
    made = evaluate_document(expression, _ROW.documents, Columns(tuple(_ROW.documents)))
    if refused is not None and made is not None:
        raise refused
    return made


def _named(error: MysqlError) -> int:
    assert error.symbol == NAMES[error.number]
    return error.number


def sums() -> Iterable[str]:
    """Every operation on every pair of some operands, as documents that also show the type of the result."""
    for one in _OPERANDS:
        yield from (f"JSON_ARRAY(-({one}))", f"JSON_ARRAY(+{one})")
        yield from (f"JSON_ARRAY(CAST({one} AS {kind}))" for kind in _CASTS)
        for other in _OPERANDS:
            yield from (f"JSON_ARRAY({one} {sign} {other})" for sign in ("+", "-", "*", "/", "%", "DIV"))


def foretold_sum(sql: str) -> str:
    """The reference's answer where the document does not depend on the one before: its text and size, or the error."""
    try:
        made = _made(sql)
    except MysqlError as error:
        return str(_named(error))
    assert made is not None
    return f"{document_text(made)} {len(made)}"


def inside(statements: Iterable[str]) -> Iterable[str]:
    """Yield the statements that are inside the grammar."""
    for sql in statements:
        try:
            foretold(sql)
        except Unsupported:
            continue
        yield sql


def expressions(seed: str, count: int) -> Iterable[str]:
    """Odd expressions inside the grammar."""
    return inside(odd_expression(Stream(seed, number)) for number in range(count))


def answers(server: ProcessServer, statements: Iterable[str]) -> dict[str, Answer]:
    """The server's answer to each statement as a right-hand side."""
    return {sql: made[0] if isinstance(made, tuple) else made for sql, made in _asked(server, statements)}


def sum_answers(server: ProcessServer, statements: Iterable[str]) -> list[str]:
    """The text and the size of each document, or the number of the error."""
    return [f"{made[0]} {made[1]}" if isinstance(made, tuple) else str(made) for _, made in _asked(server, statements)]


def _asked(server: ProcessServer, statements: Iterable[str]) -> Iterable[tuple[str, tuple[str | None, int] | int]]:
    with server.connect() as connection, server.schema(connection):
        prepare(connection)
        for sql in statements:
            row = f"1, {quote_string(_J)}, {quote_string(_K)}, 5, '8text', 2.50"
            connection.execute(f"REPLACE INTO t VALUES ({row})")
            try:
                connection.execute(f"UPDATE t SET j = {sql}")
            except SqlError as error:
                yield sql, error.number
                continue
            ((text, size),) = connection.execute("SELECT j, JSON_STORAGE_SIZE(j) FROM t").texts()
            yield sql, (None if text is None else str(text), int(size or 0))


def recorded(server: ProcessServer, count: int) -> str:
    """The file of the recorded answers."""
    odd = answers(server, expressions("odd", count))
    return json.dumps({"odd": odd, "sums": sum_answers(server, inside(sums()))}, ensure_ascii=False, indent=0) + "\n"
