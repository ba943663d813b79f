"""Words for subjects on the command line: ``cmd:…``, ``jsonl:…``, ``py:…``, ``wire:…``, or the name of a built-in.

Options stand behind a question mark at the end, such as ``jsonl:node adapter.js?timeout=5&capabilities=file,types``.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from conformance.cases.decoder_case import DECODE
from conformance.messages import did_you_mean
from conformance.subjects.answers import Hello, Subject, SubjectUnavailable
from conformance.subjects.capabilities import CAPABILITIES, FILE, ROLES
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from conformance.subjects.in_process import InProcess
from conformance.subjects.one_shot import PLACE, OneShot
from conformance.subjects.protocol import Malformed, check_words
from conformance.subjects.python_object import python_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

KINDS: Final = {
    "cmd": "cmd:PROGRAM … {file}",
    "jsonl": "jsonl:PROGRAM …",
    "py": "py:MODULE:OBJECT",
    "wire": "wire:PROGRAM …",
}
BUILTIN: Final = "builtin"
OPTIONS: Final = ("capabilities", "hello-timeout", "limit", "name", "roles", "source", "timeout", "version")
SOURCES: Final = ("mysql", "lab")  # what a client connects to
_TAIL: Final = re.compile(r"\?([a-z-]+=[^&\s'\"]*(?:&[a-z-]+=[^&\s'\"]*)*)$")
_SECRET: Final = re.compile(r"(?i)((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key)['\"]?[=: ])[^\s&'\"]+")
_ADDRESS: Final = re.compile(r"(://[^\s/:@]*:)[^\s@]+@")


class SubjectSpecError(Exception):
    """The words name no subject: unknown kind, name or option."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class SubjectSpec:
    """A subject as the user named it. ``str()`` is the name of its column, without secrets."""

    kind: str  # of KINDS, or BUILTIN
    target: str
    options: dict[str, str] = field(default_factory=dict)
    given: str = ""  # as the user wrote it, with options

    def __str__(self) -> str:
        words = self.target if self.kind == BUILTIN else f"{self.kind}:{self.target}"
        return self.options.get("name") or shown(words)

    @property
    def limits(self) -> Limits:
        """The limits, with the options of the spec."""
        found = Limits()
        if text := self.options.get("timeout"):
            found = replace(found, request=_number("timeout", text))
        if text := self.options.get("hello-timeout"):
            found = replace(found, hello=_number("hello-timeout", text))
        if text := self.options.get("limit"):
            found = replace(found, output=int(_number("limit", text) * (1 << 20)))
        return found


def shown(text: str) -> str:
    """A spec as it may be printed: passwords are hidden."""
    return _ADDRESS.sub(r"\1***@", _SECRET.sub(r"\1***", text))


