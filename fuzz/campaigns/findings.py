"""Findings on the disk: outside of any repository, readable by their owner alone, with a text for the vendor.

Each bucket has a directory with these files.

- ``first.json`` and ``smallest.json``: Cases, for ``binlog-lab replay``
- ``show.sql`` or ``show.txt``: how to see the finding without the lab
- ``error.log``: the server's own crash report
- ``REPORT.md``: the text for the vendor
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierTransaction
from conformance.cases.by_hand.damaged_log import rows_in
from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.injection import Injection
from conformance.cases.bytes_case import BytesCase
from conformance.cases.files import dump_case
from conformance.harness.findings import write_private
from fuzz.campaigns.damaged_fields import damaged_fields
from fuzz.campaigns.inputs import RelayLog
from fuzz.campaigns.known import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.cases.files import AnyCase
    from fuzz.campaigns.buckets import Bucket, Buckets
    from fuzz.campaigns.channels import Channel
    from fuzz.campaigns.trial import Trial


_DEMAND: Final = (
    "WL#2955, section 7.1, asks for an error where an event is in a bad format, and FR5 for a server that never "
    "crashes and never holds invalid JSON."
)

_ONCE: Final = (
    "Run again, alone, the input did not show this: what came before it may be the reason, or somebody ended the "
    "program."
)

_ELSEWHERE: Final = (
    "Its damage and signal are those of the listed crash `{}`, whose deaths had another stack: this is another place."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A campaign's facts for the report. ``command``: the words that run the campaign again, without ``--only``."""

    campaign: str
    seed: str
    subject: str  # the subject's version and origin
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """``as_script``: a Case as a script for people."""

    root: Path
    about: About
    as_script: Callable[[AnyCase], str]

    def keep(self, bucket: Bucket, channel: Channel) -> None:
        """Store the first input of a bucket, before any other work on it."""
        directory = self.directory(bucket)
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        bucket.directory = directory
        self._write(directory / "first.json", self._case(bucket.first))
        log = channel.crash_report(bucket.first)
        if log:
            write_private(directory / "error.log", log.encode())
        self._report(bucket, channel, log)
        self._facts(bucket)

    def directory(self, bucket: Bucket) -> Path:
        """The directory of a bucket."""
        return self.root / bucket.name

    def remove(self, bucket: Bucket) -> None:
        """Remove what was stored of a bucket that is none of its own."""
        if bucket.directory is not None:
            shutil.rmtree(bucket.directory)
            bucket.directory = None

    def close(self, buckets: Buckets) -> None:
        """Write what is known now of each kind, for later campaigns."""
        for bucket in buckets.found.values():
            if bucket.directory is not None:
                self._facts(bucket, buckets.earlier.get(bucket.kind))

    def _facts(self, bucket: Bucket, earlier: Known | None = None) -> None:
        assert bucket.directory is not None
        first = f"fuzz {self.about.campaign} {self.about.seed} {bucket.first.place}"
        Known(
            kind=bucket.kind,
            listed="" if bucket.entry is None else bucket.entry.id,
            damage=bucket.damage,
            stacks=bucket.stacks,
            count=bucket.count + (earlier.count if earlier else 0),
            shrunk=bucket.shrunk,
            first=earlier.first if earlier else first,
        ).write(bucket.directory)

    def keep_smallest(self, bucket: Bucket, channel: Channel) -> None:
        """Store the smallest input and its report."""
        assert bucket.directory is not None
        self._write(bucket.directory / "smallest.json", self._case(bucket.smallest))
        log = bucket.directory / "error.log"
        self._report(bucket, channel, log.read_text("utf-8") if log.exists() else "")
        self._facts(bucket)

    def _case(self, trial: Trial) -> AnyCase | None:
        """The trial's input as a Case; ``None`` for a transaction and a relay log, which have no kind of Case, only a
        script.
        """
        case = trial.case
        seed = f"fuzz {self.about.campaign} {self.about.seed} {trial.place}"
        if isinstance(case, Injection):
            return EventCase(id=case.id, requirements=("FR5",), seed=seed, injection=case)
        return case if isinstance(case, BytesCase) else None

    def _write(self, path: Path, case: AnyCase | None) -> None:
        if case is not None:
            write_private(path, f"{json.dumps(dump_case(case), indent=1, ensure_ascii=False)}\n".encode())

    def _report(self, bucket: Bucket, channel: Channel, log: str) -> None:
        assert bucket.directory is not None
        case = self._case(bucket.smallest)
        statements = channel.script(bucket.smallest)
        script = self.as_script(case) if case is not None else "".join(f"{text};\n" for text in statements)
        name = "show.sql" if statements else "show.txt"
        write_private(bucket.directory / name, script.encode())
        write_private(bucket.directory / "REPORT.md", report(self.about, bucket, name, log).encode())


