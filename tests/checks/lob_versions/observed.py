"""One block of the campaign on the tests' server: all that its judges were given, to be judged again with a fault."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from conformance.checks.lob_versions import run
from conformance.checks.lob_versions.data_file import FileCopy
from conformance.checks.lob_versions.judge_changes import DocumentChange, judge_bytes, judge_document
from conformance.checks.lob_versions.judge_versions import judge_file, judge_purge, judge_sessions, judge_undo
from conformance.checks.lob_versions.tally import Tally
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from conformance.servers.run.process import ProcessServer

Arguments = tuple[Any, ...]


@dataclass(repr=False)  # a failing assertion would print megabytes
class Observed:
    """The arguments of each call of a judge, without the tally."""

    documents: list[tuple[DocumentChange, bytes]] = field(default_factory=list)
    files: list[Arguments] = field(default_factory=list)
    versions: list[Arguments] = field(default_factory=list)
    undo: list[Arguments] = field(default_factory=list)
    sessions: list[Arguments] = field(default_factory=list)
    purges: list[Arguments] = field(default_factory=list)

    def changes(self, wanted: Callable[[DocumentChange], bool]) -> Iterator[tuple[DocumentChange, bytes]]:
        """The changes of documents that a fault needs."""
        return ((change, image) for change, image in self.documents if wanted(change))


def observe(server: ProcessServer, patch: pytest.MonkeyPatch, *, number: int, rows: int) -> tuple[Observed, Tally]:
    """Run a block and note what its judges get; and what they say."""
    found = Observed()

    def noting(name: str, calls: list[Any], judge: Callable[..., None]) -> None:
        def noted(*arguments: Any) -> None:
            kept = tuple(set(item) if isinstance(item, set) else item for item in arguments)  # the run adds to its sets
            calls.append(kept if judge is judge_document else kept[1:])
            judge(*arguments)

        patch.setattr(run, name, noted)

    noting("judge_document", found.documents, judge_document)
    noting("judge_bytes", found.files, judge_bytes)
    noting("judge_file", found.versions, judge_file)
    noting("judge_undo", found.undo, judge_undo)
    noting("judge_sessions", found.sessions, judge_sessions)
    noting("judge_purge", found.purges, judge_purge)
    tally = run.run_block(server, Stream("lob-versions", "0", number), rows, partial_json=False)
    return found, tally


def judged(change: DocumentChange, image: bytes) -> Tally:
    """The verdict about one change of a document."""
    tally = Tally()
    judge_document(replace(change, tally=tally), image)
    return tally


def altered(file: FileCopy, page: int, offset: int, flip: int = 1) -> FileCopy:
    """A copy of a file in which the bits ``flip`` of one byte are other ones."""
    data = bytearray(file.data)
    data[page * file.space.flags.physical + offset] ^= flip
    return FileCopy.of(bytes(data))
