"""Text in every character set of MySQL is what the server makes of the same bytes, and the other way round."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.reference.tables.charset_tables import DIFFERENCES
from conformance.reference.tables.charsets import (
    COLLATION_IDS,
    COLLATIONS,
    DEFAULT_COLLATIONS,
    Collation,
    bytes_of,
    text_of,
)
from tests.charset_survey import CHARSETS, FILE, digests, ours, theirs

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer

OBSERVED = json.loads(FILE.read_text("utf-8"))["charsets"]


@pytest.mark.parametrize(
    "collation",
    [
        Collation(63, "binary", "binary", 1, None),
        Collation(255, "utf8mb4_0900_ai_ci", "utf8mb4", 4, "utf_8"),
        Collation(8, "latin1_swedish_ci", "latin1", 1, "cp1252"),
        Collation(323, "utf8mb4_mn_cyrl_0900_as_cs", "utf8mb4", 4, "utf_8"),
    ],
)
def test_a_collation_has_a_number_and_a_name(collation: Collation) -> None:
    assert COLLATIONS[collation.id] == collation
    assert COLLATION_IDS[collation.name] == collation.id
    assert len(COLLATIONS) == len(COLLATION_IDS)


def test_every_character_set_was_observed() -> None:
    assert set(OBSERVED) == set(CHARSETS)
    assert len(CHARSETS) == 40


@pytest.mark.sampled(15)
@pytest.mark.parametrize("charset", CHARSETS)
def test_all_characters_are_those_of_the_server(charset: str) -> None:
    assert digests(*ours(charset)) == OBSERVED[charset]


@pytest.mark.parametrize("charset", [*DIFFERENCES, "latin2", "euckr"])
def test_a_changed_character_is_noticed(charset: str) -> None:
    read, written = ours(charset)
    code, text = next((code, text) for code, text in read.items() if text != "x")
    assert digests({**read, code: "x"}, written) != OBSERVED[charset]
    assert digests(read, {**written, text: b"x"}) != OBSERVED[charset]


@pytest.mark.live
def test_a_real_server_converts_as_it_did(server: ProcessServer) -> None:
    with server.connect() as connection:
        rows = connection.execute("SELECT COLLATION_NAME, ID FROM INFORMATION_SCHEMA.COLLATIONS").texts()
        found = {charset: digests(*theirs(connection, charset)) for charset in ("big5", "eucjpms", "swe7", "utf16le")}
    assert {name: int(number or 0) for name, number in rows} == COLLATION_IDS
    assert found == {charset: OBSERVED[charset] for charset in found}


@pytest.mark.parametrize(
    ("collation", "data", "text"),
    [
        ("big5_bin", "a15a61a2ce", "\ufffda\ufffd"),  # seven codes that the server reads as the replacement character
        ("sjis_bin", "815f5c", "\\\\"),
        ("ujis_bin", "f5a18ff5a1", "\ue000\ue3ac"),
        ("eucjpms_bin", "ada18ff3f3", "\u2460\u2170"),
        ("swe7_bin", "5b5c5d", "ÄÖÅ"),
        ("latin1_bin", "8180", "\x81€"),
        ("armscii8_bin", "b2b3", "\u0531\u0561"),
        ("gb18030_bin", "a8bc8135f437", "\u1e3f\ue7c7"),
        ("utf16_bin", "d83dde00", "😀"),
        ("utf16le_bin", "3dd800de", "😀"),
        ("utf32_bin", "0001f600", "😀"),
    ],
)
def test_characters_that_are_special(collation: str, data: str, text: str) -> None:
    assert text_of(bytes.fromhex(data), COLLATION_IDS[collation]) == text


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("ucs2", "d83dde00"),  # two surrogates, which this character set takes for characters
        ("ucs2", "d800"),
        ("utf16", "d800"),
        ("utf8mb3", "f09f9880"),
        ("utf8mb4", "eda080"),
        ("utf32", "00110000"),
        ("swe7", "7f"),
        ("cp1256", "61ff"),
        ("cp932", "80"),
        ("greek", "a4"),
        ("big5", "a3fe"),
        ("big5", "a1"),
        ("gb18030", "fe39fe39"),
        ("ujis", "8ea0"),
        ("ujis", "8ff5"),
    ],
)
def test_bytes_that_are_no_character_have_no_text(charset: str, data: str) -> None:
    assert text_of(bytes.fromhex(data), DEFAULT_COLLATIONS[charset]) is None


@pytest.mark.parametrize(
    ("charset", "text"), [("utf8mb3", "😀"), ("ucs2", "😀"), ("sjis", "¥"), ("swe7", "["), ("latin1", "ā")]
)
def test_text_without_a_code_has_no_bytes(charset: str, text: str) -> None:
    assert bytes_of(f"a{text}", DEFAULT_COLLATIONS[charset]) is None


def test_one_collation_has_fewer_characters_than_its_character_set() -> None:
    assert text_of(b"a\x80", COLLATION_IDS["latin2_general_ci"]) == "a\x80"
    assert text_of(b"a\x80", COLLATION_IDS["latin2_czech_cs"]) is None
    assert text_of(b"a\x7f\xdf", COLLATION_IDS["latin2_czech_cs"]) == "a\x7fß"
    assert text_of(b"a\xdf\x7f", COLLATION_IDS["latin2_czech_cs"]) is None
    assert bytes_of("a\x80", COLLATION_IDS["latin2_czech_cs"]) is None
    assert bytes_of("aß", COLLATION_IDS["latin2_czech_cs"]) == b"a\xdf"


@pytest.mark.parametrize(
    ("charset", "text", "data"),
    [
        ("latin1", "aé€\x81", "61e98081"),
        ("swe7", "aÄé", "615b60"),
        ("utf8mb3", "aé\uffff", "61c3a9efbfbf"),
        ("ucs2", "a\uffff", "0061ffff"),
        ("utf8mb4", "é\U0001f600", "c3a9f09f9880"),
        ("utf16", "é\U0001f600", "00e9d83dde00"),
        ("big5", "a一a", "61a44061"),
        ("cp932", "a①", "618740"),
        ("cp932", "纊", "fa5c"),  # IBM's code, not NEC's copy of it
        ("sjis", "\\a", "815f61"),
        ("eucjpms", "a№\ue000", "61ade2f5a1"),
        ("ujis", "あ\\", "a4a25c"),
        ("gb18030", "é\u1e3f\ue7c7", "a8a6a8bc8135f437"),
        ("euckr", "a가", "61b0a1"),
    ],
)
def test_text_of_several_characters_both_ways(charset: str, text: str, data: str) -> None:
    assert bytes_of(text, DEFAULT_COLLATIONS[charset]) == bytes.fromhex(data)
    assert text_of(bytes.fromhex(data), DEFAULT_COLLATIONS[charset]) == text
    assert bytes_of("", DEFAULT_COLLATIONS[charset]) == b""
    assert text_of(b"", DEFAULT_COLLATIONS[charset]) == ""


def test_a_character_may_be_written_with_a_code_that_is_read_as_another() -> None:
    """The one such slip of the server (cp932, observed on 9.7.4)."""
    written = bytes_of("a\u6661", DEFAULT_COLLATIONS["cp932"])
    assert written == b"a\xfa\xd7"
    assert text_of(written, DEFAULT_COLLATIONS["cp932"]) == "a\u6659"


def test_a_collation_that_nobody_knows_has_neither_text_nor_bytes() -> None:
    for number in (0, 9999):
        assert text_of(b"a", number) is None
        assert bytes_of("a", number) is None
    assert text_of(b"a", None) is None


def test_no_text_in_binary() -> None:
    assert text_of(b"a", 63) is None
    assert bytes_of("a", 63) is None
    assert all(text_of(b"", number) == "" for number, known in COLLATIONS.items() if known.charset != "binary")
