"""Scripts about clients that connect: the source's part of a conversation is recorded, and played without the kit."""

from __future__ import annotations

import base64
import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.decoders.accusations import forms
from conformance.checks.decoders.accusations.conversation import Conversation, playing
from conformance.checks.decoders.accusations.proof import UNRECORDED, State, prove, run, shown
from conformance.checks.decoders.accusations.script import script_of
from conformance.checks.decoders.accusations.vendors import VENDORS, Vendor, source_of
from conformance.checks.decoders.suite import load_suite
from conformance.judge.decoding.difference import Difference, DifferenceKind
from conformance.judge.decoding.judge import Judgement
from conformance.judge.decoding.signatures import signature_of
from conformance.subjects.source import NotServed
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase

SUITE = {case.id: case for case in load_suite().cases}
CASE, OTHER = SUITE["columns/int"], SUITE["columns/year"]
_MISSING = Difference(
    kind=DifferenceKind.MISSING_CHANGE, place="changes[0]", expected="", got="", what="WRITE_ROWS_EVENT"
)
LOST = Judgement(
    verdict=Verdict.SILENT_LOSS, message="lost", signature=signature_of(_MISSING), requirement="DEC1",
    differences=(_MISSING,),
)  # fmt: skip
CLIENT = """
import base64, hashlib, socket

def scramble(password, nonce):
    once = hashlib.sha1(password).digest()
    mask = hashlib.sha1(nonce + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))

def rows(log):
    client = socket.create_connection((SERVER["host"], SERVER["port"]))
    stream = client.makefile("rb")
    packet = lambda: stream.read(int.from_bytes(stream.read(4)[:3], "little"))
    def say(payload, sequence=0):
        client.sendall(len(payload).to_bytes(3, "little") + bytes([sequence]) + payload)
    greeting = packet().partition(b"\\0")[2]
    proof = scramble(SERVER["password"].encode(), greeting[4:12] + greeting[31:43])
    flags = (0x200 | 0x8000 | 0x80000).to_bytes(4, "little")
    user = SERVER["user"].encode() + b"\\0\\x14" + proof + b"mysql_native_password\\0"
    say(flags + bytes(4) + b"\\xff" + bytes(23) + user, 1)
    assert packet()[:1] == b"\\0"
    for question in QUESTIONS:
        say(b"\\3" + question)
        if packet()[:1] == b"\\xff":
            raise ValueError("an error of the server")
        while question[:3] != b"SET" and packet() != b"\\xfe\\0\\0\\2\\0":
            pass
        while question[:3] != b"SET" and packet() != b"\\xfe\\0\\0\\2\\0":
            pass
    say(b"\\x12" + SERVER["position"].to_bytes(4, "little") + bytes(2) + b"\\x64\\0\\0\\0" + SERVER["file"].encode())
    came = b""
    while SERVER["schema"].encode() not in came:
        came += packet()[1:]
    if base64.b64decode(LAST) in came:
        yield from ROWS
"""
QUESTIONS = (b"SET @source_binlog_checksum = 'CRC32'", b"SELECT @@global.binlog_checksum")


def library(case: DecoderCase, count: int, *questions: bytes) -> Vendor:
    """A client that gives so many changes, if the end of the Case's log came."""
    rows = [(change["operation"], change["before"], change["after"]) for change in case.expected][:count]
    last = base64.b64encode(case.log[-40:])
    source = f"ROWS, LAST, QUESTIONS = {rows!r}, {last!r}, {(*QUESTIONS, *questions)!r}\n{CLIENT}"
    return Vendor(source, "planted 1.0", "nothing", connects=True)


def script(vendor: Vendor, case: DecoderCase, server: list[str], judgement: Judgement = LOST) -> str:
    return script_of(vendor, case, judgement, judgement.signature, server)


