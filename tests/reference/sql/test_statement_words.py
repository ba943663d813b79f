"""Words of statements: strings, escapes, character sets, and the cursor over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusVariable
from conformance.reference.errors import ReplayError
from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.statements import ColumnDefinition, statement_words
from conformance.reference.sql.definition_reader import Reader, split_list
from conformance.reference.sql.statement_words import ANSI_QUOTES, NO_BACKSLASH_ESCAPES, Word, split_words
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Sequence


def texts(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


@pytest.mark.parametrize(
    ("sql", "mode", "text"),
    [
        (r"'\0\b\n\r\t\Z\\\'\"\x'", 0, "\0\b\n\r\t\x1a\\'\"x"),
        (r"'\%\_'", 0, r"\%\_"),  # outside of LIKE these two keep their backslash
        (r'"\n""\'' + "'" + '"', 0, "\n\"''"),
        (r"'a\nb'", NO_BACKSLASH_ESCAPES, r"a\nb"),
        (r'"a\nb"', NO_BACKSLASH_ESCAPES, r"a\nb"),
        ("'a''b\"\"c'", 0, 'a\'b""c'),
        ('"a\'\'b""c"', 0, "a''b\"c"),
        ('"a\'\'b""c"', NO_BACKSLASH_ESCAPES, "a''b\"c"),
        ("'`'", ANSI_QUOTES, "`"),
    ],
)
def test_strings_are_read_with_their_escapes_and_doubled_quotes(sql: str, mode: int, text: str) -> None:
    assert split_words(sql, mode) == [Word(text, string=True)]


def test_names_in_quotes_have_their_quotes_once() -> None:
    assert split_words('"a""b``c"', ANSI_QUOTES) == [Word('a"b``c', quoted=True)]
    assert split_words('`a``b""c`', ANSI_QUOTES) == [Word('a`b""c', quoted=True)]


MODE = StatusInteger(Status.SQL_MODE, ANSI_QUOTES)


@pytest.mark.parametrize(
    ("text", "status", "word"),
    [
        (b"\xc3\xa9", (), Word("é")),
        (b"`\xe9`", (), Word("\udce9", quoted=True)),
        (b"`\xe9`", (StatusIntegers(Status.CHARSET, (255, 8, 8)),), Word("\udce9", quoted=True)),
        (b"`\xe9`", (StatusIntegers(Status.CHARSET, (8, 255, 255)),), Word("é", quoted=True)),
        (b"`\xe9`", (StatusIntegers(Status.AUTO_INCREMENT, (8, 8)),), Word("\udce9", quoted=True)),
        (b"`\xe9`", (StatusIntegers(Status.CHARSET, (9999, 8, 8)),), Word("\udce9", quoted=True)),
        (b"`\xe9`", (StatusIntegers(Status.CHARSET, (63, 8, 8)),), Word("\udce9", quoted=True)),
        (b"`\xff`", (StatusIntegers(Status.CHARSET, (28, 8, 8)),), Word("\ufffd", quoted=True)),
        (b'"a"', (MODE,), Word("a", quoted=True)),
        (b'"a"', (StatusInteger(Status.FLAGS2, ANSI_QUOTES),), Word("a", string=True)),
        (b'"a"', (MODE, StatusIntegers(Status.CHARSET, (8, 8, 8))), Word("a", quoted=True)),
        (b'"a"', (), Word("a", string=True)),
    ],
)  # fmt: skip
def test_a_sessions_sql_mode_and_client_character_set_decide(
    text: bytes, status: tuple[StatusVariable, ...], word: Word
) -> None:
    assert statement_words(Query(text=text, status=status)) == [word]


# --- the cursor ------------------------------------------------------------------------------------------------------


def test_nothing_comes_behind_the_last_word() -> None:
    reader = Reader(split_words("a"), "d")
    assert reader.at("A")
    assert reader.next() == Word("a")
    assert not reader
    assert not reader.at("A")
    assert not reader.take("A")
    error = refused(reader.next)
    assert (error.code, error.got) == ("statement", "a")


def test_the_words_in_parentheses_end_where_the_parentheses_do() -> None:
    reader = Reader(split_words("(a (b) ')' `(`) c d"), "d")
    assert texts(reader.parenthesis()) == ["a", "(", "b", ")", ")", "("]
    assert texts(reader.rest()) == ["c", "d"]


def test_lists_are_split_at_the_commas_of_their_own_level() -> None:
    parts = split_list(split_words("a, b(c, (d, e), f), ',' `,`,, '(' , ')'"))
    assert [" ".join(texts(part)) for part in parts] == ["a", "b ( c , ( d , e ) , f )", ", ,", "(", ")"]


def test_a_refusal_shows_the_first_twelve_words_in_eighty_characters() -> None:
    assert refused(parse_statement, split_words("vacuum 2 3 4 5 6 7 8 9 10 11 12 13"), "d").got == (
        "vacuum 2 3 4 5 6 7 8 9 10 11 12"
    )
    assert refused(parse_statement, split_words("vacuum " + "x" * 74), "d").got == "vacuum " + "x" * 73
    assert isinstance(refused(parse_statement, split_words("vacuum"), "d"), ReplayError)


# --- what a column's own words say -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "primary", "not_null", "generated", "automatic", "default"),
    [
        ("int", False, False, False, False, ""),
        ("int comment '(' primary key", True, True, False, False, ""),
        ("int comment ')' key", True, True, False, False, ""),
        ("int unique key", False, False, False, False, ""),
        ("key", True, True, False, False, ""),
        ("null", False, False, False, False, ""),
        ("int default (cast(1 as signed))", False, False, False, False, "( cast ( 1 as signed ) )"),
        ("int default (f((1), `as` as x)) not null", False, True, False, False, "( f ( ( 1 ) , as as x ) ) not null"),
        ("int check (a is not null)", False, False, False, False, ""),
        ("int generated always as (1)", False, False, True, False, ""),
        ("int comment 'as' default 'default'", False, False, False, False, "default"),
        ("int auto_increment", False, False, False, True, ""),
        ("serial", False, True, False, True, ""),
    ],
)
def test_words_in_parentheses_strings_and_quotes_say_nothing_of_a_column(
    words: str, primary: bool, not_null: bool, generated: bool, automatic: bool, default: str
) -> None:
    column = ColumnDefinition("a", tuple(split_words(words)))
    assert (column.primary, column.not_null, column.generated, column.automatic) == (
        primary, not_null, generated, automatic,
    )  # fmt: skip
    assert " ".join(word.text for word in column.default) == default
