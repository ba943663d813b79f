"""The files that declare Cases: what is read from them, edits of logs, and what a wrong word is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.decoder_case import Allowed
from conformance.checks.decoders.suite import load_suite
from conformance.checks.decoders.suite.declare import Recorded, Setting, Undeclared, Written, declared_in
from conformance.checks.decoders.suite.edits import WrongEdit, build
from conformance.checks.decoders.suite.hex_text import bytes_in
from conformance.checks.decoders.suite.rewrite import offsets
from conformance.logs.row_change_lines import read_log

if TYPE_CHECKING:
    from pathlib import Path

BASES: Final = {case.id: case for case in load_suite().cases}
BASE: Final = "hostile/base"
LOG: Final = BASES[BASE].log
ROWS: Final = 30


def edited(*edits: dict[str, Any], **facts: Any) -> bytes:
    """The base log with edits."""
    case = Written(id="x/y", title="", why="", requirements=("DEC22",), log_of=BASE, edits=edits, **facts)
    return build(case, BASES)


def types(log: bytes) -> list[int]:
    return [log[at + 4] for at in offsets(log)]


def test_a_log_without_edits_is_the_log() -> None:
    assert edited() == LOG


def test_bytes_of_a_body_are_replaced_and_all_behind_them_is_laid_out_anew() -> None:
    log = edited({"change": "XID 1", "at": 8, "hex": "01 02 # two more"})
    assert len(log) == len(LOG) + 2
    found = read_log(log, "log.binlog")
    assert "XID" in str(found.error)  # its checksum and the lengths are right, its body is not
    assert len(found.lines) == 1


def test_fields_of_the_header_are_set() -> None:
    at = offsets(LOG)[-1]
    log = edited({"change": "ROTATE -1", "timestamp": 7, "server_id": 9, "flags": 1})
    assert (log[at : at + 4], log[at + 5 : at + 9], log[at + 17]) == (b"\7\0\0\0", b"\x09\0\0\0", 1)


def test_events_come_and_go() -> None:
    before = types(LOG)
    assert types(edited({"leave_out": "ROTATE 1"})) == before[:-1]
    assert types(edited({"before": "END", "type": "STOP"})) == [*before, 3]
    place = before.index(ROWS)
    assert types(edited({"before": "WRITE_ROWS 1", "type": 121, "hex": "00"})) == [
        *before[:place],
        121,
        *before[place:],
    ]
    assert types(edited({"before": "WRITE_ROWS 1", "copy": "TABLE_MAP 1"})) == [*before[:place], 19, *before[place:]]


def test_the_file_is_cut_and_damaged_as_it_stands() -> None:
    at = offsets(LOG)[types(LOG).index(ROWS)]
    assert edited({"cut": "WRITE_ROWS 1", "at": 5}) == LOG[: at + 5]
    assert edited({"damage": "WRITE_ROWS 1", "at": 9, "hex": "ff"}) == LOG[: at + 9] + b"\xff" + LOG[at + 10 :]


def test_a_whole_file_is_hexadecimal_text_with_comments() -> None:
    assert bytes_in("fe 62 # the magic number\n 69 6e") == b"\xfebin"
    case = Written(id="x/y", title="", why="", requirements=("DEC22",), file=b"\xfebin")
    assert build(case, {}) == b"\xfebin"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"change": "WRITE_ROWS 3", "at": 0}, "WRITE_ROWS 3: the log has 2 such events"),
        ({"change": "WRITE_ROWS", "at": 0}, "'WRITE_ROWS' names no event"),
        ({"change": "ROWS 1", "at": 0}, "'ROWS' is no type of event"),
        ({"change": "XID 1", "at": 9}, "XID 1 has 8 bytes, and the edit is at 9"),
        ({"change": "XID 1", "at": 0, "hex": "0g"}, "hex: "),
        ({"change": "XID 1", "place": 0}, "change: unknown place"),
        ({"alter": "XID 1"}, "expected one of change, before, leave_out, cut, damage"),
    ],
)
def test_a_wrong_edit_is_told_with_its_case(edit: dict[str, Any], words: str) -> None:
    with pytest.raises(WrongEdit, match=r"x/y: ") as caught:
        edited(edit)
    assert words in str(caught.value)


def test_a_log_of_nothing_is_told() -> None:
    case = Written(id="x/y", title="", why="", requirements=("DEC22",), log_of="x/none")
    with pytest.raises(WrongEdit, match="no Case x/none stands before it"):
        build(case, BASES)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "group.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_case_takes_what_it_leaves_out_from_the_default(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [default]
        why = "It is lost."
        requirements = "DEC1 DEC2"
        prepare = "CREATE TABLE t (id INT)"
        [[case]]
        name = "one"
        title = "One"
        setting = { partial = true, more = "SET @x = 1" }
        statements = "INSERT INTO t VALUES (1)"
        [[case]]
        name = "two"
        title = "Two"
        log_of = "group/one"
        same_as = "group/one"
        allowed = "error"
        edits = [{ leave_out = "XID 1" }]
        """,
    )
    one, two = declared_in(path)
    assert isinstance(one, Recorded)
    assert isinstance(two, Written)
    setting = Setting(partial=True, more=("SET @x = 1",)).statements()
    assert (one.id, one.why, one.requirements) == ("group/one", "It is lost.", ("DEC1", "DEC2"))
    assert one.prepare == (*setting, "CREATE TABLE t (id INT)")
    assert (two.id, two.allowed, two.edits) == ("group/two", Allowed.ERROR, ({"leave_out": "XID 1"},))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case = [", "group.toml: "),
        ("cases = []", "group.toml: unknown cases; known are about, default, case"),
        ('[[case]]\nname = "a"\nstatement = "SELECT 1"', "case 'a': unknown statement; known are "),
        ('[[case]]\nname = "a"\nstatements = "SELECT 1"', "case 'a': "),
        ('[[case]]\nname = "a"\nallowed = "maybe"', "case 'a': 'maybe' is not a valid Allowed"),
        ('[[case]]\nname = "a"\nstatements = "SELECT 1"\nsetting = { images = "FULL" }', "case 'a': "),
        ('[[case]]\nname = "a"\nfile = "xy"', "case 'a': hex: "),
    ],
)
def test_a_wrong_word_is_told_with_its_file_and_case(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(Undeclared) as caught:
        declared_in(written(tmp_path, text))
    assert words in str(caught.value)