def ended(vendor: Vendor, case: DecoderCase, talks: Conversation, judgement: Judgement = LOST) -> tuple[int, str]:
    """How the script about a Case ends that plays a recorded conversation."""
    server = talks.recorded(case, lambda live: run(script(vendor, case, live, judgement), sys.executable, []))
    text = script(vendor, case, server, judgement)
    assert "conformance" not in text
    assert "LOG = " not in text
    return run(text, sys.executable, [])


def test_a_client_reads_the_log_from_a_played_server() -> None:
    count = len(CASE.expected)
    code, said = ended(library(CASE, count), CASE, Conversation())
    assert (code, said.splitlines()[-1]) == (0, "as expected"), said
    code, said = ended(library(CASE, count - 1), CASE, Conversation())
    assert (code, said.splitlines()[-1]) == (1, "FAULT"), said
    proof = shown(VENDORS["zongji"], "zongji", (code, said), LOST, LOST.signature, "")
    assert (proof.state, proof.program) == (State.REPRODUCED, "@vlasky/zongji 0.9.0")


def test_the_conversation_about_another_case_is_foretold_by_the_commands_of_the_first() -> None:
    talks = Conversation()
    ended(library(CASE, 1), CASE, talks)
    assert [command[:1] for command in talks.commands] == [b"\x03", b"\x03", b"\x12"]
    foretold = talks.foretold(OTHER)
    assert foretold == talks.recorded(
        OTHER, lambda live: run(script(library(OTHER, 1), OTHER, live), sys.executable, [])
    )
    assert foretold != talks.foretold(CASE)
    code, said = run(script(library(OTHER, len(OTHER.expected)), OTHER, foretold), sys.executable, [])
    assert (code, said.splitlines()[-1]) == (0, "as expected"), said


def test_what_a_client_says_to_one_log_is_kept_for_the_next() -> None:
    """A log without checksums is asked for in other words: a later one with some is served all the same."""
    talks = Conversation()
    ended(library(CASE, 1), CASE, talks)
    ended(library(CASE, 1, b"SELECT @@version"), CASE, talks)
    kinds = [command.decode("latin-1")[1:20] for command in talks.commands]
    assert kinds[:3] == ["SET @source_binlog_", "SELECT @@global.bin", "SELECT @@version"]
    assert talks.commands[-1][:1] == b"\x12"
    assert run(script(library(OTHER, len(OTHER.expected)), OTHER, talks.foretold(OTHER)), sys.executable, [])[0] == 0


def test_a_question_that_was_not_recorded_decides_nothing() -> None:
    talks = Conversation()
    ended(library(CASE, 1), CASE, talks)
    asks_more = library(CASE, 1, b"SELECT @@version")
    code, said = run(script(asks_more, CASE, talks.foretold(CASE)), sys.executable, [])
    assert code == 3
    assert f"{UNRECORDED}[b'\\x03SELECT @@version']" in said
    assert said.endswith("undecided")
    assert ended(asks_more, CASE, talks)[0] == 1  # recorded anew, it is the library's fault again


def test_another_error_than_the_accused_one_decides_nothing() -> None:
    def refused(words: str) -> Judgement:
        return Judgement(verdict=Verdict.REFUSED, message=words, signature=f"refused: {words}", requirement="DEC1")

    raises = replace(library(CASE, 1), reader="def rows(log):\n    raise ValueError(\"no type 5 of 'x'\")\n    yield\n")
    for words, code in (
        ("no type N of X", 1), ("ValueError: no type N of X", 1), ("Packets out of order", 3), ("no type N", 1),
    ):  # fmt: skip
        assert run(script(raises, CASE, playing([], {}), refused(words)), sys.executable, [])[0] == code, words


def test_a_client_that_stalls_is_no_proof_of_another_fault() -> None:
    timeout = Judgement(verdict=Verdict.TIMEOUT, message="late", signature="late", requirement="DEC22")
    stalls = replace(library(CASE, 1), reader="def rows(log):\n    raise EOFError('nothing more')\n    yield\n")
    for judgement in (timeout, LOST):
        assert run(script(stalls, CASE, playing([], {}), judgement), sys.executable, [])[0] == 3


