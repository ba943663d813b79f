"""The result stream: every record comes back as it was written, and a damaged stream is never taken for whole."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from conformance.stream import INLINE_LIMIT, CaseVerdict, StreamError, Writer, from_line, read_stream
from conformance.verdict import DEFINITIONS, SEVERITY, Verdict, summarise
from tests.report import decoder_stream
from tests.report.synthetic_stream import END, FAILURE, RUN, records

if TYPE_CHECKING:
    from pathlib import Path


def write(directory: Path) -> bytes:
    with Writer(directory) as writer:
        for record in records():
            writer.write(record)
    return (directory / "run.jsonl").read_bytes()


def test_every_record_survives_writing_and_reading(tmp_path: Path) -> None:
    write(tmp_path)
    stream = read_stream(tmp_path)
    assert stream.records == records()
    assert stream.problem is None


def test_records_about_decoders_survive_writing_and_reading(tmp_path: Path) -> None:
    written = decoder_stream.records(20, 4)
    with Writer(tmp_path) as writer:
        for record in written:
            writer.write(record)
    assert read_stream(tmp_path).records == written


def test_each_record_is_on_the_disk_before_the_next_one(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.write(RUN)
    assert (tmp_path / "run.jsonl").read_bytes().endswith(b"}\n")
    writer.close()
    writer.close()


def test_an_existing_stream_is_never_appended_to(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(FileExistsError):
        Writer(tmp_path)


def test_every_cut_of_a_stream_is_incomplete_or_refused(tmp_path: Path) -> None:
    whole = write(tmp_path)
    first = whole.index(b"\n") + 1
    for length in range(0, len(whole), 7):
        (tmp_path / "run.jsonl").write_bytes(whole[:length])
        if length < first:
            with pytest.raises(StreamError):
                read_stream(tmp_path)
        else:
            assert read_stream(tmp_path).problem is not None, length


def test_unknown_types_and_keys_are_ignored(tmp_path: Path) -> None:
    lines = write(tmp_path).splitlines()
    run = json.loads(lines[0]) | {"weather": "fine"}
    run["requirements"]["FR1"]["colour"] = "blue"
    lines[0] = json.dumps(run).encode()
    lines.insert(1, b'{"type":"tomorrow","x":1}')
    (tmp_path / "run.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    assert read_stream(tmp_path).records == records()
    assert read_stream(tmp_path).problem is None


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"type":"verdict","case":"x"}', b'{"no":1}', b"\xff\xfe", b""])
def test_a_damaged_line_makes_the_stream_incomplete(tmp_path: Path, damage: bytes) -> None:
    lines = write(tmp_path).splitlines()
    (tmp_path / "run.jsonl").write_bytes(b"\n".join([*lines[:3], damage, *lines[3:]]) + b"\n")
    stream = read_stream(tmp_path)
    assert stream.records == records()
    assert stream.problem == "line 4 is damaged"


def test_records_after_the_end_do_not_make_a_run_whole(tmp_path: Path) -> None:
    whole = write(tmp_path)
    line = json.dumps(FAILURE.to_json()).encode() + b"\n"
    (tmp_path / "run.jsonl").write_bytes(whole + line)
    assert read_stream(tmp_path).problem is not None


def test_a_stream_of_another_schema_is_refused(tmp_path: Path) -> None:
    with Writer(tmp_path) as writer:
        writer.write(dataclasses.replace(RUN, schema=2))
    with pytest.raises(StreamError, match="schema 2"):
        read_stream(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"type":"end","exit_code":0,"seconds":1}\n'])
def test_what_does_not_begin_with_a_run_is_no_stream(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.jsonl").write_bytes(content)
    with pytest.raises(StreamError, match="not a result stream"):
        read_stream(tmp_path)


def test_a_missing_stream_is_a_stream_error(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="no such file"):
        read_stream(tmp_path / "run.jsonl")


def test_long_hex_goes_to_evidence_as_bytes_and_equal_values_share_the_file(tmp_path: Path) -> None:
    hexadecimal = "ab01" * (INLINE_LIMIT // 2)
    with Writer(tmp_path) as writer:
        writer.write(RUN)
        writer.write(
            dataclasses.replace(FAILURE, expected=hexadecimal, got=hexadecimal, message="é" * (INLINE_LIMIT + 1))
        )
        writer.write(END)
    kept = sorted(path.suffix for path in (tmp_path / "evidence").iterdir())
    assert kept == [".bin", ".txt"]
    (binary,) = (tmp_path / "evidence").glob("*.bin")
    assert binary.read_bytes() == bytes.fromhex(hexadecimal)
    verdict = read_stream(tmp_path).records[1]
    assert isinstance(verdict, CaseVerdict)
    assert verdict.expected == verdict.got
    assert f"evidence/{binary.name}" in (verdict.expected or "")


def test_a_value_at_the_limit_stays_in_its_line(tmp_path: Path) -> None:
    with Writer(tmp_path) as writer:
        writer.write(dataclasses.replace(FAILURE, expected="a" * INLINE_LIMIT))
    assert not (tmp_path / "evidence").exists()


def test_default_values_are_not_written() -> None:
    assert END.to_json() == {"type": "end", "exit_code": 1, "seconds": 187.3}
    assert from_line('{"type":"end","exit_code":1,"seconds":187.3}') == END


def test_every_verdict_is_defined_in_one_sentence() -> None:
    assert set(DEFINITIONS) == set(Verdict) == set(SEVERITY)
    for verdict in Verdict:
        assert verdict.definition.endswith(".")
        assert verdict.definition.count(". ") == 0


def test_verdicts_are_ordered_worst_first() -> None:
    assert [verdict.value for verdict in SEVERITY] == [
        "silent-loss", "crash", "timeout", "fail", "differs", "deviates", "fixed", "lenient", "refused", "inconclusive",
        "info", "not-applicable", "pass", "not-run",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({}, "not-run"),
        ({"pass": 9}, "pass"),
        ({"pass": 9, "not-run": 1}, "not-run"),
        ({"pass": 9, "inconclusive": 1}, "inconclusive"),
        ({"pass": 9, "not-applicable": 5, "info": 1}, "pass"),
        ({"not-applicable": 5}, "not-applicable"),
        ({"not-run": 9, "fail": 1}, "fail"),
        ({"fail": 3, "silent-loss": 1, "crash": 2}, "silent-loss"),
        ({"pass": 1, "lenient": 1, "refused": 1}, "refused"),
        ({"pass": 0}, "not-run"),
        ({"pass": 9, "deviates": 1}, "deviates"),
        ({"deviates": 9, "not-run": 1}, "not-run"),
        ({"deviates": 9, "fail": 1}, "fail"),
        ({"deviates": 9, "inconclusive": 1, "fixed": 1}, "deviates"),
        ({"pass": 9, "fixed": 1}, "fixed"),
    ],
)
def test_a_mixture_shows_what_must_not_be_hidden(counts: dict[str, int], expected: str) -> None:
    assert summarise(counts).value == expected
