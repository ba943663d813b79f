"""Rules for the data source of binary logs, as functions: for the tests, and for the faults planted into it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from conformance.logs import parts
from conformance.logs.events import read_log
from conformance.logs.rows import tuples as rows
from conformance.logs.rows.conditions import Condition
from conformance.reference.binlog.control_events import HeartbeatV2, Rotate, Xid
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import HEADER, HEADER_SIZE, MAGIC, Checksum, Flag, checksum_of
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.text.row_changes import RowChanges
from generators.streams import stream
from scenarios.spark.options import parse_options
from tests.written_logs import row_group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.rows.options import Options
    from generators.draw import Draw

FILES: Final = sorted(Path(__file__).parents[1].glob("data/binlogs/*.binlog"))
GTID: Final = Gtid(
    uuid=UUID("6d31aba5-e4a6-11f1-9d7e-02fc00000001"), gno=7, last_committed=0, sequence_number=1,
    immediate_commit_timestamp=1795154439830779, immediate_server_version=90704,
)  # fmt: skip
STARTS: Final = frozenset((
    EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.INCIDENT,
    EventType.QUERY, EventType.INTVAR, EventType.RAND, EventType.USER_VAR, EventType.EXECUTE_LOAD_QUERY,
))  # fmt: skip
"""What a part may begin with behind the first."""
NAMES: Final = {path.stem: path for path in FILES}
_CHAIN: Final = frozenset((4, *range(9, 13), *range(17, 19)))
"""Bytes of a header that say where events and transactions begin: type, length and flags."""


def asked(path: object, **options: str) -> Options:
    """Options as a user gives them, who wants damage as rows and times as in the header."""
    mode = {} if "mode" in options else {"problems": "rows"}
    return parse_options({"path": str(path), "timestampType": "bigint", **mode, **options})


def records(path: object, **options: str) -> list[dict[str, Any]]:
    """The rows of a file, part after part, by column."""
    wanted = asked(path, **options)
    names = [name for name, _ in rows.columns_of(wanted)]
    return [
        dict(zip(names, row, strict=True))
        for part in parts.parts_of(str(path), wanted.split_bytes)
        for row in rows.read_rows(part, wanted)
    ]


def sound(path: object, **options: str) -> list[dict[str, Any]]:
    """The records without problems."""
    return [record for record in records(path, **options) if record["problem"] is None]


def problems(path: object, **options: str) -> list[tuple[str, int | None]]:
    """Codes and places."""
    return [(r["problem"][0].decode(), r["position"]) for r in records(path, **options) if r["problem"]]


def lines(path: Path, *, tagged: bool = False, rows_only: bool = True) -> list[dict[str, Any]]:
    """The objects that ``decode --format jsonl`` prints of a file."""
    changes = RowChanges(tagged=tagged, rows_only=rows_only)
    changes.start_file(str(path))
    return [json.loads(line) for event in read_log(str(path)) for line in changes.event(event)]


def same(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    """The same rows: what is to be known of a file stands behind the first part."""
    return sorted(map(repr, some)) == sorted(map(repr, others))


def check_lines(path: Path) -> None:
    """Rows are those of the command, value for value."""
    found = []
    for record in sound(path):
        line = {name: value.decode() if isinstance(value, bytes) else value for name, value in record.items()}
        assert line.pop("problem") is None
        line.pop("immediate_commit_timestamp")
        for image in ("before", "after"):
            line[image] = None if line[image] is None else json.loads(line[image])
        found.append(line)
    assert found == lines(path)


def check_events(path: Path) -> None:
    """Events are those of the file, byte for byte, and those inside of payloads are the command's."""
    found = sound(path, content="events", body="true")
    whole = path.read_bytes()
    again = MAGIC
    for record in found:
        if record["inner"] is None:
            assert record["position"] == len(again)
            head = [record[name] for name in ("timestamp", "type", "server_id", "size", "log_pos", "flags")]
            check = b"" if record["checksum"] is None else record["checksum"].to_bytes(4, "little")
            again += HEADER.pack(*head) + record["body"] + check
        else:
            assert len(record["body"]) == record["size"] - HEADER_SIZE
    assert again == whole
    names = ("position", "inner", "event", "gtid", "schema", "table")
    told = list(dict.fromkeys(tuple(line[name] for name in names) for line in lines(path, rows_only=False)))
    assert [tuple(_str(record[name]) for name in names) for record in found] == told


def _str(value: object) -> object:
    return value.decode() if isinstance(value, bytes) else value


def check_split(path: Path, sizes: tuple[int, ...] = (1, 300, 1500, 7000)) -> int:
    """Parts give the rows and the events of the whole; answers how many parts there were at most."""
    most = 0
    for content in ("rows", "events"):
        whole = records(path, content=content)
        for size in sizes:
            cut = parts.parts_of(str(path), size)
            most = max(most, len(cut))
            assert [part.start for part in cut[1:]] == [part.stop for part in cut[:-1]]
            assert same(records(path, content=content, splitBytes=str(size)), whole), (path, content, size)
            if content == "events":
                starts = {record["position"]: record["type"] for record in whole}
                for part in cut[1:]:
                    assert part.start is not None
                    assert starts[part.start] in STARTS
    return most


