"""The targets against decoders of others: their shape, their logs, and that each fault of a peer is one finding."""

from __future__ import annotations

import sys
from functools import cache
from hashlib import shake_128
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.judge.decoding.exact_json import parse
from conformance.logs.row_change_lines import read_log
from conformance.reference.binlog.control_events import Rotate, XaPrepare, Xid
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from fuzz.peers import mysql_replication_events, mysql_replication_rows
from fuzz.peers.comparison.mysql_replication_facts import compare as compare_facts
from fuzz.peers.comparison.refusals import place_in, reading
from fuzz.peers.comparison.row_changes import TYPES, compare
from fuzz.runner.signature import signature_of
from fuzz.sound.byte_draw import ByteDraw
from fuzz.sound.events import event
from fuzz.sound.logs import log
from fuzz.violation import PeerDefect

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = dict[str, Any]

NAMES = sorted(path.stem for path in (Path(__file__).parents[2] / "fuzz" / "peers").glob("[a-z]*.py"))
LOGS = 400


def decisions(number: int) -> bytes:
    return shake_128(b"test %d" % number).digest(30 + number % 9 * 40)


@cache
def logs() -> tuple[bytes, ...]:
    return tuple(log(ByteDraw(decisions(number))) for number in range(LOGS))


def sound_reader(data: bytes) -> list[Change]:
    """A peer without defects that tells types: the reference's own reader."""
    return [parse(line) for line in read_log(data, "log").lines]


def findings(read: Callable[[bytes], list[Change]], *capabilities: str) -> set[str]:
    """The signatures of all findings about a peer."""
    found = set()
    for data in logs():
        try:
            compare(data, read, capabilities)
        except PeerDefect as defect:
            found.add(signature_of(defect))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_peer_says_what_holds_and_what_is_needed(name: str) -> None:
    target = import_module(f"fuzz.peers.{name}")
    assert target.INVARIANT.endswith(".")
    assert target.PACKAGE
    assert target.INSTRUMENT
    assert max(len(data) for _, data in target.seeds()) <= target.MAX_LEN


def test_a_sound_reader_is_no_finding() -> None:
    assert findings(sound_reader, TYPES) == set()
    assert findings(sound_reader) == set()


def every_leaf(found: Any, change: Callable[[Any], Any]) -> Any:
    """All parts of a tree, changed from the leaves upwards."""
    if isinstance(found, dict):
        found = {key: every_leaf(value, change) for key, value in found.items()}
    elif isinstance(found, list):
        found = [every_leaf(value, change) for value in found]
    return change(found)


def negative_time(leaf: Any) -> Any:
    if isinstance(leaf, dict) and leaf.get("$type") == "TIME":
        return {**leaf, "text": leaf["text"].removeprefix("-")}
    return leaf


def first_diff(leaf: Any) -> Any:
    return {"diffs": leaf["diffs"][:1]} if isinstance(leaf, dict) and "diffs" in leaf else leaf


def null_document(leaf: Any) -> Any:
    return None if leaf == {"json": None} else leaf


def cut_opaque(leaf: Any) -> Any:
    if isinstance(leaf, dict) and leaf.get("$type") in ("BLOB", "BIT", "OPAQUE"):
        return {**leaf, "hex": bytes.fromhex(leaf["hex"]).decode("utf-8", "ignore").encode().hex()}
    return leaf


def untyped(leaf: Any) -> Any:
    return leaf["text"] if isinstance(leaf, dict) and leaf.get("$type") == "DATE" else leaf


def no_update_inside(changes: list[Change]) -> list[Change]:
    return [change for change in changes if change["inner"] is None]


def no_delete(changes: list[Change]) -> list[Change]:
    return [change for change in changes if change["operation"] != "delete" or change["inner"] is not None]


@pytest.mark.parametrize(
    ("defect", "finding"),
    [
        (negative_time, "altered value: JSON TIME: sign"),
        (first_diff, "missing diff: diffs: only the first arrived"),
        (null_document, "wrong kind of nothing: JSON column: SQL NULL for JSON null"),
        (cut_opaque, "altered value: JSON opaque value: other bytes"),
        (untyped, "lost type: JSON DATE: as STRING"),
    ],
)
def test_one_fault_in_the_values_of_a_peer_is_one_finding(defect: Callable[[Any], Any], finding: str) -> None:
    faulty = findings(lambda data: [every_leaf(change, defect) for change in sound_reader(data)], TYPES)
    assert faulty == {f"{finding}"}


@pytest.mark.parametrize(
    ("defect", "finding"),
    [(no_update_inside, "missing change: TRANSACTION_PAYLOAD_EVENT"), (no_delete, "missing change: DELETE_ROWS_EVENT")],
)
def test_changes_that_a_peer_loses_are_one_finding(
    defect: Callable[[list[Change]], list[Change]], finding: str
) -> None:
    assert findings(lambda data: defect(sound_reader(data))) == {f"{finding}"}


@pytest.mark.parametrize("column", ["CHAR", "ENUM"])
def test_text_is_told_by_the_width_of_its_characters(column: str) -> None:
    """Which characters are altered is chance; whether each type of text has the defect is, too."""

    def shouted(leaf: Any) -> Any:
        return "?" if isinstance(leaf, str) and any(char > "\x7f" for char in leaf) else leaf

    def fault(data: bytes) -> list[Change]:
        changes = sound_reader(data)
        for change in changes:
            for image in ("before", "after"):
                values = change[image]
                if values is not None:
                    change[image] = {name: shouted(value) for name, value in values.items()}
        return changes

    found = findings(fault)
    kinds = {"CHAR": "text in a ", "ENUM": "member of ENUM or SET"}
    assert any(signature.startswith(f"altered value: {kinds[column]}") for signature in found)
    assert len(found) <= 4  # three widths, and members


