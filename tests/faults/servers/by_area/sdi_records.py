"""Faults in what the lab reads of dictionary information in data files: records, pages, and what ibd2sdi prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.sdi import check_crashes, judge
from conformance.checks.sdi.check import JudgedBatch
from tests.checks.sdi.faults_of_sdi import FAULTS
from tests.faults.fault import Fault
from tests.faults.servers.edits import after
from tests.faults.servers.fault import server

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.run import SequenceOutcome
    from tests.faults.servers.fault import ChangedAnswer
    from tests.faults.servers.packets import Answer

_CHECK: Final = "test_files_of_ddl_sequences"
_CRASHES: Final = "crash"
# What the failure says, and what a file that is seen so breaks as well.
_FILES: Final[dict[str, tuple[str, ...]]] = {
    "SDI1-lost": ("got 0 records.*has no SDI", "SDI65"),
    "SDI1-unannounced": ("flags 0x21;.*has no SDI", "SDI15"),
    "SDI7-backwards": ("not in the order of type and id", "SDI65"),
    "SDI7-by-id": ("not in the order of type and id", "SDI20", "SDI65"),
    "SDI8-two": ("expected one index; got .*, ", "SDI10"),
    "SDI8-none": (r"expected one index; got \[\]",),
    "SDI15-not-set": ("bit 14 set", "SDI1"),
    "SDI15-no-root": ("bit 14 clear", "SDI1"),
    "SDI19-inline": ("does not fit stays in its page",),
    "SDI19-no-chain": ("does not fit stays in its page",),
    "SDI20-frame": (r"got \('dd_object',\) of None;.*another format", "SDI65"),
    "SDI20-kind": ("of View;.*another format", "SDI65"),
    "SDI21-index-page": ("got INDEX; a page of another kind",),
    "SDI21-no-inode": ("in no inode page",),
    "SDI21-no-bitmap": ("bitmap is in a page of another kind",),
    "SDI21-free": ("calls a page of the SDI free",),
    "SDI21-outside": ("belongs to no segment",),
    "SDI21-no-segment": ("segments of the SDI cannot be read",),
    "SDI29-lob-page": ("got LOB_FIRST;.*another type", "SDI19"),
    "SDI29-zblob": ("got SDI_ZBLOB;.*another type", "SDI21"),
    "SDI65-refused": ("ibd2sdi refuses a file",),
    "SDI65-layout": ("--pretty at 0",),
    "SDI66-comment": ("table: comment;.*INFORMATION_SCHEMA differ", "SDI65"),
    "SDI66-page-0": ("flags; expected [0-9]+; got 0;.*INFORMATION_SCHEMA differ",),
}


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file alone, as the faults take it among other observations."""

    file: SdiFile

    @property
    def outcome(self) -> Any:
        """No sequence: the file stands alone."""
        return SimpleNamespace(files=())

    def with_outcome(self, **_: Any) -> _Seen:
        """The same file."""
        return self


