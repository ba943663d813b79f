"""Running a script in the subject's own environment, and what that shows: the library's fault, or the adapter's."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.accusations.conversation import Conversation
from conformance.checks.decoders.accusations.script import script_of
from conformance.checks.decoders.accusations.vendors import VENDORS
from conformance.servers.child_process import run_child
from conformance.subjects.builtin import installed, printers
from conformance.subjects.builtin.catalogue import catalogue
from conformance.subjects.source import NotServed
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.accusations.vendors import Vendor
    from conformance.judge.decoding.judge import Judgement
    from conformance.subjects.builtin.install import Installed

_SECONDS: Final = 60
_MORE: Final = 30  # seconds that a script may take longer than it says
_SHOWN: Final = 400
_FAULT, _RIGHT = 1, 0
UNRECORDED: Final = "not recorded: "  # what scripts say of a question that the played server does not know
_TALKS: Final[dict[str, Conversation]] = {}  # by subject


class State(StrEnum):
    """The outcome of an accusation."""

    REPRODUCED = "reproduced"  # a script that calls the program alone shows it
    NOT_REPRODUCED = "not reproduced"  # no script, or one that decides nothing: nothing is said of the program
    ADAPTER = "adapter's fault"  # the library alone gives what is expected: the fault is in what stands before it


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of one script. ``said``: its lines; ``script``: its text, empty where none can be written."""

    state: State
    program: str  # at fault; empty where nobody knows
    said: str = ""
    script: str = ""

    @property
    def holds(self) -> bool:
        """Whether the accusation may be published."""
        return self.state is State.REPRODUCED


def prove(subject: str, case: DecoderCase, judgement: Judgement, signature: str, words: Sequence[str] = ()) -> Proof:
    """Write the script about one signature of a judgement and run it. ``subject``: a built-in one, installed.

    ``words``: arguments of the script, for a library that the subject does not bring alone.
    """
    vendor = VENDORS.get(subject)
    if vendor is None or case.sparse:
        why = "the log is too large for a script" if vendor else "the program has no script that calls it alone"
        return Proof(State.NOT_REPRODUCED, "", why)
    there = installed(subject)
    if vendor.connects and there is not None:
        return _prove_client(vendor, subject, there, case, judgement, signature)
    script = script_of(vendor, case, judgement, signature)
    if vendor.elsewhere and not words:
        return Proof(State.NOT_REPRODUCED, "", f"{vendor.product} is not here without its wrapper", script)
    if there is None:
        return Proof(State.NOT_REPRODUCED, "", f"{subject} is not installed", script)
    python, more = (sys.executable, [*words]) if words else _environment(there)
    return shown(vendor, subject, run(script, python, more, vendor.seconds), judgement, signature, script)


def _prove_client(
    vendor: Vendor, subject: str, there: Installed, case: DecoderCase, judgement: Judgement, signature: str
) -> Proof:
    """Let a client read from a played server; one that asks for what its last conversation has not is recorded anew."""
    talks = _TALKS.setdefault(subject, Conversation())

    def client(server: list[str]) -> Proof:
        script = script_of(vendor, case, judgement, signature, server)
        return shown(vendor, subject, run(script, *_environment(there), vendor.seconds), judgement, signature, script)

    try:
        proof = client(talks.foretold(case)) if talks.commands else None
        if proof is None or UNRECORDED in proof.said:
            proof = client(talks.recorded(case, client))
    except NotServed as problem:
        return Proof(State.NOT_REPRODUCED, "", f"the lab's source cannot serve the Case: {problem}")
    return proof


def _environment(there: Installed) -> tuple[str, list[str]]:
    """The Python that has the library, and the words behind the script."""
    if there.entry.opener:
        return sys.executable, printers.program_of(there)
    words = there.command()
    if there.entry.packages_of("npm"):  # the script starts the vendor's own runtime
        return sys.executable, [words[0], *words[2:]]
    return words[0], words[2:]


def shown(
    vendor: Vendor, subject: str, ended: tuple[int, str], judgement: Judgement, signature: str, script: str
) -> Proof:
    """Return the proof of a script that ended so. ``ended``: exit status and output."""
    state = _state(ended[0], judgement, signature)
    wrapper = catalogue()[subject].wrapper
    adapter = f"{f'{wrapper} or ' if wrapper else ''}the lab's adapter of {subject}"
    program = {State.REPRODUCED: vendor.product, State.ADAPTER: adapter}.get(state, "")
    return Proof(state, program, ended[1], script)


def _state(code: int, judgement: Judgement, signature: str) -> State:
    if judgement.signature == signature and judgement.verdict in (Verdict.CRASH, Verdict.TIMEOUT):
        return State.REPRODUCED if code < 0 else State.ADAPTER if code == _RIGHT else State.NOT_REPRODUCED
    return {_FAULT: State.REPRODUCED, _RIGHT: State.ADAPTER}.get(code, State.NOT_REPRODUCED)


def run(script: str, python: str, words: list[str], seconds: int = _SECONDS) -> tuple[int, str]:
    """Exit status and output of a script. It gets no path of the kit: ``-I``, and a directory of its own."""
    seconds += _MORE
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as directory:
        place = Path(directory) / "show.py"
        place.write_text(script, encoding="utf-8", errors="backslashreplace")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [python, "-I", str(place), *words]
        done = run_child(command, seconds=seconds, directory=directory, environment=environment)
    if done.returncode is None:
        return -1, f"no end after {seconds} s"
    out = done.text.strip().splitlines()
    if done.returncode not in (_FAULT, _RIGHT, 3) or not out or out[-1] not in ("FAULT", "as expected", "undecided"):
        error = done.words.splitlines()
        code = done.returncode if done.returncode < 0 else 3  # an exception of the script itself shows nothing
        return code, f"exit status {done.returncode}: {(error or ['nothing'])[-1][:_SHOWN]}"
    return done.returncode, "\n".join(line[:_SHOWN] for line in out[-3:])
