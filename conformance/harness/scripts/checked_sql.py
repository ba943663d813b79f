"""SQL that prints the expected result beside the real one, and the verdict: ``as expected`` or ``FAULT``.

The SQL is for ``mysql --force --vertical``, whose own error messages stand between. It reads the diagnostics area
before any other statement replaces it; a condition number that is missing there leaves the variables as they were,
without a message (observed on 9.7.4).
"""

from __future__ import annotations

from typing import Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.sql.quoting import quote_string

FAULT: Final = "FAULT"
AS_EXPECTED: Final = "as expected"
CLIENT: Final = ("--force", "--unbuffered", "--vertical", "--default-character-set=utf8mb4")
RUN_WITH: Final = " ".join(("mysql", *CLIENT))
BEFORE: Final = "SET @conditions = 0, @number = NULL, @text = NULL, @errors = 0;"
SUCCEEDED: Final = "@errors = 0"
CHANGED: Final = "IF(@errors, '', CONCAT(', rows changed: ', @changed))"  # behind the output about an UPDATE
# Which of several conditions is the error of the statement is not told; the client prints it above.
_READ: Final = (
    "GET DIAGNOSTICS @conditions = NUMBER, @changed = ROW_COUNT;",
    "GET DIAGNOSTICS CONDITION 1 @number = MYSQL_ERRNO, @text = MESSAGE_TEXT;",
    "GET DIAGNOSTICS CONDITION @conditions @last = MYSQL_ERRNO, @last_text = MESSAGE_TEXT;",
)
_COUNT: Final = "SET @errors = IF(@conditions, @@error_count, 0);"
_GOT: Final = (
    "CONCAT(IF(@errors, 'error ', IF(@conditions, 'success, warning ', 'success, no warning')), "
    "IF(@conditions, CONCAT(@number, ' ', @text), ''), "
    "IF(@conditions > 1, CONCAT(', and ', @conditions - 1, ' more, the last: ', @last, ' ', @last_text), ''))"
)


def refused_with(*numbers: int) -> str:
    """The SQL condition that a statement gave one of these errors."""
    listed = ", ".join(map(str, numbers))
    return f"@errors > 0 AND (@number IN ({listed}) OR @last IN ({listed}))"


def row(what: str, expected: str, got: str, condition: str, held: str = AS_EXPECTED) -> str:
    """A SELECT with the verdict. ``got`` and ``condition`` are SQL expressions, the others text; ``held``: the verdict
    where the condition holds."""
    verdict = f"IF({condition}, '{held}', '{FAULT}')"
    return (
        f"SELECT {quote_string(what)} AS checked, {quote_string(expected)} AS expected,\n"
        f"  {got} AS got, {verdict} AS verdict;"
    )


def ended(
    what: str,
    expected: str,
    condition: str,
    behind: tuple[str, ...] = (),
    *,
    held: str = AS_EXPECTED,
    more: str = "''",
) -> list[str]:
    """SQL behind a statement that :data:`BEFORE` precedes: how the statement ended. ``behind``: diagnostic statements
    that must come directly after it; ``more``: SQL of further output."""
    return [*behind, *_READ, _COUNT, row(what, expected, f"CONCAT({_GOT}, {more})", condition, held)]


def document(what: str, column: str, stored: object, rest: str) -> str:
    """SQL that reads a stored document: text, size and free space. ``column``: SQL; ``rest``: the SQL behind the
    SELECT."""
    got = f"CONCAT_WS(', ', COALESCE({column}, 'SQL NULL'), JSON_STORAGE_SIZE({column}), JSON_STORAGE_FREE({column}))"
    if stored is None:
        return _from(row(what, "SQL NULL", got, f"{column} IS NULL"), rest)
    assert isinstance(stored, bytes)
    try:
        text = format_text(decode(stored))
        literal = quote_string(text)
    except CodecError as error:
        return f"-- {what}: nothing can be compared: {error}".replace("\n", " ")
    size, free = len(stored), storage_free(stored)
    condition = (
        f"{column} IS NOT NULL AND BINARY CAST({column} AS CHAR) = BINARY {literal}"
        f" AND JSON_STORAGE_SIZE({column}) = {size} AND JSON_STORAGE_FREE({column}) = {free}"
    )
    return _from(row(what, f"{text}, {size}, {free}", got, condition), rest)


def same_document(what: str, column: str, stored: object, rest: str) -> str:
    """SQL that compares a replica's document: equal as text, or by SQL ``=``."""
    got = f"COALESCE({column}, 'SQL NULL')"
    if stored is None:
        return _from(row(what, "SQL NULL", got, f"{column} IS NULL"), rest)
    assert isinstance(stored, bytes)
    try:
        text = format_text(decode(stored))
        literal = quote_string(text)
    except CodecError as error:
        return f"-- {what}: nothing can be compared: {error}".replace("\n", " ")
    condition = (
        f"BINARY CAST({column} AS CHAR) = BINARY {literal} OR COALESCE({column} = CAST({literal} AS JSON), FALSE)"
    )
    return _from(row(what, text, got, condition), rest)


def _from(select: str, rest: str) -> str:
    return select.removesuffix(";") + f"\n  {rest};"
