"""The plan of a run of checks: the kinds that it judges, its recordings, and the command lines that repeat it."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.console import narrate
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.recording.directory import Manifest
    from conformance.servers.specs import ServerSpec

_ADDRESS: Final = re.compile(r"(|--[\w-]+=|-\w)(mysql://.*)", re.DOTALL)  # alone, or with its option in front


def judged_recording(specs: list[ServerSpec], refused: dict[str, Any], kept: dict[str, Any]) -> Manifest | None:
    """The manifest of the recording that is judged, if the run is about one. ``kept``: what it decides itself."""
    from conformance.runs.check_runs.recorded_runs import recording_in, refuse_with_recording
    from conformance.servers.errors import SpecError

    try:
        manifest = recording_in(specs)
    except SpecError as problem:
        raise Usage(str(problem)) from problem
    if manifest is not None:
        refuse_with_recording({**refused, **kept}, judging=True)
    return manifest


def with_recordings(
    parsed: list[tuple[ServerSpec, str]], pairs: list[tuple[str, str]]
) -> tuple[list[tuple[ServerSpec, str]], list[tuple[str, str]], list[str]]:
    """The same, with a column for each recorded version in the place of ``none``; and the version of each column."""
    from conformance.harness.updates.captures import recorded_versions
    from conformance.servers.specs import SpecKind

    found = [
        (spec, pair, version)
        for spec, pair in zip(parsed, pairs, strict=True)
        for version in (reversed(recorded_versions()) if spec[0].kind is SpecKind.NONE else [""])
    ]
    return [spec for spec, _, _ in found], [pair for _, pair, _ in found], [version for _, _, version in found]


def described(seed: str, updates: int, servers: list[str], subjects: list[str]) -> str:
    """Describe what the run is going to do."""
    words = [f"seed {seed}"]
    if servers:
        words.append("recorded updates" if servers == ["none"] else f"{updates:,} updates")
        words.append(f"server {', '.join(servers)}")
    if subjects:
        words.append(f"subject {', '.join(subjects)}")
    return ", ".join(words)


def judged_kinds(requirements: Iterable[str], servers: bool, subjects: bool) -> tuple[bool, bool]:
    """Whether to judge servers, and subjects: rows about decoders need a subject, other rows need a server."""
    from conformance.requirements.catalogue import DECODER, REQUIREMENTS

    about = {REQUIREMENTS[name].judged_on == DECODER for name in requirements}
    if about == {True} and not subjects:
        raise Usage("these requirements are judged on a subject: name one with --subject (binlog-lab subjects list)")
    if about == {False} and not servers:
        raise Usage("these requirements are judged on a server, not on a subject: name one with --server")
    if about == {False} and subjects:
        narrate("subjects are left out: the requirements are about servers")
    if about == {True} and servers:
        narrate("servers are left out: the requirements are about decoders")
    return False in about, True in about


def replay_command(
    server: str, replica: str, server_options: tuple[str, ...], deviations_file: Path | None, no_deviations: bool
) -> str:
    """The ``binlog-lab replay`` command, with the options that judge a stored Case as this run did."""
    words = ["binlog-lab", "replay"]
    if server and server != "none":
        words += ["--server", _whole(server)]
    if replica:
        words += ["--replica", _whole(replica)]
    for option in server_options:
        words += ["--server-option", option]
    if no_deviations:
        words.append("--no-deviations")
    elif deviations_file is not None:
        words += ["--deviations", str(deviations_file.absolute())]
    return shlex.join(words)


def _whole(spec: str) -> str:
    """A server spec that means the same in any folder."""
    kind, _, path = spec.partition(":")
    return f"{kind}:{Path(path).absolute()}" if kind == "process" and path else spec


def nothing_selected(requirements: frozenset[str]) -> Usage:
    """The error where no check judges the requirements."""
    from conformance.requirements.catalogue import REQUIREMENTS

    reasons = [f"{name}: {REQUIREMENTS[name].explanation or 'no check'}" for name in sorted(requirements)]
    return Usage("nothing was selected: no check judges these requirements", hint="\n".join(reasons) or None)


def command_line() -> str:
    """The command as typed, with the secrets in addresses hidden."""
    from conformance.servers.specs import parse_spec

    words = ["binlog-lab"]
    for word in sys.argv[1:]:
        address = _ADDRESS.fullmatch(word)
        words.append(f"{address[1]}{parse_spec(address[2])}" if address else word)
    return shlex.join(words)
