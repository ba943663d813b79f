"""Every version of every document for three witnesses: sessions, the data file with the undo log, the binary log.

The image in the log is what the others are compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.checks.lob_versions.transactions import Key, documents_of
from conformance.reference.errors import CodecError
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.large_values import table_objects
from conformance.reference.innodb.lob import IndexedLob
from conformance.reference.innodb.undo.row_versions import row_versions
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.checks.lob_versions.data_file import FileCopy
    from conformance.checks.lob_versions.history import History
    from conformance.checks.lob_versions.log_images import Documents, LoggedChange
    from conformance.checks.lob_versions.tally import Tally
    from conformance.checks.lob_versions.transactions import Table, Transaction
    from conformance.reference.innodb.undo.log import UndoTablespaces
    from conformance.reference.innodb.undo.row_versions import RowVersion

Texts = dict[tuple[str, int], dict[str, str]]
"""What a session reads: by table and id, the text of each column."""


def judge_log(
    tally: Tally, transaction: Transaction, before: Documents, changes: Sequence[LoggedChange]
) -> list[Documents]:
    """The log has each update that is kept, and each begins where the one before it ended. Returns the images.

    Diffs give a document, whose bytes may differ where the server wrote it whole: the predicted bytes stand for it.
    """
    where = f"{transaction.key.table.name} row {transaction.key.id}"
    statements = [statement for statement in transaction.statements if statement.kept and statement.change.logged]
    requirement = "LOB31" if len(changes) > len(statements) else "LOB23"
    tally.expect(requirement, f"{where}: updates in the log", len(statements), len(changes), transaction.lines)
    images = [before]
    for statement, change in zip(statements, changes, strict=False):
        tally.expect("LOB23", f"{where}: before-image", True, change.before == images[-1], transaction.lines)
        predicted = documents_of(statement.change.after)
        images.append({name: predicted[name] if change.partial and _same(image, predicted[name]) else image
                       for name, image in change.after.items()})  # fmt: skip
    return images[1:]


def _same(one: bytes, other: bytes) -> bool:
    return one == other or format_text(decode(one)) == format_text(decode(other))


def judge_sessions(tally: Tally, history: History, texts: Sequence[Texts]) -> None:
    """Each session reads the documents of its snapshot; the last one has no snapshot and reads the newest."""
    for number, found in enumerate(texts):
        for key in history.images:
            expected = history.images[key][-1] if number == len(history.snapshots) else history.seen(number, key)
            for column, image in expected.items():
                where = f"{key.table.name} row {key.id}.{column}, snapshot {number}"
                got = found.get((key.table.name, key.id), {}).get(column, "no row")
                old = number < len(history.snapshots) and (key, column) in history.mixed
                tally.same_document("LOB23", where, format_text(decode(image)).encode(), got.encode(), mixed=old)
                tally.figures["versions read by sessions"] += 1


def judge_file(tally: Tally, history: History, files: Mapping[Table, FileCopy]) -> None:
    """The file has each version that no small change replaced; the rule of the older entries finds it."""
    for version, (value, image) in history.in_file.items():
        where = f"{version.key.table.name} row {version.key.id}.{version.column} version {version.number}"
        mixed = (version.key, version.column) in history.mixed
        try:
            found = files[version.key.table].read(value)
        except CodecError as error:
            tally.expect("LOB22", where, "a readable version", str(error), mixed=mixed)
            continue
        tally.same_document("LOB22", where, image, found, mixed=mixed)
        tally.figures["versions read in the file"] += 1


def judge_undo(tally: Tally, history: History, files: Mapping[Table, FileCopy], undo: UndoTablespaces) -> None:
    """Data file and undo log have every version of each row since its insert, also those between small changes."""
    for table, file in files.items():
        (entry,) = table_objects(file.space)
        names = [field.name for field in next(clustered_indexes(entry)).format.fields]
        for found in row_versions(file.space, [entry], undo):
            ((_, number),) = found.row.key
            assert isinstance(number, int)
            where = f"{table.name} row {number}"
            images = history.images[Key(table, number)]
            tally.expect("LOB29", f"{where}: versions", (len(images), None), (len(found.versions), found.end))
            for back, (version, documents) in enumerate(zip(found.versions, reversed(images), strict=False)):
                for column, image in documents.items():
                    old = back > 0 and (Key(table, number), column) in history.mixed
                    tally.same_document("LOB29", f"{where}.{column}, {back} versions back", image,
                                        _past(version, names.index(column)), mixed=old)  # fmt: skip
                    tally.figures["versions read with the undo log"] += 1


def _past(version: RowVersion, position: int) -> bytes:
    """A document of an older version; the words of the error if it cannot be read."""
    try:
        return version.read(position) or b""
    except CodecError as error:
        return str(error).encode()


def judge_purge(
    tally: Tally, history: History, before: Mapping[Table, FileCopy], after: Mapping[Table, FileCopy]
) -> None:
    """Nobody has a snapshot any more: no older entry is left, each document is the newest, freed pages keep their
    type (innodb-lob 8.3).
    """
    for key, images in history.images.items():
        for column, image in images[-1].items():
            where = f"{key.table.name} row {key.id}.{column}"
            old, new = (files[key.table].documents[key.id, column] for files in (before, after))
            tally.same_document("LOB30", where, image, new.document)
            if not isinstance(old.lob, IndexedLob) or not isinstance(new.lob, IndexedLob):
                continue
            tally.expect("LOB30", f"{where}: older entries", 0, sum(len(entry.older) for entry in new.lob.entries))
            freed = set(old.lob.all_pages) - set(new.lob.all_pages)
            tally.figures["pages freed by purge"] += len(freed)
            was, now = ([files[key.table].space.page(page).type for page in sorted(freed)] for files in (before, after))
            tally.expect("LOB30", f"{where}: types of the freed pages", was, now)


def older_entries(files: Mapping[Table, FileCopy]) -> int:
    """How many older entries the documents of the files have."""
    lobs = [stored.lob for file in files.values() for stored in file.documents.values()]
    return sum(len(entry.older) for lob in lobs if isinstance(lob, IndexedLob) for entry in lob.entries)