def check_truncated(path: Path, place: Path, lengths: Iterator[int] | range) -> None:
    """A file cut off anywhere gives the rows of its whole events and says so, in parts as in one."""
    data = path.read_bytes()
    ends = [record["position"] + record["size"] for record in sound(path, content="events") if record["inner"] is None]
    whole = [(record["position"], record["row"], record["after"]) for record in sound(path)]
    for length in lengths:
        place.write_bytes(data[:length])
        complete = [end for end in ends if end <= length]
        found = records(place)
        at = complete[-1] if complete else 4 if length >= 4 else 0
        expected = [change for change in whole if change[0] < at]
        assert [(r["position"], r["row"], r["after"]) for r in found if not r["problem"]] == expected
        told = [(r["problem"][0].decode(), r["position"]) for r in found if r["problem"]]
        if length < 4:
            assert told == [("not-a-binlog", 0)]
        elif at == length > 4:  # a log of no event is no whole log
            assert told == [], length
        else:
            assert told == [("truncated", at)], length
        assert same(records(place, splitBytes="200"), found), length


def damaged(data: bytes, at: int) -> bytes:
    """One byte changed, and the checksums left as they were."""
    return data[:at] + bytes((data[at] ^ 0x41,)) + data[at + 1 :]


def check_damaged(path: Path, place: Path, step: int = 1) -> None:
    """Whatever byte is changed: what stands before it comes out, damage is told, and nothing else is raised. What
    stands behind it comes out too, from the next transaction, and any cut gives the same rows."""
    data = path.read_bytes()
    starts = [record["position"] for record in sound(path, content="events")]
    groups = [record["position"] for record in sound(path, content="events") if record["type"] == EventType.GTID]
    whole = [(record["position"], record["row"], record["after"]) for record in sound(path)]
    for at in range(0, len(data), step):
        place.write_bytes(damaged(data, at))
        event = max((start for start in starts if start <= at), default=0)
        found = records(place)
        told = [record for record in found if record["problem"]]
        good = [(r["position"], r["row"], r["after"]) for r in found if not r["problem"]]
        assert good[: sum(change[0] < event for change in whole)] == [c for c in whole if c[0] < event], at
        assert told, at
        for size in ("1", "700"):
            assert same(records(place, splitBytes=size), found), (at, size)
        if len(MAGIC) + HEADER_SIZE <= event and at - event not in _CHAIN:
            behind = next((start for start in groups if start > event), len(data))
            assert good[len(good) - sum(change[0] >= behind for change in whole) :] == [
                change for change in whole if change[0] >= behind
            ], at


def check_damage_in_rows(place: Path) -> None:
    """Damage that no checksum tells, met in the rows of an event: the next transaction is read, cut or not."""
    data = NAMES["15-checksum-none"].read_bytes()
    starts = [record for record in sound(NAMES["15-checksum-none"], content="events") if record["type"] == 39]
    first = starts[0]
    end = first["position"] + first["size"]
    place.write_bytes(data[: end - 12] + b"\xff" * 12 + data[end:])
    found = records(place)
    assert [record["position"] for record in found if record["problem"]] == [first["position"]]
    assert [r["position"] for r in found if not r["problem"]][-1] == sound(NAMES["15-checksum-none"])[-1]["position"]
    assert same(records(place, splitBytes="1"), found)


def check_reported(folder: Path) -> None:
    """Files that are no binary logs, or that cannot be read, are rows; none of them raises or blocks."""
    good = NAMES["14-rotate-a"].read_bytes()
    made = {
        "empty": (b"", "not-a-binlog"),
        "text": (b"not a log at all, but some text\n", "not-a-binlog"),
        "encrypted": (b"\xfdbin" + good[4:], "encrypted"),
        "magic": (good[:4], "truncated"),
        "zeros": (good + bytes(300), "zeros"),
        "length": (good[:-44] + good[-44:-35] + bytes(4) + good[-31:], "bad-length"),
    }
    for name, (data, code) in made.items():
        path = folder / name
        path.write_bytes(data)
        for split in ({}, {"splitBytes": "100"}):
            codes = [found for found, _ in problems(path, **split)]
            assert codes == [code], name
    os.mkfifo(folder / "pipe")
    assert problems(folder / "pipe", splitBytes="1") == [("not-a-file", None)]
    assert problems(folder / "gone", splitBytes="1") == [("unreadable", 0)]
    (folder / "directory").mkdir()
    assert problems(folder / "directory") == [("not-a-file", None)]


