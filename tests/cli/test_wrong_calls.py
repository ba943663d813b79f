"""Wrong calls: what is said (what, where, expected, got), and the exit code of the contract. No traceback ever."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main as frame
from tests.live import lab

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = Path(__file__).parents[1] / "data" / "binlogs" / "01-partial-minimal.binlog"
MAGIC, ENCRYPTED = b"\xfebin", b"\xfdbin"
DEPTH = 100_000
EVENT = 4 + 123 + 31  # the log's third event: behind the magic, FORMAT_DESCRIPTION and PREVIOUS_GTIDS


@dataclass(frozen=True)
class Call:
    """A command line as typed in a directory with ``files``, and what must come of it."""

    line: str
    code: int
    said: tuple[str, ...]
    process: bool = False  # a run of the checks is pytest, which cannot run inside pytest


def call(line: str, code: int, *said: str, process: bool = False) -> Call:
    return Call(line, code, said, process)


CALLS = [
    # Commands and options.
    call("conformanc", 2, "no such command 'conformanc'", "did you mean conformance?", "binlog-lab --help"),
    call("servers strat", 2, "no such command 'strat'", "did you mean start?", "binlog-lab servers --help"),
    call("cases lst", 2, "no such command 'lst'", "did you mean list?"),
    call("fuzz rn", 2, "no such command 'rn'", "did you mean run?"),
    call("conformance --sever none", 2, "no such option '--sever'", "--server"),
    call("conformance --subject cmd:decoder", 2, "has no {file}"),
    call("conformance extra", 2, "unexpected extra argument (extra)", "conformance --help"),
    call("conformance --seed", 2, "'--seed' requires an argument"),
    call("conformance --updates 0", 2, "'--updates'", "0 is not in the range x>=1"),
    call("conformance --updates many", 2, "'--updates'", "'many' is not a valid integer"),
    call("conformance --profile quik", 2, "'--profile'", "'quik' is not one of 'quick', 'full', 'soak'"),
    call("conformance --allow anything", 2, "'anything' is not one of 'none', 'stops-replica'"),
    call("conformance --replica process", 2, "a --replica belongs to the --server before it"),
    call("conformance --server-option =1", 2, "server option '=1'", "expected NAME=VALUE"),
    call("conformance --server-option port=1", 2, "server option 'port=1'", "the lab sets port itself"),
    call("conformance --server none --server-option a=b", 2, "--server none starts none"),
    call(
        "decode LOG --types",
        2,
        "--types, --events, --resolve, --outcome and --committed belong to",
    ),
    call(f"decode LOG --start-position {1 << 63}", 2, "'--start-position'", "is not in the range 0<=x<="),
    call("decode LOG --format json", 2, "'json' is not one of 'text', 'jsonl'"),
    call("decode", 2, "missing argument 'LOG…'", "binlog-lab decode --help"),
    call("predict", 2, "missing option '-u' / '--update'"),
    # Names.
    call("conformance -r fr5", 2, "unknown requirement fr5", "did you mean FR5?"),
    call("cases list -r w1A", 2, "unknown requirement w1A", "did you mean W1a?"),
    call("cases show d6-equl", 2, "unknown Case d6-equl", "did you mean d6-equal?", "cases list"),
    call("matrix run size-budge", 2, "no matrix 'size-budge'", "did you mean size-budget?", "break-even"),
    call("fuzz run jsonb-decod", 2, "no target is called jsonb-decod", "did you mean jsonb-decode", "fuzz list"),
    call("replay matrix:size-budget/9", 2, "expected matrix:NAME/CELL/INDEX, got 'matrix:size-budget/9'"),
    call("replay matrix:size-budget/999999/4", 2, "no cell 999999; cells are 0 to 255"),
    call("replay matrix:size-budget/9/4 --replica process", 2, "--replica", "need --server", "reference alone"),
    call(
        "replay deviation:cut-metadata-take", 2, "no deviation 'cut-metadata-take' is listed (did you mean cut-metadata"
    ),
    call("check LOG --tool zongi", 2, "unknown tool zongi (did you mean zongji?)"),
    call("check LOG --tool maxwell", 2, "unknown tool maxwell; known: ", "debezium-engine"),
    call("smoke zongi", 2, "unknown subject 'zongi' (did you mean zongji?)"),
    call("explain fr5", 2, "fr5: no such file, requirement or deviation (did you mean FR5?)"),
    call("explain FR5 --at 4", 2, "FR5 is no log"),
    call("decode LOG --dialect foo", 2, "no dialect 'foo'", "expected one such as 9.7.4", "mysql-9.7, worklog"),
    call("servers stop nobody-started-this", 2, "no standing server is named nobody-started-this"),
    # Servers and addresses.
    call(
        "conformance --server dokcer",
        2,
        "server spec 'dokcer'",
        "(did you mean docker?)",
        "expected auto, process, process:PATH, docker",
    ),
    call("conformance --server mysql://", 2, "the user is missing", "expected mysql://user@host:port"),
    call("conformance --server mysql://u:secret@h:99999", 2, "the port is not a number from 0 to 65535"),
    call("conformance --server mysql://u@h/shop", 2, "got the path '/shop'", "expected no path"),
    call("conformance --server http://h", 2, "unknown scheme 'http'", "expected mysql://user@host:port"),
    call("conformance --server process:", 2, "server spec 'process:'", "the path is missing"),
    call("conformance --server process:/no/such", 3, "/no/such does not exist", "give a mysqld", process=True),
    call("conformance --server process:text", 3, "text is not executable", process=True),
    call("conformance --server mysql://u@127.0.0.1:1", 3, "cannot connect to u@127.0.0.1:1", process=True),
    call(
        "replay case.json --server mysql://u@127.0.0.1:1", 3, "1 Case, server mysql", "cannot connect to u@127.0.0.1:1"
    ),
    call("servers start mysql://u@h", 2, "starts processes and containers; got mysql://u@h"),
    call("servers start --name 'a b'", 2, "--name 'a b': expected 1 to 24 letters, digits and underscores"),
    call("servers start process:/no/such", 3, "starting process:/no/such", "/no/such does not exist"),
    call("servers clean process", 2, "process: the lab removes what it started", "expected mysql://user@host:port"),
    call("servers clean mysql://u@127.0.0.1:1 --yes", 3, "cannot connect to u@127.0.0.1:1"),
    call(
        "fuzz server --campaign diverged --server mysql://u@h", 2, "a campaign ends servers", "expected auto, process"
    ),
    # Files that are missing or of another kind.
    call("decode /no/such", 2, "/no/such: No such file or directory"),
    call("decode directory", 2, "directory is a directory", "give the binary log files themselves"),
    call("decode text", 2, "text: not a binary log"),
    call("apply empty", 2, "empty: the file is too short for a binary log"),
    call("explain text", 2, "text: not a binary log"),
    call("explain pipe", 2, "pipe: not a file whose size is known"),
    call("decode LOG --start-datetime 2026-11-20", 2, "'--start-datetime'", "not a date and time: '2026-11-20'"),
    call("apply LOG --include-gtids 1-3", 2, "'--include-gtids'", "not a GTID set"),
    call("decode LOG --hexdump --format csv", 2, "-v, --base64-output, --table-metadata and --hexdump belong"),
    call("explain LOG --at 99999999", 2, "there is no event at offset 99999999"),
    call("matrix estimate text", 2, "text: not a binary log"),
    call("matrix estimate /no/such", 2, "no such file or directory: /no/such"),
    call("replay /no/such", 2, "/no/such: no such Case file", "matrix:NAME/CELL/INDEX"),
    call("replay list.json", 2, "list.json: not a Case: expected an object"),
    call("replay torn.json", 2, "torn.json: not a Case", "line 1 column 6"),
    call("replay deep.json", 2, "deep.json: not a Case: nested too deeply"),
    call("cases promote deep-object.json", 2, "deep-object.json: not a Case: nested too deeply"),
    call("conformance --deviations text", 2, "text: not TOML"),
    call("conformance --deviations deep.toml", 2, "deep.toml: not TOML"),
    call("conformance --server none --report directory", 2, "directory is not empty", "choose another", process=True),
    call("cases export directory", 2, "directory holds other things", "new, empty, or an earlier export"),
    call("matrix report directory", 2, "directory: no matrix run has its report here"),
    call("report directory", 2, "directory/run.jsonl: no such file"),
    call("matrix zip lab.tar", 2, "lab.tar: expected a name that ends with .zip"),
    # Files that are damaged: what came before is printed.
    call("decode cut", 1, f"cut: the last event is cut off at offset {EVENT}", "expected 77, got 42"),
    call("apply cut", 1, f"cut: the last event is cut off at offset {EVENT}", "expected 77, got 42"),
    call("explain cut", 1, f"cut: the last event is cut off at offset {EVENT}", "expected 77 bytes, got 42"),
    call("matrix estimate cut text", 1, f"cut: the last event is cut off at offset {EVENT}", "expected 77, got 42"),
    call("decode encrypted", 1, "encrypted: the binary log is encrypted at offset 0"),
    call("matrix estimate encrypted", 1, "encrypted: the binary log is encrypted at offset 0"),
    # Documents and updates.
    call("""predict --document '{"a":' --update j""", 2, "the document: no JSON value begins like this at offset 5"),
    call(
        "predict --document 1 --update 'JSON_SAT(j)'",
        2,
        "JSON_SAT is outside predict's grammar",
        "expected a column, a literal, CAST",
    ),
    call("predict --document-hex zz --update j", 2, "--document-hex"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with files of all wrong kinds, and nothing of the developer's settings."""
    data = LOG.read_bytes()
    contents = {
        "text": b"not a log, a Case, or a list", "empty": b"", "encrypted": ENCRYPTED, "cut": data[: EVENT + 42],
        "list.json": b"[1]", "torn.json": b'{"a":', "deep.json": b"[" * DEPTH + b"]" * DEPTH,
        "deep-object.json": b'{"a":' * DEPTH + b"1" + b"}" * DEPTH, "deep.toml": b"a = " + b"[" * DEPTH,
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory" / "mine").touch()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(frame.DEBUG_VARIABLE, raising=False)
    with (tmp_path / "pipe").open("r+b", buffering=0):  # else opening it would wait for a writer
        yield tmp_path
    assert (tmp_path / "directory" / "mine").exists()


@pytest.mark.parametrize("wrong", CALLS, ids=lambda wrong: wrong.line)
def test_a_wrong_call_says_what_where_expected_and_got(
    wrong: Call, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.replace("LOG", str(LOG)) for word in shlex.split(wrong.line)]
    if "case.json" in arguments:
        assert frame.run(["cases", "show", "d6-equal"]) == 0
        (place / "case.json").write_text(capfd.readouterr().out, "utf-8")
    if wrong.process:
        done = lab(*arguments, cwd=place)
        code, out, err = done.code, done.out, done.err
    else:
        code = frame.run(arguments)
        out, err = capfd.readouterr()
    assert code == wrong.code, err
    for words in wrong.said:
        assert words in err
    assert "error: " in err
    assert "Traceback" not in out + err
    assert "this was not expected" not in err
    assert "secret" not in out + err
    if code == 2 and "estimate" not in arguments:
        assert out == ""
    assert all(len(line) < 400 for line in err.splitlines())


def test_there_are_forty_different_ones() -> None:
    lines = {wrong.line for wrong in CALLS}
    assert len(lines) == len(CALLS) >= 40
