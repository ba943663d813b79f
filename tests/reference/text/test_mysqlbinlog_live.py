"""The text of every corpus file against mysqlbinlog itself, run here and now."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from conformance.checks.boundaries.marked_files import OTHER_WORDS
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.gtid import GtidTagged
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.tables.columns import LONG, ColumnType
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.binlog_statements import MemorySpool
from conformance.reference.text.mysqlbinlog import LogText
from tests.reference.text.test_mysqlbinlog_text import whole_text
from tests.reference.text.test_pseudo_sql import GEOMETRY_ERROR, same_but_geometry

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = pytest.mark.live
CORPUS = sorted((Path(__file__).parents[2] / "data" / "binlogs").glob("*.binlog"))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_replays_is_the_clients_text_without_options(mysqlbinlog: list[str], path: Path, tmp_path: Path) -> None:
    command = [*mysqlbinlog, "--no-defaults", f"--local-load={tmp_path}", str(path)]
    real = subprocess.run(command, env={**os.environ, "TZ": "UTC"}, capture_output=True, check=True).stdout
    text = LogText(rows=False, statements=MemorySpool(), dumps=False)
    reader, out = FileReader(expand=True), [text.begin()]
    reader.decoder.keep_bytes = True
    with path.open("rb") as file:
        for event in read_events(file, reader=reader):
            out += text.event(event, bytes(reader.decoder.event_bytes))
    assert OTHER_WORDS.sub(b"", b"".join([*out, *text.end()])) == OTHER_WORDS.sub(b"", real)


@pytest.mark.parametrize("options", ["-v", "-vv", "-vv --print-table-metadata"])
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_whole_text_is_the_clients(mysqlbinlog: list[str], path: Path, options: str, tmp_path: Path) -> None:
    command = [*mysqlbinlog, "--no-defaults", *options.split(), "--base64-output=decode-rows"]
    done = subprocess.run(
        [*command, f"--local-load={tmp_path}", str(path)],
        env={**os.environ, "TZ": "UTC"},
        capture_output=True,
        check=True,
    )
    real = OTHER_WORDS.sub(b"", done.stdout)
    ours = OTHER_WORDS.sub(b"", whole_text(path, types="-vv" in options, metadata="metadata" in options))
    if GEOMETRY_ERROR not in real:
        assert ours == real
        return
    same_but_geometry(rows_only(ours), rows_only(real))
    assert not_rows(ours) == not_rows(real)


def absent_fields() -> bytes:
    """A log of transactions whose tagged GTIDs have no bytes for one, two or three of their fields.

    All have a ``gno``: for a transaction without one, the client prints what its memory held (9.7.4: that of an earlier
    event).
    """
    fields: dict[str, Any] = {
        "gtid_flags": 0, "uuid": UUID(int=5), "tag": "abc", "last_committed": 3, "sequence_number": 4,
        "immediate_commit_timestamp": 1700000000000000, "original_commit_timestamp": 1600000000000000,
        "transaction_length": 300, "immediate_server_version": 90704, "original_server_version": 80400,
    }  # fmt: skip
    writer = FileWriter()
    log = writer.start()
    for absent in chain.from_iterable(combinations(fields, number) for number in range(4)):
        log += writer.add(GtidTagged(gno=7, **fields | dict.fromkeys(absent)))
        log += writer.add(Query(text=b"BEGIN", schema=b"d")) + writer.add(Xid(xid=3))
    return log


def forms_of_payloads() -> bytes:
    """A log of payloads with or without compression and their size, and with positions inside: servers write 0."""
    table = TableMap(table_id=7, schema="d", table="t", columns=(ColumnType(LONG),), nullable=(True,))
    bodies = (Query(text=b"BEGIN", schema=b"d"), table, rows_body(table, 30, [Row(None, (5,))]), Xid(xid=3))
    writer = FileWriter()
    log = writer.start()
    for log_pos in (0, 1, 777, (1 << 32) - 1):
        inner = b"".join(encode_event(body, log_pos=log_pos, algorithm=Checksum.NONE) for body in bodies)
        for size in (None, 0, len(inner)):
            plain = TransactionPayload(payload=inner, compression=UNCOMPRESSED, uncompressed_size=size)
            compressed = replace(TransactionPayload.compress(inner, 3), uncompressed_size=size)
            log += writer.add(GtidTagged()) + writer.add(plain) + writer.add(GtidTagged()) + writer.add(compressed)
    return log


@pytest.mark.parametrize("options", ["-vv", "-vv --hexdump"])
@pytest.mark.parametrize("made", [absent_fields, forms_of_payloads])
def test_what_no_server_writes_is_printed_as_the_client_prints_it(
    mysqlbinlog: list[str], made: Callable[[], bytes], options: str, tmp_path: Path
) -> None:
    path = tmp_path / "made.binlog"
    path.write_bytes(made())
    command = [*mysqlbinlog, "--no-defaults", *options.split(), "--base64-output=decode-rows", str(path)]
    real = subprocess.run(command, env={**os.environ, "TZ": "UTC"}, capture_output=True, check=True).stdout
    ours = subprocess.run(
        [sys.executable, "-m", "conformance", "decode", *options.split(), str(path)],
        env={**os.environ, "TZ": "UTC"}, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert OTHER_WORDS.sub(b"", ours) == OTHER_WORDS.sub(b"", real)


def rows_only(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if line.startswith(b"### "))


def not_rows(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"### "))