def check_modes(folder: Path) -> None:
    """FAILFAST raises before any row of a damaged part, and the other modes give what can be read; all of them tell
    damage, also inside rows that a query leaves out."""
    from scenarios.spark.batches import read_batches

    whole = NAMES["14-rotate-b"].read_bytes()
    plain = NAMES["15-checksum-none"].read_bytes()
    update = next(record for record in sound(NAMES["15-checksum-none"], content="events") if record["type"] == 39)
    end = update["position"] + update["size"]
    made = {
        "cut": (whole[:-5], r"the last event is cut off at offset 1050, expected 19, got 18 \[truncated\]"),
        "changed": (damaged(whole, 1055), r"the checksum is wrong at offset \d+, expected 0x\w+, got 0x\w+"),
        "rows": (plain[: end - 12] + b"\xff" * 12 + plain[end:], "at offset"),
    }
    hidden = (Condition("operation", "equal", "none"),)
    for name, (data, said) in made.items():
        path = folder / name
        path.write_bytes(data)
        part = parts.Part(str(path))
        fast = replace(asked(path, mode="failfast", batchBytes="1"), conditions=hidden)
        for options in (replace(fast, conditions=()), fast, replace(fast, columns=("operation",))):
            given: list[Any] = []
            failed = ""
            try:
                given.extend(read_batches(part, options))
            except rows.BinlogProblem as problem:
                failed = str(problem)
            assert re.search(f"{name}: .*{said}", failed), (name, failed)
            assert name == "rows" or not given, name  # no checksum tells what is in rows
        expected = sound(path)
        assert expected
        assert records(path, mode="dropmalformed") == expected
        for mode in ("permissive", "dropmalformed"):
            work = rows.Work()
            wanted = replace(asked(path, mode=mode), conditions=hidden)
            left = list(rows.read_rows(part, wanted, work))
            assert len(left) == (mode == "permissive")
            assert [problem.position for problem in work.problems] == [problems(path)[0][1]]
        (listed,) = records(path, content="problems")
        (row,) = [record for record in records(path) if record["problem"]]
        assert (listed["position"], listed["code"], listed["message"]) == (row["position"], *row["problem"])


def without_gtids(place: Path) -> Path:
    """A log of a server from before GTIDs: transactions, DDL, statements with variables, one behind the other."""
    writer = FileWriter()
    data = writer.start()
    for body in _rows_of(NAMES["01-partial-minimal"]):
        for each in row_group(body.map(), body, limit=1 << 20):
            data += writer.add(each)
        data += writer.add(Query(text=b"create table x (a int)"))
        for each in (begin(), Query(text=b"insert into x values (1)"), Query(text=b"SAVEPOINT s"), Xid(xid=2)):
            data += writer.add(each)
    place.write_bytes(data)
    return place


def generated_log(place: Path, draw: Draw, start: str | None) -> Path:
    """A log of generated transactions, in the middle of which a FORMAT_DESCRIPTION may stand again."""
    writer = FileWriter()
    data = writer.start()
    for bodies in stream(draw, 8, start):
        for body in bodies:
            if isinstance(body, HeartbeatV2):
                data += writer.add(replace(body, name=b"binlog.000001", position=writer.position))
            elif not isinstance(body, Rotate):
                data += writer.add(body)
    place.write_bytes(data)
    return place


def with_and_without_gtids(place: Path) -> Path:
    """A log in which groups without a GTID stand behind one that has it."""
    writer = FileWriter()
    data = writer.start()
    for number, body in enumerate(_rows_of(NAMES["05-partial-multi-json-minimal"])):
        bodies = row_group(body.map(), body)
        if number % 3:
            data += b"".join(map(writer.add, bodies))
        else:
            data += writer.group(GTID, bodies)
    place.write_bytes(data)
    return place


def relay_of_another(place: Path) -> Path:
    """A relay log without checksums whose source has them: its FORMAT_DESCRIPTION stands behind the replica's."""
    own = FileWriter(format=FormatDescription(algorithm=Checksum.NONE))
    data = own.start(in_use=False)
    data = data[:21] + bytes((Flag.RELAY_LOG,)) + data[22:]
    end = 4 + int.from_bytes(data[13:17], "little")
    data = data[: end - 4] + checksum_of(data[4 : end - 4]).to_bytes(4, "little") + data[end:]
    writer = FileWriter(position=own.position)
    data += writer.add(FormatDescription())
    for body in _rows_of(NAMES["05-partial-multi-json-minimal"]):
        data += writer.group(GTID, row_group(body.map(), body))
    place.write_bytes(data)
    return place


def _rows_of(path: Path) -> list[RowsBody]:
    return [event.body for event in decode_file(path.read_bytes()) if isinstance(event.body, RowsBody)]


def check_batches(path: Path, **options: str) -> None:
    """Arrow batches have the rows of the part, and not more bytes than asked for unless one row has."""
    from scenarios.spark.batches import read_batches

    part = parts.Part(str(path))
    whole = [row for batch in read_batches(part, asked(path, **options)) for row in batch.to_pylist()]
    small = list(read_batches(part, asked(path, batchBytes="3k", **options)))
    assert [row for batch in small for row in batch.to_pylist()] == whole
    assert len(whole) == len(records(path, **options))
    assert all(batch.nbytes <= 3 << 10 or batch.num_rows == 1 for batch in small)