def broken() -> None:
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "text that differs with every input")


def test_an_exception_is_known_by_its_type_and_the_peers_innermost_function() -> None:
    def fault(data: bytes) -> list[Change]:
        with reading(__name__):
            changes = sound_reader(data)
            if len(data) % 2:
                broken()
        return changes

    assert findings(fault) == {f"UnicodeDecodeError in {__name__}:broken"}


def test_an_error_without_the_peer_is_ours_and_passes() -> None:
    with pytest.raises(ZeroDivisionError), reading("somebody"):
        _ = 1 / 0
    assert place_in(ValueError(), "somebody") is None


def test_every_decision_makes_a_sound_log() -> None:
    for data in logs():
        reading_of_it = read_log(data, "log")
        assert reading_of_it.error is None
        assert reading_of_it.lines
    assert log(ByteDraw(b"")) == log(ByteDraw(bytes(9)))  # the end of the bytes is zeros


def test_logs_have_every_type_of_value() -> None:
    seen = set()

    def note(leaf: Any) -> Any:
        if isinstance(leaf, dict) and "$type" in leaf:
            seen.add(leaf["$type"])
        return leaf

    for data in logs():
        for change in sound_reader(data):
            seen.add(change["event"])
            seen.add("payload" if change["inner"] is not None else "plain")
            every_leaf(change, note)
    assert seen >= {
        "BIT", "BLOB", "OPAQUE", "DATE", "TIME", "DATETIME", "TIMESTAMP", "DECIMAL", "payload", "plain",
        "PARTIAL_UPDATE_ROWS_EVENT", "UPDATE_ROWS_EVENT", "WRITE_ROWS_EVENT", "DELETE_ROWS_EVENT",
    }  # fmt: skip


def test_events_are_sound_and_of_every_kind() -> None:
    kinds = set()
    for number in range(600):
        body = event(ByteDraw(decisions(number)))
        writer = FileWriter(format=body) if isinstance(body, FormatDescription) else FileWriter()
        reader = FileReader()
        reader.feed(writer.start() + writer.add(body))
        kinds.add(EventType(body.type))
        found = list(reader.events())[-1].body
        assert not isinstance(found, LazyRows)
        assert not isinstance(body, LazyRows)
        assert found.encode() == body.encode()
    assert kinds >= {
        EventType.QUERY, EventType.GTID, EventType.GTID_TAGGED, EventType.PREVIOUS_GTIDS, EventType.USER_VAR,
        EventType.XA_PREPARE, EventType.INTVAR, EventType.ROWS_QUERY, EventType.EXECUTE_LOAD_QUERY, EventType.ROTATE,
    }  # fmt: skip


class _Event:
    """An event of a peer."""

    def __init__(self, **facts: Any) -> None:
        self.__dict__.update(facts)

    def to_json(self) -> str:
        return ""

    def dump(self) -> None:
        sys.stdout.write(self.__dict__.get("text", ""))


@pytest.mark.parametrize(
    ("body", "facts", "finding"),
    [
        (Xid(xid=7), {"xid": 8}, "wrong fact: xid of XID"),
        (Rotate(name=b"b"), {"next_binlog": "b", "position": True}, "wrong fact: position of ROTATE"),
        (XaPrepare(gtrid=b"\xff"), {"xid_gtrid": b"\xff\0"}, "wrong fact: xid_gtrid of XA_PREPARE"),
    ],
)
def test_a_wrong_fact_of_an_event_is_one_finding(body: Any, facts: dict[str, Any], finding: str) -> None:
    with pytest.raises(PeerDefect) as caught:
        compare_facts(body, _Event(**facts))
    assert signature_of(caught.value) == f"{finding}"


def test_an_event_that_is_lost_or_printed_wrongly_is_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql_replication_events, "event", lambda _: PreviousGtids.parse(f"{'0' * 31}1:1-3"))
    shown = {"text": "0-0:['1-4']"}
    monkeypatch.setattr(mysql_replication_events, "read", lambda _: [_Event(), _Event(**shown)])
    with pytest.raises(PeerDefect, match="wrong text: PREVIOUS_GTIDS"):
        mysql_replication_events.check(b"")
    monkeypatch.setattr(mysql_replication_events, "read", lambda _: [_Event()])
    with pytest.raises(PeerDefect, match="an event does not arrive: PREVIOUS_GTIDS"):
        mysql_replication_events.check(b"")
    shown["text"] = "00000000-0000-0000-0000-000000000001:1-3"
    monkeypatch.setattr(mysql_replication_events, "read", lambda _: [_Event(), _Event(**shown)])
    mysql_replication_events.check(b"")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_python_mysql_replication_reads_a_log_without_a_server() -> None:
    pytest.importorskip("pymysqlreplication")
    from conformance.subjects.adapters.mysql_replication_log import events_of

    data = log(ByteDraw(b""))
    assert [type(found).__name__ for found in events_of(BytesIO(data))][:2] == [
        "FormatDescriptionEvent", "PreviousGtidsEvent",
    ]  # fmt: skip
    assert mysql_replication_rows.read(data)
    mysql_replication_rows.check(b"")
