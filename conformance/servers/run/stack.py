"""The place of a crash, from the report in an error log: the build, and the names of the upper frames.

The names are function names without parameters, template arguments and offsets. So an address or a type that another
compiler writes differently does not make another place. The frames leave out functions that catch and raise signals,
and the C and C++ libraries, whose versions differ between machines. Observed on 9.7.4: ``#12 0x7f3d6c0ef45a NAME`` with
a mangled name, or <unknown> if the server does not find its own file (``servers.run.symbols`` does).
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from conformance.cases.server_death import UPPER
from conformance.servers.run.symbols import symbols_of

if TYPE_CHECKING:
    from pathlib import Path

_FRAME: Final = re.compile(r"^\s*#\d+ 0x([0-9a-f]+)(?: ([^\n]+))?$", re.MULTILINE)
_BUILD: Final = re.compile(r"^BuildID\[sha1\]=([0-9a-f]{12})", re.MULTILINE)
# A whole line of the log, which another thread may write into the middle of a frame's line.
_LOGGED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d) \d+ \[\w+\] \[MY-\d+\][^\n]*\n?")
_UNKNOWN: Final = "<unknown>"
_NOT_THE_PLACE: Final = re.compile(
    r"(my_print_stacktrace|print_fatal_signal|handle_fatal_signal|raise|gsignal|abort|_.*|std(::.*)?|tcmalloc::.*|tc_.*"
    r"|malloc|calloc|realloc|free|operator|my_abort|ut_dbg_assertion_failed|mem(cpy|move|set|cmp)|str(len|cmp|cpy))"
)
# The parts of mangled names (Itanium C++ ABI, 5.1).
_LENGTH: Final = re.compile(r"L?(\d+)")
_QUALIFIERS: Final = re.compile(r"[rVK]*[RO]?")
_THUNK: Final = re.compile(r"T(hn?\d+_|vn?\d+_n?\d+_)")
_LITERAL: Final = re.compile(r"L[a-z]n?\d+E")
_SUBSTITUTE: Final = re.compile(r"S(t|[a-z]|[0-9A-Z]*_)")
_ABI_TAG: Final = re.compile(r"B(\d+)")
_CONSTRUCTOR: Final = re.compile(r"C[1-3]")
_DESTRUCTOR: Final = re.compile(r"D[0-2]")
_OPERATOR: Final = re.compile(r"[a-z][a-zA-Z]")
_OPENS: Final = "INXFJ"


def build_of(report: str) -> str:
    """The first twelve digits of the build's id; empty if the report has none."""
    found = _BUILD.search(report)
    return found[1] if found is not None else ""


def upper_frames(report: str, program: Path | None = None) -> tuple[str, ...]:
    """The names of the upper frames, innermost first, at most :data:`UPPER`; recursive functions appear once.

    Frames without a name are left out. No frames remain if neither the report nor ``program``, the server's file, has
    names.
    """
    frames = _FRAME.findall(_LOGGED.sub("", report))
    said = ["" if name in ("", _UNKNOWN) else name for _, name in frames]
    kept = _kept(program, [int(address, 16) for address, _ in frames])
    names = [function_name(in_log or in_file) for in_log, in_file in zip(said, kept, strict=True)]
    places = [name for name in names if name and not _NOT_THE_PLACE.fullmatch(name)]
    return tuple(name for name, _ in groupby(places))[:UPPER]


def _kept(program: Path | None, addresses: list[int]) -> tuple[str, ...]:
    if program is not None:
        try:
            return symbols_of(program).resolve(addresses)
        except OSError:  # the file is gone, or not ours to read
            pass
    return ("",) * len(addresses)


def function_name(symbol: str) -> str:
    """``Json_dom::parse`` from ``_ZN8Json_dom5parseE...`` and from ``Json_dom::parse(json_binary::Value const&)``.

    A mangled name that the function does not understand stays unchanged. Every operator is called ``operator``.
    """
    whole = symbol.split("@", 1)[0]
    if not whole.startswith("_Z"):
        return _without_types(whole)
    parts = _parts(whole.split(".", 1)[0][2:])
    return "::".join(parts) if parts else whole


def _without_types(text: str) -> str:
    """Remove parameters and template arguments from a demangled name."""
    text = text.split(" at ", 1)[0].split(" [clone", 1)[0].replace("(anonymous namespace)", "_GLOBAL__N_1")
    text = re.sub(r"\boperator\b.*", "operator", text)
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text.split("(", 1)[0].strip().rpartition(" ")[2].split("[", 1)[0]


def _parts(text: str) -> list[str]:
    """The parts of a mangled name; an empty list if the function does not understand it."""
    text = text.lstrip("Z")
    thunk = _THUNK.match(text)
    at = thunk.end() if thunk else 0
    nested = text[at : at + 1] == "N"
    if nested:
        found = _QUALIFIERS.match(text, at + 1)
        at = found.end() if found else at + 1
    parts: list[str] = []
    while at < len(text):
        part, at = _part(text, at, parts)
        if part is None:
            return []
        if part:
            parts.append(part)
        if at >= len(text) or text[at] == "E" or (not nested and part not in ("", "std")):
            return parts
    return []


def _part(text: str, at: int, parts: list[str]) -> tuple[str | None, int]:
    """One part of a name and the position after it.

    The part is an empty text for components that are no name, and ``None`` for those that the function does not
    understand.
    """
    if (found := _LENGTH.match(text, at)) is not None:
        end = found.end() + int(found[1])
        return (text[found.end() : end] if end <= len(text) else None), end
    if text[at] == "I":
        return "", _behind_arguments(text, at)
    if (found := _ABI_TAG.match(text, at)) is not None:
        return "", found.end() + int(found[1])
    if (found := _SUBSTITUTE.match(text, at)) is not None:
        return ("std" if found[1] == "t" else None if found[1][-1] == "_" else "std"), found.end()
    if parts and (found := _CONSTRUCTOR.match(text, at)) is not None:
        return parts[-1], found.end()
    if parts and (found := _DESTRUCTOR.match(text, at)) is not None:
        return f"~{parts[-1]}", found.end()
    if (found := _OPERATOR.match(text, at)) is not None:
        return "operator", len(text)
    return None, len(text)


def _behind_arguments(text: str, at: int) -> int:
    """The position where template arguments end. The scan skips text with a stated length; other letters are types."""
    depth = 0
    while at < len(text):
        found = _LITERAL.match(text, at) or _SUBSTITUTE.match(text, at)
        if found is not None:
            at = found.end()
            continue
        if (found := _LENGTH.match(text, at)) is not None:
            at = found.end() + int(found[1])
            continue
        depth += (text[at] in _OPENS) - (text[at] == "E")
        at += 1
        if not depth:
            break
    return at
