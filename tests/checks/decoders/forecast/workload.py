"""One workload in parts, each with a log of its own: orders under each setting that readers stumble over.

A part has few features, so that what a tool does with one of them is seen. Clients that connect to a server get the
SQL of a part performed on their source.
"""

from __future__ import annotations

import io
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import DecoderCase
from conformance.checks.decoders.suite.declare import Recorded, Setting
from conformance.checks.decoders.suite.record import Recorder
from conformance.judge.decoding.exact_json import parse
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.text.row_changes import RowChanges

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TABLES: Final = (
    "CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(20), n INT, doc JSON)",
    "CREATE TABLE stock (id INT PRIMARY KEY, n INT, price INT)",
    "INSERT INTO orders VALUES (1, 'new', 1, JSON_OBJECT('a', 1, 'p', REPEAT('p', 60)))",
    "INSERT INTO orders VALUES (2, 'new', 2, JSON_OBJECT('a', 2, 'p', REPEAT('p', 60))), (3, 'paid', 3, NULL)",
    "INSERT INTO stock VALUES (1, 10, 5), (2, 20, 6), (3, 30, 7)",
)
_PLAIN: Final = (
    "UPDATE stock SET n = n - 1 WHERE id = 1",
    "INSERT INTO stock VALUES (4, 1, 1)",
    "DELETE FROM stock WHERE id = 3",
)
PARTS: Final = {
    "partial": (Setting(partial=True), (
        "UPDATE orders SET doc = JSON_SET(doc, '$.a', 7) WHERE id = 1",
        "UPDATE orders SET doc = JSON_REMOVE(doc, '$.a') WHERE id = 2",
    )),
    "partial-unchanged": (Setting(partial=True), ("UPDATE orders SET state = 'paid' WHERE id = 1",)),
    "partial-plain": (Setting(partial=True), ("UPDATE stock SET n = 0 WHERE id = 1",)),
    "partial-several": (Setting(partial=True), (
        "UPDATE orders SET doc = JSON_SET(doc, '$.a', 7, '$.b', 8) WHERE id = 1",
    )),
    "compressed": (Setting(compressed=True), _PLAIN),
    "tagged": (Setting(gtids=True), ("SET SESSION gtid_next = 'AUTOMATIC:shop'", *_PLAIN)),
    "vector": (Setting(), (
        "CREATE TABLE near (id INT PRIMARY KEY, v VECTOR(3))", "INSERT INTO near VALUES (1, TO_VECTOR('[1, 2, 3]'))",
    )),
    "minimal": (Setting(image="MINIMAL"), _PLAIN),
    "unnamed": (Setting(metadata="MINIMAL"), _PLAIN),
    "unnamed-minimal": (Setting(metadata="MINIMAL", image="MINIMAL"), _PLAIN),
    "xa": (Setting(), ("XA START 'x'", *_PLAIN, "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'")),
    "geometry": (Setting(), (
        "CREATE TABLE place (id INT PRIMARY KEY, p POINT)", "INSERT INTO place VALUES (1, POINT(1, 2))",
    )),
    "documents": (Setting(), ("INSERT INTO orders VALUES (4, 'new', 4, '{\"b\": [1, 2]}')",)),
}  # fmt: skip


def parts(directory: Path) -> Iterator[tuple[Path, DecoderCase]]:
    """Perform each part on a real server: its log as a file, and as a Case with its SQL."""
    with ExitStack() as stack:
        recorder = Recorder(stack=stack)
        for name, (setting, statements) in PARTS.items():
            declared = Recorded(
                id=f"workload/{name}", title="", why="", requirements=("DEC1",),
                prepare=(*setting.statements(), *_TABLES), statements=statements,
            )  # fmt: skip
            log, _ = recorder.record(declared)
            path = directory / f"{name}.binlog"
            path.write_bytes(log)
            yield path, case_of(path, prepare=declared.prepare, statements=declared.statements)


def case_of(path: Path, *, prepare: tuple[str, ...] = (), statements: tuple[str, ...] = ()) -> DecoderCase:
    """A log as a Case. What it holds is what ``decode`` says, which other checks hold against servers."""
    changes = RowChanges(tagged=True)
    changes.start_file(path.name)
    expected = [
        parse(line)
        for event in read_events(io.BytesIO(path.read_bytes()), reader=FileReader(expand=True))
        for line in changes.event(event, None)
    ]
    return DecoderCase(
        id=f"check/{path.stem.lower()}", title="", why="", requirements=("DEC1",), log=path.read_bytes(),
        expected=tuple(expected), resolved=tuple(expected), file_name=path.name, prepare=prepare, statements=statements,
    )  # fmt: skip