def _number(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 < found < 1e6:
        raise SubjectSpecError(f"{name}={text}: expected a positive number ({'MB' if name == 'limit' else 'seconds'})")
    return found


def builtin_names() -> tuple[str, ...]:
    """The names of the built-in subjects."""
    return tuple(_builtin().names())


def builtin_clients() -> tuple[str, ...]:
    """The names of those that connect to a server."""
    return tuple(name for name in builtin_names() if _builtin().entry(name).reads == "server")


def _builtin() -> ModuleType:
    from conformance.subjects import builtin  # with the machinery that fetches packages

    return builtin


def parse_subject(text: str) -> SubjectSpec:
    """The subject that some words name. Raises :class:`SubjectSpecError`; starts nothing."""
    whole = text.strip()
    found = _TAIL.search(whole)
    words, tail = (whole[: found.start()], found[1]) if found else (whole, "")
    options = {key: unquote(value) for key, _, value in (part.partition("=") for part in tail.split("&") if part)}
    if wrong := [key for key in options if key not in OPTIONS]:
        raise SubjectSpecError(
            f"subject {shown(whole)}: unknown option {wrong[0]!r}{did_you_mean(wrong[0], OPTIONS)}; "
            f"options are {', '.join(OPTIONS)}"
        )
    kind, colon, target = words.partition(":")
    if not colon:
        if kind not in builtin_names():
            forms = ", ".join((*KINDS.values(), "or a built-in (binlog-lab subjects list)"))
            raise SubjectSpecError(
                f"unknown subject {shown(whole)!r}{did_you_mean(kind, builtin_names())}; expected {forms}"
            )
        if wrong := [key for key in options if key not in ("name", "source")]:
            raise SubjectSpecError(
                f"subject {kind}: a built-in subject has its own {wrong[0]}; the only options are name and source"
            )
        return _with_source(SubjectSpec(BUILTIN, kind, options, whole), connects=kind in builtin_clients())
    if kind not in KINDS:
        raise SubjectSpecError(
            f"unknown kind of subject {kind!r}{did_you_mean(kind, KINDS)}; expected {', '.join(KINDS.values())}"
        )
    target = target.strip()
    if not target:
        raise SubjectSpecError(f"subject {kind}: names nothing; expected {KINDS[kind]}")
    if kind in ("cmd", "jsonl"):
        _check_command(kind, target)
    if kind != "cmd" and "roles" in options:
        raise SubjectSpecError(f"subject {shown(words)}: it says its roles itself; roles is for one-shot commands")
    if kind == "py" and not re.fullmatch(r"[\w.]+:[\w.]+", target):
        raise SubjectSpecError(f"subject {shown(words)}: expected py:MODULE:OBJECT, such as py:my_decoder:decode")
    return _checked(_with_source(SubjectSpec(kind, target, options, whole), connects=kind == "wire"))


def _with_source(spec: SubjectSpec, *, connects: bool) -> SubjectSpec:
    """The spec, if its option ``source`` fits."""
    found = spec.options.get("source")
    if found is not None and not connects:
        raise SubjectSpecError(f"subject {spec}: it reads files; source is for clients that connect")
    if found is not None and found not in SOURCES:
        raise SubjectSpecError(f"subject {spec}: source={found} is unknown; expected {' or '.join(SOURCES)}")
    return spec


def _check_command(kind: str, target: str) -> None:
    words = _words(target)
    if kind == "cmd" and not any(PLACE in word for word in words):
        raise SubjectSpecError(
            f"subject cmd:{shown(target)}: the command has no {PLACE}, the place of the log's path; "
            f"expected, for example, cmd:{words[0]} {PLACE}"
        )


def _words(target: str) -> list[str]:
    try:
        return shlex.split(target)
    except ValueError as error:
        raise SubjectSpecError(f"the command {shown(target)!r} cannot be read: {error}") from None


def _checked(spec: SubjectSpec) -> SubjectSpec:
    """The spec, after its limits and its capabilities have been read once."""
    _ = spec.limits, _declared(spec), _roles(spec, {})
    return spec


def _roles(spec: SubjectSpec, declared: dict[str, Any]) -> tuple[str, ...]:
    """The roles of a one-shot command."""
    words = spec.options.get("roles")
    found = list(declared.get("roles", (DECODE,))) if words is None else [word for word in words.split(",") if word]
    try:
        return check_words("roles", found, ROLES)
    except Malformed as error:
        raise SubjectSpecError(f"subject {spec}: {error}") from None


def _declared(spec: SubjectSpec) -> dict[str, Any]:
    """The introduction that the option ``capabilities`` gives: words, or a JSON file with a list or an object."""
    value = spec.options.get("capabilities")
    if value is None:
        return {}
    words = [word for word in value.split(",") if word]
    if set(words) <= set(CAPABILITIES):
        return {"capabilities": tuple(words)}
    file = Path(value)
    if not file.is_file():
        raise SubjectSpecError(
            f"capabilities={value}: neither a file nor a list of {', '.join(CAPABILITIES)} (with commas between)"
        )
    try:
        data = json.loads(file.read_text("utf-8"))
        found = dict(data) if isinstance(data, dict) else {"capabilities": data}
        found["capabilities"] = check_words("capabilities", list(found.get("capabilities", (FILE,))), CAPABILITIES)
    except (ValueError, TypeError, Malformed) as error:
        raise SubjectSpecError(f"{file}: {error}") from None
    return found


def open_subject(spec: SubjectSpec, narrate: Callable[[str], None] = lambda _: None) -> Subject:
    """The subject, ready for ``hello()``. A built-in one is fetched if the cache does not have it.

    Raises :class:`SubjectUnavailable` where a program is missing.
    """
    declared = _declared(spec)
    if spec.kind == BUILTIN:
        _builtin().install(spec.target, narrate=narrate)
        found: Subject = _builtin().open(spec.target, source=spec.options.get("source", ""))
        return found
    return _OPENERS[spec.kind](spec, declared)


def open_in_process(spec: SubjectSpec) -> InProcess:
    """The Python object that a spec of the kind ``py`` names, in this process."""
    declared = _declared(spec)
    return InProcess(spec.target, capabilities=declared.get("capabilities"), called=spec.options.get("name", ""))


def client_command(spec: SubjectSpec, narrate: Callable[[str], None] = lambda _: None) -> list[str]:
    """The command of a client's adapter, for those who play the source themselves.

    Raises :class:`SubjectSpecError` for a subject that reads files.
    """
    if spec.kind == BUILTIN and spec.target in builtin_clients():
        return list(_builtin().install(spec.target, narrate=narrate).command())
    if spec.kind == "wire":
        return _command(spec.target)
    raise SubjectSpecError(f"subject {spec}: it reads files, and does not connect")


def _one_shot(spec: SubjectSpec, declared: dict[str, Any]) -> Subject:
    command = _command(spec.target)
    hello = Hello(
        name=str(spec.options.get("name") or declared.get("name") or Path(command[0]).name),
        version=str(spec.options.get("version") or declared.get("version") or ""),
        roles=_roles(spec, declared),
        capabilities=declared.get("capabilities", (FILE,)),
        note=str(declared.get("note") or ""),
    )
    return OneShot(command, hello=hello, limits=spec.limits)


def _conversation(spec: SubjectSpec, declared: dict[str, Any]) -> Subject:
    return Conversation(
        _command(spec.target),
        capabilities=declared.get("capabilities"),
        name=spec.options.get("name", ""),
        limits=spec.limits,
    )


def _python_object(spec: SubjectSpec, declared: dict[str, Any]) -> Subject:
    return python_object(
        spec.target,
        capabilities=declared.get("capabilities"),
        called=spec.options.get("name", ""),
        limits=spec.limits,
    )


def _stream(spec: SubjectSpec, declared: dict[str, Any]) -> Subject:
    from conformance.subjects.stream import open_stream  # with all that a server needs

    return open_stream(
        _command(spec.target),
        declared.get("capabilities"),
        spec.limits,
        spec.options.get("name", ""),
        spec.options.get("source", ""),
    )


_OPENERS: Final[dict[str, Callable[[SubjectSpec, dict[str, Any]], Subject]]] = {
    "cmd": _one_shot,
    "jsonl": _conversation,
    "py": _python_object,
    "wire": _stream,
}


def _command(target: str) -> list[str]:
    words = _words(target)
    if shutil.which(words[0]) is None:
        is_there = Path(words[0]).is_file()
        why = "is not executable" if is_there else "no such program"
        raise SubjectUnavailable(f"{words[0]}: {why}")
    return words
