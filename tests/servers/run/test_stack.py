"""The place of a crash: names out of a report, or out of the file of a program whose report has none."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from conformance.servers.roles.injector import crash_report, crash_signature
from conformance.servers.run.stack import build_of, function_name, upper_frames
from conformance.servers.run.symbols import HANDLER, symbols_of

if TYPE_CHECKING:
    from pathlib import Path

BUILD = "cc8a18826385d7182761a4a8f41044748267244d"
# Of a program that is loaded at 0x7f0000400000: the handler, and what called what.
BASE = 0x7F0000400000
FUNCTIONS = {
    HANDLER: (0x1310, 0xD6),
    "_ZN8Json_dom5parseERKN11json_binary5ValueE": (0x2000, 0x100),
    "_ZL10hidden_onei": (0x2100, 0x40),
    "_Z14read_json_diffPKhm": (0x3000, 0x80),
    "_Z10unpack_rowPK14Relay_log_infoP5TABLE": (0x5000, 0x200),
}
DEEP = [0x1200, 0x1390, 0x99, 0x2010, 0x2090, 0x2120, 0x3080, 0x4000, 0x5001]


def report(*frames: str) -> str:
    lines = [f" #{number} {frame}" for number, frame in enumerate(frames)]
    return "\n".join(["12:00:00 UTC - mysqld got signal 11 ;", f"BuildID[sha1]={BUILD}", *lines, "Status: x"]) + "\n"


def unknown(offsets: list[int], base: int = BASE) -> str:
    return report(*(f"{base + offset:#x} <unknown>" for offset in offsets))


def program(functions: dict[str, tuple[int, int]] = FUNCTIONS, *, kind: int = 11) -> bytes:
    """A file with one table of symbols (SHT_DYNSYM) and their names, of which other readers would accept the frame."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    symbols = bytes(24)
    for name, (start, size) in functions.items():
        symbols += struct.pack("<IBBHQQ", names.index(name.encode()), 0x12, 0, 14, start, size)
    symbols += struct.pack("<IBBHQQ", 1, 0x12, 0, 0, 0x9000, 9)  # not defined here
    symbols += struct.pack("<IBBHQQ", 1, 0x11, 0, 14, 0x9000, 9)  # no function
    first = 64
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 0, kind, 2, first, first, len(symbols), 2, 0, 8, 24)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, first + len(symbols), len(names), 0, 0, 1, 0)
    at = first + len(symbols) + len(names)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, 3, 0)
    return head + symbols + names + sections


@pytest.fixture
def mysqld(tmp_path: Path) -> Path:
    path = tmp_path / "mysqld"
    path.write_bytes(program())
    return path


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN8Json_dom5parseERKN11json_binary5ValueE", "Json_dom::parse"),
        ("Json_dom::parse(json_binary::Value const&)", "Json_dom::parse"),
        ("_ZNK12Json_wrapper9to_stringEP6StringbPKcRKSt8functionIFvvEE", "Json_wrapper::to_string"),
        ("_Z14read_json_diffPKhm", "read_json_diff"),
        ("_ZL14read_json_diffPKhm.cold", "read_json_diff"),
        ("read_json_diff(unsigned char const*, unsigned long) [clone .cold]", "read_json_diff"),
        ("raise", "raise"),
        ("raise@@GLIBC_2.2.5", "raise"),
        ("_ZSt9terminatev", "std::terminate"),
        ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"),
        ("_ZN5mysql6binlog5event16Log_event_headerC2ERNS1_12Event_readerE",
         "mysql::binlog::event::Log_event_header::Log_event_header"),
        ("_ZN8Gtid_setD1Ev", "Gtid_set::~Gtid_set"),
        ("_ZN2dd5cache14Multi_map_baseINS_6SchemaEE21remove_single_elementEPNS0_13Cache_elementIS2_EE",
         "dd::cache::Multi_map_base::remove_single_element"),
        ("void dd::cache::Multi_map_base<dd::Schema>::remove_single_element(dd::cache::Cache_element<dd::Schema>*)",
         "dd::cache::Multi_map_base::remove_single_element"),
        ("_ZN15Detached_threadclIPFvvEJEEEvOT_DpOT0_", "Detached_thread::operator"),
        ("void Detached_thread::operator()<void (*)()>(void (*&&)())", "Detached_thread::operator"),
        ("_ZThn16_N5Field5storeEv", "Field::store"),
        ("_ZN12_GLOBAL__N_14helpEv", "_GLOBAL__N_1::help"),
        ("(anonymous namespace)::help()", "_GLOBAL__N_1::help"),
        ("print_fatal_signal at mysql/sql/signal_handler.cc:319", "print_fatal_signal"),
        ("_Z", "_Z"), ("_ZN", "_ZN"), ("_ZN99short", "_ZN99short"), ("_Z9", "_Z9"),
    ],
)  # fmt: skip
def test_a_function_has_one_name_mangled_and_readable(symbol: str, name: str) -> None:
    assert function_name(symbol) == name


