"""Changes of what else a server and its clients say: error log, files, programs, the login."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tests.doctored.answer_changes import other_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from conformance.servers.recording.files import Entry

    Change = Callable[[Random, Entry], Entry | None]

OF_THE_LAB: Final = frozenset(
    ("now", "alive", "fate", "hazards", "name of a schema", "address", "address for a replica", "close", "provenance",
     "serve", "found by containers", "packets for", "login", "program", "error log", "file", "files", "start", "stop",
     "launch", "server under test", "client program", "has files", "write file", "remove files", "file exists",
     "meeting host", "forget persisted", "defaults file", "copy of the data", "detach", "replica", "old server")
)  # fmt: skip
"""Kinds of requests that have changes of their own, or whose answers the lab itself makes."""


def _answered(kind: str, change: Callable[[Random, Any], Any]) -> Change:
    def apply(random: Random, entry: Entry) -> Entry | None:
        if entry.kind != kind or not isinstance(entry.answer, dict) or "value" not in entry.answer:
            return None
        value = entry.answer["value"]
        changed = change(random, value)
        return None if changed is None or changed == value else replace(entry, answer={"value": changed})

    return apply


def _log(change: Callable[[Random, list[str]], list[str]]) -> Change:
    """A change of the lines that are new in an error log."""

    def apply(random: Random, value: Any) -> Any:
        kept, more = value
        lines = more.splitlines(keepends=True)
        return [kept, "".join(change(random, lines))] if lines else None

    return _answered("error log", apply)


def _text(random: Random, text: str) -> str:
    return other_value(random, text.encode("utf-8", "replace")).decode("utf-8", "replace")


def _line(random: Random, lines: list[str]) -> list[str]:
    place = random.randrange(len(lines))
    return [*lines[:place], _text(random, lines[place]), *lines[place + 1 :]]


def _no_line(random: Random, lines: list[str]) -> list[str]:
    place = random.randrange(len(lines))
    return [*lines[:place], *lines[place + 1 :]]


def _more_lines(random: Random, lines: list[str]) -> list[str]:
    place = random.randrange(len(lines) + 1)
    return [*lines[:place], "\udcff\x1b[31m 2031-01-01T00:00:00Z 9 [ERROR] [MY-000000] no such thing\n", *lines[place:]]


def _half(random: Random, lines: list[str]) -> list[str]:
    text = "".join(lines)
    return [text[: random.randrange(len(text))]]


def _bytes(change: Callable[[Random, bytes], bytes]) -> Callable[[Random, bytes], bytes | None]:
    def apply(random: Random, data: bytes) -> bytes | None:
        return change(random, data) if data else None

    return apply


def _bit(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + bytes((data[place] ^ 1 << random.randrange(8),)) + data[place + 1 :]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data))]


def _one_file(change: Callable[[Random, bytes], bytes | None]) -> Callable[[Random, Any], Any]:
    def apply(random: Random, value: Any) -> Any:
        names = sorted(name for name, data in value.items() if data)
        if not names:
            return None
        name = random.choice(names)
        return {**value, name: change(random, value[name])}

    return apply


def _no_file(random: Random, value: Any) -> Any:
    name = random.choice(sorted(value) or [""])
    return {each: data for each, data in value.items() if each != name}


def _exit(random: Random, value: Any) -> Any:
    return [random.choice([code for code in (0, 1, 2, 127, -6, -9, -11) if code != value[0]]), *value[1:]]


def _said(place: int, change: Callable[[Random, bytes], bytes]) -> Callable[[Random, Any], Any]:
    """A change of what a program writes: 1 is its output, 2 its errors."""

    def apply(random: Random, value: Any) -> Any:
        old = value[place]
        data = old.encode("utf-8", "surrogateescape") if isinstance(old, str) else bytes(old)
        if not data and change is not _noise:
            return None
        made = change(random, data)
        new = made.decode("utf-8", "replace") if isinstance(old, str) else made
        return [*value[:place], new, *value[place + 1 :]]

    return apply


def _noise(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + b"\nERROR: \xff\xfe no such thing\n" + data[place:]


def _no_line_of(random: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[random.randrange(len(lines))]
    return b"".join(lines)


def _version(random: Random, value: Any) -> Any:
    return [value[0], _text(random, value[1]), *value[2:]]


def _thread(random: Random, value: Any) -> Any:
    return [value[0] + random.randrange(1, 100), *value[1:]]


def _observed(random: Random, entry: Entry) -> Entry | None:
    """A part of what the lab looked at beside the sessions."""
    if entry.kind in OF_THE_LAB or not isinstance(entry.answer, dict) or "value" not in entry.answer:
        return None
    changed = _part(random, entry.answer["value"])
    return None if changed == entry.answer["value"] else replace(entry, answer={"value": changed})


def _part(random: Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + random.choice((-1, 1))
    if isinstance(value, str):
        return _text(random, value)
    if isinstance(value, bytes):
        return _bit(random, value) if value else b"\0"
    if isinstance(value, dict) and value:
        name = random.choice(sorted(value))
        return {**value, name: _part(random, value[name])}
    if isinstance(value, list) and value:
        place = random.randrange(len(value))
        return [*value[:place], _part(random, value[place]), *value[place + 1 :]]
    return None if value is not None else ""


OTHERS: Final[dict[str, Change]] = {
    "error log: line": _log(_line),
    "error log: line missing": _log(_no_line),
    "error log: line too many": _log(_more_lines),
    "error log: cut": _log(_half),
    "file: bit": _answered("file", _bytes(_bit)),
    "file: cut": _answered("file", _bytes(_cut)),
    "files: bit": _answered("files", _one_file(_bytes(_bit))),
    "files: cut": _answered("files", _one_file(_bytes(_cut))),
    "files: one missing": _answered("files", _no_file),
    "program: exit code": _answered("program", _exit),
    "program: output": _answered("program", _said(1, other_value)),
    "program: output cut": _answered("program", _said(1, _cut)),
    "program: output line missing": _answered("program", _said(1, _no_line_of)),
    "program: output noise": _answered("program", _said(1, _noise)),
    "program: errors": _answered("program", _said(2, other_value)),
    "program: errors noise": _answered("program", _said(2, _noise)),
    "login: version": _answered("login", _version),
    "login: thread": _answered("login", _thread),
    "looked at": _observed,
}