def test_a_case_that_no_source_serves_has_no_conversation() -> None:
    with pytest.raises(NotServed):
        Conversation().recorded(replace(CASE, log=b"nonsense"), lambda _: None)


def test_each_client_has_a_reader_and_is_installed_or_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = {name: vendor for name, vendor in VENDORS.items() if vendor.connects}
    assert set(clients) == {"python-mysql-replication-stream", "zongji", "powersync-zongji", "rivet", "debezium-engine"}
    absent: Any = lambda _: None  # noqa: E731
    monkeypatch.setattr("conformance.checks.decoders.accusations.proof.installed", absent)
    for name, vendor in clients.items():
        assert "SERVER" in vendor.source
        compile(script(vendor, CASE, playing([(b"\x03SELECT 1", [b"\x01"])], {})), name, "exec")
        proof = prove(name, CASE, LOST, LOST.signature)
        assert (proof.state, proof.said) == (State.NOT_REPRODUCED, f"{name} is not installed")


# --- readers: from the vendor's values to Python's -------------------------------------------------------------------


def names_of(reader: str) -> dict[str, Any]:
    """Return the names that a reader defines, without starting anything."""
    names: dict[str, Any] = {"SERVER": {}}
    exec(source_of(reader), names)
    return names


def test_numbers_of_javascript_keep_their_digits() -> None:
    plain = names_of("zongji")["plain"]
    assert (plain(["number", "5"]), plain(["bigint", "18446744073709551615"])) == (5, 2**64 - 1)
    assert repr(plain(["number", "-0"])) == "-0.0"
    assert repr(plain(["number", "1e+21"])) == "1e+21"
    assert str(plain(["json", '{"a": 1.10}'])["a"]) == "1.10"
    assert plain(["bytes", "00ff"]) == b"\x00\xff"
    assert (plain(["set", ["a", "b"]]), plain(["string", "x"]), plain(None)) == ({"a", "b"}, "x", None)


def test_values_of_rivet_are_read_by_the_types_of_the_columns() -> None:
    image = names_of("rivet")["image"]
    columns = {"j": "json", "s": "set('a','b')", "d": "date", "b": "blob"}
    assert image(['{"a": 1}', "\x03", "2024-02-29 00:00:00", "\\xff00"], columns) == {
        "j": {"a": 1}, "s": 3, "d": "2024-02-29", "b": b"\xff\x00",
    }  # fmt: skip
    assert image([1, 2], columns) == {"@1": 1, "@2": 2}  # a list that is shorter than the table has no names
    assert image(None, columns) is None


def test_a_text_that_is_no_document_is_no_error_of_the_library() -> None:
    plain = names_of("go_mysql")["plain"]
    assert type(plain(["json", ""])).__name__ == "NoJson"
    assert plain(["json", "[1]"]) == [1]


def test_no_integer_that_a_double_rounds_is_right() -> None:
    assert forms.of_leaf(2**53 + 1) == [str(2**53 + 1), repr(str(2**53 + 1))]
    assert "5.0" in forms.of_leaf(5)


def test_a_zero_that_lost_its_sign_is_wrong() -> None:
    same = names_of("tail")["same"]
    assert forms.of_leaf(-0.0) == ["-0.0", "'-0.0'"]
    assert forms.of_leaf({"$type": "DOUBLE", "text": "-0.0"}) == ["Decimal('-0.0')", "'-0.0'", "-0.0"]
    for form in (-0.0, Decimal("-0.0")):
        assert [same(got, form) for got in (-0.0, Decimal("-0.0"), 0, 0.0, Decimal(0))] == [True, True, *[False] * 3]
    for form in (0.0, Decimal(0)):
        assert [same(got, form) for got in (0.0, 0, Decimal(0), -0.0, Decimal("-0.0"))] == [*[True] * 3, False, False]