def _in_each_file(change: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """Each file of a table is seen otherwise."""
    real = JudgedBatch.add_file

    def changed(judged: JudgedBatch, file: SdiFile, *words: Any) -> None:
        real(judged, change(_Seen(file)).file if file.objects and not file.page_compression else file, *words)

    return lambda patch: patch.setattr(JudgedBatch, "add_file", changed)


def _in_each_outcome(change: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """The files of a sequence are seen otherwise where their records are counted."""
    real = judge.records

    def changed(outcome: SequenceOutcome) -> Any:
        return real(replace(outcome, files=[change(_Seen(file)).file for file in outcome.files]))

    return lambda patch: patch.setattr(judge, "records", changed)


def _behind_crashes(name: str, change: Callable[[Any], Any], *, tables: bool = False) -> Callable[..., None]:
    """The files behind a crash are seen otherwise, or the dictionary lacks its tables."""
    real = getattr(check_crashes, name)

    def changed(files: Any, shown: Any, *words: Any) -> Any:
        return real(files if tables else [change(_Seen(file)).file for file in files], [] if tables else shown, *words)

    return lambda patch: patch.setattr(check_crashes, name, changed)


def _of(fault: Fault) -> Fault:
    says, *also = _FILES[fault.id]
    return Fault(
        f"files-{fault.id}",
        fault.requirement,
        f"Not so: {fault.sentence}",
        _in_each_file(fault.change),
        at=_CHECK,
        also=" ".join(also),
        says=says,
    )


def _hashed(kinds: str) -> ChangedAnswer:
    """Pages of these kinds are hashed."""

    def changed(answer: Answer) -> Answer:
        rows = tuple(
            (page, kind, b"YES" if re.fullmatch(kinds, (kind or b"").decode()) else seen)
            for page, kind, seen in answer.rows
        )
        return replace(answer, rows=rows)

    return after("is_hashed FROM information_schema.innodb_buffer_page", changed)


def _named(name: bytes, *, first: bool) -> ChangedAnswer:
    """Pages whose index the cache does not have any more have one: all, or the first of them."""

    def changed(answer: Answer) -> Answer:
        rows = [
            (page, name if index is None and not (first and place) else index)
            for place, (page, index) in enumerate(answer.rows)
        ]
        return replace(answer, rows=tuple(rows))

    return after("page_number, index_name FROM information_schema.innodb_buffer_page", changed)


_BY_ID: Final = {fault.id: fault for fault in FAULTS}


def _other(
    name: str, requirement: str, does: str, says: str, checks: str, plant: Callable[[pytest.MonkeyPatch], None]
) -> Fault:
    return Fault(f"files-{name}", requirement, does, plant, at=checks, says=says)


SDI_RECORD_FAULTS: Final = (
    *(_of(fault) for fault in FAULTS if fault.id in _FILES),
    *(
        _other(name, "SDI18", f"Not so: {_BY_ID[name].sentence}", says, _CHECK, _in_each_outcome(_BY_ID[name].change))
        for name, says in (
            ("SDI18-no-table", r"got \[\]; the files have records of other tables"),
            ("SDI18-table-twice", "records of other tables"),
        )
    ),
    _other("SDI27-file-only", "SDI27", "Behind a crash a file has another comment than the dictionary.",
           "table: comment;.*INFORMATION_SCHEMA differ", _CRASHES,
           _behind_crashes("both_or_none", _BY_ID["SDI27-file-only"].change)),
    _other("SDI27-no-dictionary", "SDI27", "Behind a crash the dictionary lacks the tables that files have.",
           "table: engine; expected None", _CRASHES, _behind_crashes("both_or_none", lambda seen: seen, tables=True)),
    _other("SDI64-damaged", "SDI64", "Behind recovery a file has a page with a wrong checksum.",
           "checksum; the reader refuses", _CRASHES, _behind_crashes("recovered", _BY_ID["SDI64-damaged"].change)),
    _other("SDI64-unfinished", "SDI64", "Behind recovery files have tables that the dictionary lacks.",
           "table records; expected", _CRASHES, _behind_crashes("recovered", lambda seen: seen, tables=True)),
    *(
        server(f"sdi-{name}", "SDI11", does, "the adaptive hash index serves", answer=_hashed(kinds))
        for name, does, kinds in (
            ("is-hashed", "The adaptive hash index serves tables of SDI.", "SDI_INDEX"),
            ("is-hashed-as-all", "The adaptive hash index serves every index page.", ".*"),
        )
    ),
    *(
        server(f"sdi-{name}", "SDI68", does, "stays in the cache", answer=_named(b"CLUST_IND_SDI_9", first=first))
        for name, does, first in (
            ("stays-in-the-cache", "The cache keeps the tables of dropped tablespaces.", False),
            ("stays-in-part", "The cache keeps the index of one page of a dropped tablespace.", True),
        )
    ),
)  # fmt: skip
