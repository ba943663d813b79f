"""The versions that the rows of a block had: where each lies in the data file, and what the binary log has of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.innodb.lob_change import Kind

if TYPE_CHECKING:
    from conformance.checks.lob_versions.data_file import Stored
    from conformance.checks.lob_versions.log_images import Documents
    from conformance.checks.lob_versions.predictions import Prediction
    from conformance.checks.lob_versions.transactions import Key
    from conformance.reference.innodb.records import OffPage


class Version(NamedTuple):
    """A version of a document's value: its first page, and the number in the reference (None without versions)."""

    key: Key
    column: str
    page: int
    number: int | None


@dataclass
class History:
    """The history of rows by the log and the copies of the file, in the order of time.

    ``images``: all documents that a row had, also between the updates of one transaction. ``snapshots``: the number of
    images that each snapshot sees. ``in_file``: the reference and the document of each version that the file must
    still have; a small change replaces the document of its version. ``mixed``: the documents with a small change in a
    version above the first one.
    """

    images: dict[Key, list[Documents]] = field(default_factory=dict)
    snapshots: list[dict[Key, int]] = field(default_factory=list)
    in_file: dict[Version, tuple[OffPage, bytes]] = field(default_factory=dict)
    mixed: set[tuple[Key, str]] = field(default_factory=set)
    overwritten: int = 0  # versions that a small change replaced: only the undo log has them

    def snapshot(self) -> None:
        """A session opens a snapshot now."""
        self.snapshots.append({key: len(images) for key, images in self.images.items()})

    def seen(self, number: int, key: Key) -> Documents:
        """The documents of a row in a snapshot."""
        return self.images[key][self.snapshots[number][key] - 1]

    def insert(self, key: Key, column: str, stored: Stored, image: bytes) -> None:
        """The first version of a document."""
        self._add(key, column, stored.value, stored.lob.current, image)

    def add(
        self, key: Key, column: str, before: Stored, after: Stored, prediction: Prediction, images: list[bytes]
    ) -> None:
        """The versions that a transaction made of a document. ``images``: those of the log, one for each update.

        The file has no reference to a value that the same transaction replaced.
        """
        last = before.lob.current
        for number, kind, image in zip(prediction.versions, prediction.kinds, images, strict=False):
            if kind is Kind.REWRITTEN:
                break
            if kind is Kind.SMALL and (number or 0) > 1:
                self.mixed.add((key, column))
            if kind is Kind.SMALL and number != last:  # its version rises behind a rollback
                self.in_file.pop(Version(key, column, before.value.reference.page, last), None)
                self.overwritten += 1
            self._add(key, column, before.value, number, image)
            last = number
        if images and (prediction.rewritten or not prediction.complete):
            self._add(key, column, after.value, after.lob.current, images[-1])

    def _add(self, key: Key, column: str, value: OffPage, number: int | None, image: bytes) -> None:
        version = Version(key, column, value.reference.page, number)
        self.overwritten += version in self.in_file and self.in_file[version][1] != image
        reference = value.reference if number is None else value.reference._replace(version=number)
        self.in_file[version] = value._replace(reference=reference), image