def test_names_of_a_report_are_taken_without_what_raises_signals_and_what_libraries_do() -> None:
    text = report(
        "0x1 print_fatal_signal", "0x2 handle_fatal_signal(int, siginfo_t*, void*)", "0x3 <unknown>", "0x4 raise",
        "0x5 abort", "0x6 _ZSt9terminatev", "0x7 __cxa_throw", "0x8 a::b(int)+0x17", "0x9 a::b(int)",
        "0xa <unknown>", "0xb _ZSt4moveIiEvv", "0xc c", "0xd", "0xe d", "0xf e", "0x10 f",
    )  # fmt: skip
    assert upper_frames(text) == ("a::b", "c", "d", "e")
    assert build_of(text) == BUILD[:12]
    assert crash_signature(text) == f"signal 11 in a::b < c < d < e (build {BUILD[:12]})"


@pytest.mark.parametrize("zone", ["Z", "+01:00"])
def test_a_line_of_the_log_inside_the_report_is_no_frame(zone: str) -> None:
    # Observed on 9.7.4: a replica's other threads go on writing while one reports its crash.
    text = report("0x1 raise", "0x2 a::b(int)+0x17", "0x3 c", "0x4 d", "0x5 e", "0x6 f")
    logged = f"2026-11-24T15:59:58.123456{zone} 12 [Warning] [MY-010584] [Repl] Worker 1 [d] 0x7 at end_log_pos\n"
    for place in range(len(text) + 1):
        if text[:place].endswith((" ", "\n")) or text[place:].startswith((" ", "\n")):
            assert upper_frames(text[:place] + logged + text[place:]) == ("a::b", "c", "d", "e")


def test_a_report_without_names_has_those_of_the_program_wherever_it_is_loaded(mysqld: Path) -> None:
    expected = ("Json_dom::parse", "hidden_one", "read_json_diff", "unpack_row")
    for base in (BASE, 0x7F0000400000 + 4096, 0x555555554000):
        assert upper_frames(unknown(DEEP, base), mysqld) == expected
    text = unknown(DEEP)
    assert crash_signature(text, mysqld) == f"signal 11 in {' < '.join(expected)} (build {BUILD[:12]})"
    assert crash_report(text, crash_signature(text, mysqld), mysqld) == text


def test_what_is_in_no_function_has_no_name(mysqld: Path) -> None:
    symbols = symbols_of(mysqld)
    assert [symbols.name(address) for address in (0x1FFF, 0x2000, 0x2001, 0x2100, 0x2101, 0x2140, 0x2141, 0x9001)] == [
        "", "", *["_ZN8Json_dom5parseERKN11json_binary5ValueE"] * 2, *["_ZL10hidden_onei"] * 2, "", "",
    ]  # fmt: skip
    assert symbols.resolve([BASE + 0x2010] * 5) == ("",) * 5  # no handler: nobody knows where it is loaded


def test_without_names_the_ends_of_addresses_stay(tmp_path: Path) -> None:
    text = unknown(DEEP)
    words = f"signal 11: 090,120,080,000,001 (build {BUILD[:12]})"
    assert crash_signature(text) == words
    for number, data in enumerate((b"", b"#!/bin/sh\n", program()[:-70], program(kind=3), b"\x7fELF\x02\x01")):
        path = tmp_path / str(number)
        path.write_bytes(data or b" ")
        assert crash_signature(text, path) == words
    assert crash_signature(text, tmp_path / "none") == words
    assert upper_frames("no report") == ()
    assert build_of("no report") == ""
