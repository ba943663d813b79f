"""Texts that are no JSON: which byte is wrong, and which of two faults is said."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, cast

import pytest

from conformance.reference.dialect import JsonForms
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb import parse
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text_reader import read
from conformance.reference.jsonb.values import depth, same
from tests.reference.jsonb import mutated_texts
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer

FAST = JsonForms(text_double="fast")
INVALID, TOO_DEEP = 3140, 3157


def said(text: str, forms: JsonForms | None = None) -> tuple[int, int | None, object]:
    """Number, byte, and what stands there."""
    error = refused(parse_text, text, forms)
    assert isinstance(error, MysqlError)
    assert error.symbol == {INVALID: "ER_INVALID_JSON_TEXT", TOO_DEEP: "ER_JSON_DOCUMENT_TOO_DEEP"}[error.number]
    return error.number, error.offset, error.got


@pytest.mark.parametrize(
    ("text", "offset", "got"),
    [
        ("", 0, ""),
        ("  ", 2, ""),
        ("\t\n\r x", 4, "x"),
        ("[1,]", 3, "]"),
        ('["é", x, "and what stands behind it"]', 7, 'x, "and what stands '),
        ("1 2", 2, "2"),
        ("[] x ", 3, "x "),
        ('["é"]\r\n\t  {"a": "and what stands behind it"}', 11, '{"a": "and what stan'),
        ("[1]\x0b", 3, "\x0b"),
        ('"é" "é"', 5, '"é"'),
        ('"\udcff', 1, None),  # a byte that is no UTF-8
        ('["éé", "\udcff"]', 10, None),
        ('"é\ud800"', 3, None),
        ('"\\ud800"', 1, '\\ud800"'),
        (' ["é", "\\ude00"]', 9, '\\ude00"]'),
        ('{"a": "\\ud83d\\ude00", "b": "\\ud83d"}', 28, '\\ud83d"}'),
        ('["\\ud83d", "\\ud83d"]', 2, '\\ud83d", "\\ud83d"]'),
        ('"\\uD83Dx"', 1, '\\uD83Dx"'),
        ('"\\uDFFF"', 1, '\\uDFFF"'),
        ('"x\\"\\udc00"', 4, '\\udc00"'),
        ('{"\\ud800": 1, "b": 2}', 2, '\\ud800": 1, "b": 2}'),
        ("NaN", 0, "NaN"),
        ("[-Infinity]", 2, "Infinity]"),
    ],
)
def test_a_text_that_is_no_json_says_which_byte_is_wrong(text: str, offset: int | None, got: object) -> None:
    assert said(text) == (INVALID, offset, got)
    assert said(text, FAST) == (INVALID, offset, got)


def test_a_text_that_ends_too_early_is_said_to_have_nothing_there() -> None:
    assert str(refused(parse_text, '{"a": 1', None)).endswith("at offset 7, got nothing [mysql-3140]")


@pytest.mark.parametrize("text", ["1", " 1", "1 ", "\t\n\r 1\t\n\r ", "1\0", "1 \0x", " 1 \t\0 2", '1\0"\\ud800'])
def test_white_space_is_let_pass_and_so_is_what_follows_a_nul(text: str) -> None:
    assert parse_text(text) == 1


def test_whole_pairs_of_surrogates_are_one_character() -> None:
    assert parse_text('["\\ud83d\\ude00", "\\uD83D\\uDE00x", "\\ud7ff\\ue000", "\\\\ud800"]') == [
        "\U0001f600", "\U0001f600x", "\ud7ff\ue000", "\\ud800",
    ]  # fmt: skip


OPEN = "[" * 100

ORDER = [
    # --- the 101st container, whatever follows it
    (OPEN + "[", TOO_DEEP),
    (OPEN + "{", TOO_DEEP),
    (OPEN + "[x", TOO_DEEP),
    (OPEN + "[" + "]" * 101, TOO_DEEP),
    (OPEN + '{"a": 1}' + "]" * 100, TOO_DEEP),
    ('{"a":' * 100 + "[", TOO_DEEP),
    (OPEN + '["\\ud800"]', TOO_DEEP),
    (OPEN + "[1e999]", TOO_DEEP),
    (OPEN + "1, [", TOO_DEEP),
    ("[" + "[]," * 200 + OPEN, TOO_DEEP),
    ("[" + "[[]]," * 200 + OPEN, TOO_DEEP),
    ("[" + '{"a": {}},' * 200 + OPEN, TOO_DEEP),
    ("[[[[]," + "[" * 98, TOO_DEEP),
    ('["[[]]", "\\"[", ' + OPEN, TOO_DEEP),
    # --- what is wrong before it
    (OPEN + "1 [", INVALID),
    (OPEN + "1] [", INVALID),
    ("[1e999, " + OPEN, INVALID),
    ("[0e309, " + OPEN, INVALID),
    ('["\\ud800", ' + OPEN, INVALID),
    ('["\\ud800", ' + OPEN + "]" * 101, INVALID),
    ("[,]" + OPEN, INVALID),
    ("[x," + OPEN, INVALID),
    # --- no more than 100
    (OPEN, INVALID),
    (OPEN + "x", INVALID),
    ("[[[[]," + "[" * 97, INVALID),
    (OPEN + '"["', INVALID),
    (OPEN + "1e999", INVALID),
    ("1 " + OPEN + "[", INVALID),
]


@pytest.mark.parametrize(("text", "number"), ORDER)
def test_of_two_faults_the_first_is_said(text: str, number: int) -> None:
    for forms in (None, FAST):
        assert cast("MysqlError", refused(parse_text, text, forms)).number == number


def test_a_number_is_too_big_only_for_the_versions_that_round_it_up() -> None:
    text = f"[1.7976931348623158e308, {OPEN}"
    assert cast("MysqlError", refused(parse_text, text)).number == TOO_DEEP
    assert cast("MysqlError", refused(parse_text, text, FAST)).number == INVALID


def test_one_hundred_containers_of_any_kind_are_read() -> None:
    for text in (OPEN + "]" * 100, '{"a":' * 100 + "1" + "}" * 100, '[{"a":' * 50 + "1" + "}]" * 50):
        assert depth(parse_text(text)) == 100
    assert depth(parse_text("[" + "[[]]," * 200 + "[" * 99 + "]" * 99 + "]")) == 100
    assert parse_text("[" + "{}," * 200 + "{}]") == [{}] * 201
    assert parse_text("[" + "[]," * 200 + "[]]") == [[]] * 201


def test_the_place_of_every_refusal_is_the_servers() -> None:
    recorded = json.loads(mutated_texts.RECORDED.read_text("utf-8"))
    texts = list(mutated_texts.mutated(mutated_texts.COUNT))
    assert len({tuple(answer) for answer in recorded if answer}) > 100
    assert [pair for pair in zip(texts, recorded, strict=True) if mutated_texts.said(pair[0]) != pair[1]] == []


@pytest.mark.live
def test_the_place_of_other_refusals_is_the_servers(server: ProcessServer) -> None:
    texts = list(mutated_texts.mutated(2 * mutated_texts.COUNT))[mutated_texts.COUNT :]
    with server.connect() as connection:
        answers = mutated_texts.asked(connection, texts)
    assert [pair for pair in zip(texts, answers, strict=True) if mutated_texts.said(pair[0]) != pair[1]] == []


def test_both_readers_read_the_same() -> None:
    """The one for refusals reads whatever the other reads."""
    sound = 0
    for text in mutated_texts.mutated(mutated_texts.COUNT):
        if mutated_texts.said(text) is None:
            for forms, hooks in ((None, parse._EXACT), (FAST, parse._FAST)):
                assert same(read(text, 0, hooks)[0], parse_text(text, forms))
            sound += 1
    assert sound > 100


def test_a_text_is_read_where_the_stack_has_no_room_for_pythons_own_reader() -> None:
    text = OPEN + "]" * 100

    def down(levels: int) -> int:
        return down(levels - 1) if levels else depth(parse_text(text))

    frame = sys._getframe()
    used = 0
    while frame.f_back is not None:
        frame = frame.f_back
        used += 1
    assert down(sys.getrecursionlimit() - used - 30) == 100
