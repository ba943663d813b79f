"""What a server answers to odd expressions over one row: recorded, and asked again by a live test."""

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
Answer = int | str | None  # the number of an error, or the document's text


def foretold(sql: str) -> Answer:
    """What the reference says. Raises :class:`Unsupported` outside the grammar."""
    refused: MysqlError | None = None
    try:
        expression = read_expression(sql, _ROW).expression
    except MysqlError as error:
        if not isinstance(error.decoded, Call):
            return error.number
        refused, expression = error, error.decoded  # what the server does before it comes to the error
    try:
        made = evaluate_document(expression, _ROW.documents, Columns(tuple(_ROW.documents)))
    except MysqlError as error:
        return error.number
    if made is None:
        return None
    if refused is not None:
        return refused.number
    before = _ROW.documents["j"]
    assert before is not None
    # An equal document is not stored: 1.5 stays where 1.50 would come.
    return document_text(before if equal(decode(made), decode(before)) else made)


def expressions(seed: str, count: int) -> Iterable[str]:
    """Odd expressions inside the grammar."""
    for number in range(count):
        sql = odd_expression(Stream(seed, number))
        try:
            foretold(sql)
        except Unsupported:
            continue
        yield sql


def answers(server: ProcessServer, statements: Iterable[str]) -> dict[str, Answer]:
    """What the server does with each as a right-hand side."""
    found: dict[str, Answer] = {}
    with server.connect() as connection, server.schema(connection):
        connection.execute_many(
            [
                "SET time_zone = '+00:00'",
                "SET timestamp = 1700000000.123456",
                "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON, n BIGINT, s VARCHAR(50), d DECIMAL(3,2))",
            ]
        ).check()
        for sql in statements:
            row = f"1, {quote_string(_J)}, {quote_string(_K)}, 5, '8text', 2.50"
            connection.execute(f"REPLACE INTO t VALUES ({row})")
            try:
                connection.execute(f"UPDATE t SET j = {sql}")
            except SqlError as error:
                found[sql] = error.number
                continue
            ((text,),) = connection.execute("SELECT j FROM t").texts()
            found[sql] = None if text is None else str(text)
    return found


def recorded(server: ProcessServer, count: int) -> str:
    """The file of the recorded answers."""
    return json.dumps(answers(server, expressions("odd", count)), ensure_ascii=False, indent=0) + "\n"