def diff_bytes(trial: Trial) -> int:
    """The size of the part that causes the finding: the images of the rows, or a file of any events."""
    case = trial.case
    if isinstance(case, Injection):
        return len(case.image)
    if isinstance(case, ApplierTransaction):
        return sum(len(row.image) for row in case.rows)
    if isinstance(case, RelayLog):
        return len(case.data)
    return next((len(row) for _, row in rows_in(case.data)), len(case.data))


def report(about: About, bucket: Bucket, script: str, log: str) -> str:
    """The text for a vendor, to be sent once somebody has read it."""
    trial = bucket.smallest
    judged, crash = trial.judged, trial.crash
    lines = [
        f"# {about.subject}: {_title(trial)}",
        "",
        "Private until the vendor has answered: whoever has these bytes can do this to other servers.",
        "",
        "## What happens",
        "",
        f"{_how(trial)}",
        f"Expected: {judged.expected or 'an error that changes nothing, or a readable document'}.",
        f"Got: {judged.got}.",
        *([f"Signature: {crash}."] if crash is not None else []),
        *(["", _ELSEWHERE.format(bucket.place_of.name)] if bucket.place_of is not None else []),
        *(["", f"Known to the lab as `{bucket.entry.id}`: {bucket.entry.reason}"] if bucket.entry is not None else []),
        *(() if bucket.again else ("", _ONCE)),
        "",
        _DEMAND,
        "",
        "## What is damaged",
        "",
        *(f"- {line}" for line in damaged_fields(trial.case)),
        "",
        "## How to see it",
        "",
        f"`{script}`, beside this file, on a server or with a program that nobody needs.",
        f"Bytes that do it: {diff_bytes(trial)}" + _hex(trial),
        "",
        "## Who can do it",
        "",
        _who(trial),
        "",
        "## How it was found",
        "",
        f"First at input `{bucket.first.place}`, of {diff_bytes(bucket.first)} bytes. Again:",
        "",
        "```sh",
        f"{about.command} --only {bucket.first.place}",
        "```",
    ]
    if log:
        lines += ["", "## Error log", "", "```text", *_without_noise(log), "```"]
    return "\n".join(lines) + "\n"


def _title(trial: Trial) -> str:
    return (trial.what if trial.killed else trial.judged.rule).removeprefix("mysqlbinlog ")


def _how(trial: Trial) -> str:
    case = trial.case
    if isinstance(case, BytesCase):
        return f"`mysqlbinlog -v` reads a binary log ({case.name}, a file of {len(case.data)} bytes)."
    if isinstance(case, RelayLog):
        return f"A replica reads a relay log of {len(case.data)} bytes ({case.name})."
    if isinstance(case, ApplierTransaction):
        return f"A replica's applier gets a Partial_update_rows event of {len(case.rows)} row(s) ({case.name})."
    return f"A Partial_update_rows event (type 39) is given to a BINLOG statement ({case.name})."


def _who(trial: Trial) -> str:
    if isinstance(trial.case, BytesCase):
        return "Whoever can make somebody print a binary log."
    if isinstance(trial.case, RelayLog):
        return (
            "Whoever can write this server's relay logs. Whether a source can send it is for somebody to find out: its "
            "receiver looks at some of the damages itself."
        )
    return (
        "Whoever may execute BINLOG statements, and whoever controls a source that this server replicates from, or its "
        "relay logs."
    )


def _hex(trial: Trial) -> str:
    if isinstance(trial.case, (BytesCase, RelayLog)):
        return "."
    rows: Sequence[Injection] = trial.case.rows if isinstance(trial.case, ApplierTransaction) else (trial.case,)
    return ":\n\n```text\n" + "\n".join(row.image.hex() for row in rows) + "\n```"


def _without_noise(log: str) -> list[str]:
    """The crash report itself, without the server's output after its restart."""
    lines = log.splitlines()
    end = next((number for number, line in enumerate(lines) if "[System]" in line or "[Warning]" in line), len(lines))
    return lines[: min(end, 80)]
