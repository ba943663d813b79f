"""Answers of readers of data files: rows and dictionary information, whole, cut off, and outside of the protocol."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.decoder_case import ROWS, SDI
from conformance.checks.decoders.data_files import load_files
from conformance.harness.decoders import OpenedSubject
from conformance.subjects.protocol import Malformed
from conformance.subjects.specs import SubjectSpecError, parse_subject
from conformance.subjects.stored_data import read_items, read_output
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

ROW: dict[str, Any] = {"schema": "s", "table": "t", "values": {"id": 1}}
ENTRY: dict[str, Any] = {"type": 1, "id": 18446744073709551615, "object": {"dd_object": {"name": "t", "f": 1.50}}}


def text(*items: Any) -> bytes:
    return json.dumps(["ibd2sdi", *items]).encode()


def test_a_row_is_an_insert_and_further_members_are_passed_over() -> None:
    (found,) = read_items(ROWS, [{**ROW, "page": 4, "state": "current"}])
    assert found == {"schema": "s", "table": "t", "operation": "insert", "before": None, "after": {"id": 1}}


def test_a_record_that_is_called_deleted_is_no_row() -> None:
    assert read_items(ROWS, [{**ROW, "state": "delete-marked"}, {**ROW, "state": "free"}]) == ()


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (5, "no object"),
        ({**ROW, "table": None}, "'table' is null"),
        ({"schema": "s", "values": {}}, "'table' is null"),
        ({**ROW, "values": [1]}, "'values' is [1]"),
    ],
)
def test_what_is_no_row_is_told_with_its_place(item: Any, words: str) -> None:
    with pytest.raises(Malformed, match=r"rows\[1\]") as problem:
        read_items(ROWS, [ROW, item])
    assert words in str(problem.value)


def test_an_entry_keeps_its_numbers_and_its_id() -> None:
    (found,), wrong = read_output(SDI, text(ENTRY), whole=True)
    assert wrong == ""
    assert found["row"] == 18446744073709551615
    assert found["after"]["name"] == "t"
    assert str(found["after"]["object"]["json"]["dd_object"]["f"]) == "1.5"


def test_every_cut_of_an_array_is_told_and_never_read_as_whole() -> None:
    whole = text(ENTRY, ENTRY)
    counts = set()
    for end in range(1, len(whole)):
        found, wrong = read_output(SDI, whole[:end], whole=False)
        assert wrong, end
        counts.add(len(found))
    assert counts == {0, 1, 2}


@pytest.mark.parametrize("output", [b"", b" \n", b"[]", b'["ibd2sdi"]\n'])
def test_nothing_is_an_empty_array(output: bytes) -> None:
    assert read_output(SDI, output, whole=True) == ((), "")


@pytest.mark.parametrize("output", [b"{}", b"ibd2sdi: error", b'["ibd2sdi"] more', b'[{"type": 1}]', b"[1]", b"[\xff]"])
def test_other_output_is_none_of_the_protocol(output: bytes) -> None:
    assert read_output(SDI, output, whole=True)[1]


def test_rows_before_a_line_that_is_none_count() -> None:
    line = json.dumps(ROW).encode()
    found, wrong = read_output(ROWS, line + b"\n\n" + line + b"\nsegmentation fault\n" + line, whole=True)
    assert len(found) == 2
    assert wrong.startswith("line 4 of standard output")


def test_the_last_line_of_a_process_that_was_ended_does_not_count() -> None:
    line = json.dumps(ROW).encode()
    assert read_output(ROWS, line + b"\n" + line[:9], whole=False) == (read_items(ROWS, [ROW]), "")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("cmd:true {file}?roles=row", "known are decode, decode_json"),
        ("py:json:loads?roles=rows", "it says its roles itself"),
        ("jsonl:true?roles=sdi", "it says its roles itself"),
    ],
)
def test_roles_are_those_of_one_shot_commands_and_known(spec: str, words: str) -> None:
    with pytest.raises(SubjectSpecError, match=words):
        parse_subject(spec)


def test_a_refusal_that_breaks_off_is_a_refusal(tmp_path: Path) -> None:
    """As ibd2sdi does: what it printed before the error counts, and its array has no end."""
    program = tmp_path / "reader.py"
    program.write_text(f"import sys\nsys.stdout.write({text(ENTRY).decode()[:-1]!r})\nsys.exit('page 3 is damaged')\n")
    case = load_files().case("entries/plain")
    with OpenedSubject(f"cmd:{shlex.quote(sys.executable)} {program} {{file}}?roles=sdi") as subject:
        answer = subject.judge(case).answer
        assert subject.judge(load_files().case("rows/plain")).verdict is Verdict.NOT_APPLICABLE
    assert (answer.error, answer.failure, len(answer.changes)) == ("page 3 is damaged", None, 1)
