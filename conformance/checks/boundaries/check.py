"""WL#4162, transaction boundaries: real transactions of every kind, and marked files (transaction-boundaries A.1).

No released server writes markers, so TF1, which is about a server's own markers, applies to none of them. For the
worklog's other demands the kit marks the logs of a real server: those verdicts are about the kit's model. A real
replica's receiver and the real client judge the parser that shipped instead, as observed.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries import broken_streams, census, marked_files, transactions
from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.event_table import SENTENCES, Held
from conformance.checks.boundaries.receivers import heard_problems, needed_target
from conformance.harness import mysqlbinlog_replay
from conformance.judge.problem import Problem
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.boundaries.observed_event import GTID_TYPES
from conformance.reference.event_types import EventType
from conformance.requirements.versions import dialect_of
from conformance.servers.roles.old_server import launch_old
from conformance.servers.source.scripted import FILE
from conformance.servers.wire.capture import Position
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.harness.check import Check
    from conformance.servers.programs import Program
    from conformance.servers.roles.receiver import ReceiverTarget
    from conformance.servers.wire.capture import Capture, Captured
    from conformance.servers.wire.connection import Connection

_MODES: Final = {"ON": ("ON", "AUTOMATIC"), "tagged": ("ON", "AUTOMATIC:lab"), "OFF": ("OFF", "AUTOMATIC")}
_SCHEMA: Final = "binlog_lab_boundaries"
_NO_MARKS: Final = (
    "needs events with markers, and no released server writes any; TL1, TN1 and TN2 are about the kit's own"
)
_STATEMENT_KINDS: Final = frozenset(
    (
        "statement-intvar",
        "statement-rand",
        "statement-user-var",
        "create-as-select",
        "temporary",
        "load-data-statement",
        "savepoint-statement",
        "myisam",
    )
)
# LOAD DATA in statement format names files of the client's own; another file begins with a rotate.
_MARKED_KINDS: Final = tuple(
    kind for kind in transactions.KINDS if kind not in ("load-data", "load-data-statement", "rotate")
)


@contextmanager
def _schema(target: ReceiverTarget) -> Iterator[None]:
    """Make the tables of the units."""
    session = target.session()
    session.execute_many([f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *transactions.tables()]).check()
    target.server.put_data(transactions.LOADED, transactions.LINES)
    try:
        yield
    finally:
        session.execute("SET gtid_next = 'AUTOMATIC'")
        session.execute(f"DROP SCHEMA {_SCHEMA}")


def single_gtids(text: str) -> frozenset[str]:
    """Every single GTID of a set as the server writes it: ``UUID:1-3:7:tag:1-2, ...``."""
    return frozenset(
        f"{entry.uuid}:{f'{entry.tag}:' if entry.tag else ''}{number}"
        for entry in PreviousGtids.parse(text).entries
        for start, end in entry.intervals
        for number in range(start, end)
    )


# --- real transactions -----------------------------------------------------------------------------------------------


@pytest.mark.check("real")
def test_real_transactions_of_every_kind(check: Check) -> None:
    """The worklog's and the shipped parser accept transactions of every kind, marked, unmarked and mixed.

    The transactions come with GTIDs, with tags and without both. The kit sets the markers, which must be those of the
    worklog's table, cell by cell; a server's own markers, if it writes any, must be the worklog's.
    """
    target = needed_target(check)
    table: dict[str, Counter[str]] = {}
    logs: dict[str, Sequence[bytes]] = {}
    held = Held()
    with closing(target.server.capture()) as capture:
        for mode in _MODES:
            if mode != "tagged" or check.lab.questions.has("tagged-gtids"):
                _real_mode(check, target, capture, mode, table, logs, held)
    for sentence in SENTENCES:
        problems = held.problems[sentence]
        check.part(f"table/{sentence}", sentence).record(0, problems, cases=held.cells[sentence])
    run = [counts for kind, counts in table.items() if kind != "artificial"]
    _own_marks(check, logs, {mode: sum(counts[mode] for counts in run) for mode in logs})
    check.narrate("real transactions by kind, GTIDs on, tagged, off; events:")
    for kind, counts in table.items():
        check.narrate(f"  {kind:20} {counts['ON']:6} {counts['tagged']:6} {counts['OFF']:6} {counts['events']:8}")


def _real_mode(
    check: Check,
    target: ReceiverTarget,
    capture: Capture,
    mode: str,
    table: dict[str, Counter[str]],
    logs: dict[str, Sequence[bytes]],
    held: Held,
) -> None:
    """Run all kinds under one setting of GTIDs.

    The function adds its counts to ``table`` (by kind), its log to ``logs``, and to ``held`` how the markers compare
    with the worklog's table.
    """
    gtid_mode, gtid_next = _MODES[mode]
    target.set_gtid_mode(gtid_mode)
    with _schema(target):
        target.session().execute(f"SET gtid_next = '{gtid_next}'")
        first = capture.mark(target.session())
        for kind in transactions.KINDS:
            _real_kind(check, target, capture, (mode, kind), table.setdefault(kind, Counter()), held)
        whole = capture.since(first)
        logs[mode] = (whole.format_description, *whole.events)
        _artificial(check, capture, whole, mode, table.setdefault("artificial", Counter()), held)
        if _hears_without_warning(check, target, whole, mode):
            _hear_marked(check, target, whole, mode)
        else:
            _not_marked(check.part(f"{mode}/marked", "TL1"), len(whole.events), "TL1")


def _own_marks(check: Check, logs: Mapping[str, Sequence[bytes]], groups: Mapping[str, int]) -> None:
    """Judge the markers that the server itself wrote into the whole log of each mode."""
    own = check.part("own", "TF1")
    if not any(map(boundaries.has_marks, logs.values())):
        check.narrate(f"TF1: {_NO_MARKS}")
        own.not_applicable(_NO_MARKS)
        return
    for mode, events in logs.items():
        problems = boundaries.judge_own_marks(events, groups[mode], f"{check.seed}/{mode}")
        own.part(mode).record(0, problems, cases=groups[mode])


def _real_kind(
    check: Check,
    target: ReceiverTarget,
    capture: Capture,
    where: tuple[str, str],
    counts: Counter[str],
    held: Held,
) -> None:
    mode, kind = where
    session = target.session()
    draw = Stream("boundaries", check.seed, mode, kind)
    units = [transactions.unit(draw.fork(number), kind) for number in check.blocks()]
    groups = sum(unit.groups for unit in units)
    part = check.part(f"{mode}/{kind}")
    with part.block(cases=groups, requirement="TP1", verdict=Verdict.DIFFERS) as block:
        before = session.variable("gtid_executed") or ""
        start = capture.mark(session)
        session.execute_many([statement for unit in units for statement in unit.statements]).check()
        events = capture.since(start).events
        gtids = None
        if mode != "OFF":
            after = session.variable("gtid_executed") or ""
            gtids = single_gtids(str(session.execute(f"SELECT GTID_SUBTRACT('{after}', '{before}')").scalar() or ""))
        counts[mode] += groups
        counts["events"] += len(events)
        events = tuple(boundaries.without_marks(events))
        block.exercised(census.KINDS, {f"boundary/{kind}": groups})
        broken = boundaries.judge_shipped(events, groups, gtids)
        block.differs(*broken)
    if broken:
        for requirement in ("TL1", "TN2", *(("TN1",) if kind in _STATEMENT_KINDS else ())):
            _not_marked(part, groups, requirement)
        return
    coin = f"{check.seed}/{mode}/{kind}"
    marked = boundaries.mark_events(events)
    held.add(f"{mode}/{kind}", events, boundaries.markers_of(marked))
    marks = boundaries.judge_marks(events, marked, groups, coin)
    bare = boundaries.without_gtids(events)
    if kind not in ("xa", "compressed"):
        held.add(f"{mode}/{kind} without GTIDs", bare, boundaries.markers_of(boundaries.mark_events(bare)))
    without = [] if kind in ("xa", "compressed") else boundaries.judge_marks(
        bare, boundaries.mark_events(bare), groups, coin
    )  # fmt: skip
    part.record(0, marks, cases=groups, requirement="TL1")
    part.record(0, [*(marks if mode == "OFF" else ()), *without], cases=groups, requirement="TN2")
    if kind in _STATEMENT_KINDS:
        part.record(0, marks, cases=groups, requirement="TN1")


def _not_marked(part: Check, groups: int, requirement: str) -> None:
    """Record as inconclusive what the kit's markers would show: only a log of whole transactions can be marked."""
    with part.block(cases=groups, requirement=requirement) as block:
        block.inconclusive("the log is not one of whole transactions, which could be marked: TP1 says why")


def _artificial(check: Check, capture: Capture, whole: Captured, mode: str, counts: Counter[str], held: Held) -> None:
    """Judge real dumps that begin at a later transaction, with the dump thread's own ROTATE and FORMAT_DESCRIPTION."""
    draw = Stream("boundaries", check.seed, mode, "artificial")
    place = whole.start
    starts: list[Position] = []
    for event in whole.events:
        if event[4] in GTID_TYPES:
            starts.append(place)
        end = int.from_bytes(event[13:17], "little")
        place = Position(file=place.file, offset=end)
        if event[4] == EventType.ROTATE:
            place = Position(file=event[27:-4].decode(), offset=4)
    last = starts[-12:]
    part = check.part(f"{mode}/artificial", "TP1")
    for number in check.blocks("dumps"):
        with part.block(number, verdict=Verdict.DIFFERS) as block:
            chosen = draw.below(len(last))
            events = list(capture.dumped_events(last[chosen]))
            bare = boundaries.without_marks(events)
            marked = boundaries.mark_events(bare)
            groups = len(last) - chosen
            counts[mode] += groups
            counts["events"] += len(events)
            block.cases = groups
            broken = boundaries.judge_shipped(events, groups, None)
            block.differs(*broken)
            if events[0][4] != EventType.ROTATE or events[0][13:17] != bytes(4):
                block.differs(
                    Problem("event 0", "an artificial ROTATE", str(events[0][4]), "a dump begins with another event")
                )
        if broken:
            _not_marked(part, groups, "TL1")
            continue
        held.add(f"{mode}, dump {number}", bare, boundaries.markers_of(marked))
        marks = boundaries.judge_marks(bare, marked, groups, f"{check.seed}/{number}")
        part.record(number, marks, cases=groups, requirement="TL1")


def _hears_without_warning(check: Check, target: ReceiverTarget, whole: Captured, mode: str) -> bool:
    """Let a real receiver read the whole log of a mode; returns whether it gave no warning."""
    groups = sum(event[4] in GTID_TYPES for event in whole.events)
    with check.part(f"{mode}/heard", "TP1").block(cases=groups, verdict=Verdict.DIFFERS) as block:
        stream = [boundaries.of_another(event) for event in (whole.format_description, *whole.events)]
        end = _end_of(whole, stream)
        heard = target.hear([stream], end)
        source = [group.gtid for group in boundaries.transactions_of(whole.events)]
        problems = [
            *broken_streams.judge_warnings([], heard.warnings, f"log with GTIDs {mode}"),
            *heard_problems(heard, end),
            *boundaries.judge_relay_logs(heard.relay_logs, source),
        ]
        block.differs(*problems)
    words = f"{len(problems)} problems" if problems else "no warning"
    check.narrate(f"  {groups} transactions heard with {words}, in {len(heard.relay_logs)} relay logs ({mode})")
    return not problems


@pytest.mark.check("old")
def test_transactions_of_an_old_server(check: Check) -> None:
    """The models accept the log of a server without GTID events: BEGIN opens a transaction, or it is one statement."""
    maker = check.needs_old_server()
    check.narrate(f"starting an old server, MySQL {maker.version}")
    with launch_old(maker, narrate=check.narrate) as server, server.connect() as session:
        server.put_data(transactions.LOADED, transactions.LINES)
        session.execute_many([f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *transactions.tables()]).check()
        with closing(server.capture()) as capture:
            for kind in transactions.KINDS:
                if kind not in ("compressed", "xa"):  # unknown, and logged as other transactions
                    _old_kind(check, session, capture, kind)


def _old_kind(check: Check, session: Connection, capture: Capture, kind: str) -> None:
    draw = Stream("boundaries", check.seed, "old", kind)
    units = [transactions.unit(draw.fork(number), kind, old=True) for number in check.blocks()]
    groups = sum(unit.groups for unit in units)
    with check.part(kind).block(cases=groups) as block:
        start = capture.mark(session)
        session.execute_many([statement for unit in units for statement in unit.statements]).check()
        events = capture.since(start).events
        block.differs(
            *boundaries.judge_marks(events, boundaries.mark_events(events), groups, f"{check.seed}/{kind}"),
            *boundaries.judge_shipped(events, groups, None),
        )
        if any(event[4] in GTID_TYPES for event in events):
            block.differs(Problem(kind, "no GTID event", "some", "an old server writes GTID events"))


def _hear_marked(check: Check, target: ReceiverTarget, whole: Captured, mode: str) -> None:
    """Let a real receiver read the marked log: it gives no warning, and its relay logs keep every marker."""
    events = [whole.format_description, *whole.events]
    stream = boundaries.mark_events([boundaries.of_another(event) for event in events])
    end = _end_of(whole, stream)
    with check.part(f"{mode}/marked", "TL1").block(cases=len(stream)) as block:
        heard = target.hear([stream], end)
        block.differs(
            *broken_streams.judge_warnings([], heard.warnings, f"marked log with GTIDs {mode}"),
            *heard_problems(heard, end),
            *boundaries.judge_relayed(stream, heard.relay_logs),
        )


def _end_of(whole: Captured, stream: Sequence[bytes]) -> tuple[str, int]:
    """The position of a receiver behind a log that it received as the first file of a source."""
    if whole.start.file != whole.end.file:
        return whole.end.file, whole.end.offset
    return FILE, len(boundaries.file_of(stream))


# --- marked files ----------------------------------------------------------------------------------------------------


@pytest.mark.check("marked")
def test_marked_files_are_printed_and_applied(check: Check) -> None:
    """The real client reads marked logs, its BINLOG statements keep the markers, and a real server applies them."""
    target = needed_target(check)
    program = check.needs_programs("mysqlbinlog", "mysql", server=target.server)
    target.set_gtid_mode("OFF")  # with GTIDs a session that was given a FORMAT_DESCRIPTION cannot go on
    with closing(target.server.capture()) as capture:
        for number in check.blocks():
            _marked_file(check, target, capture, program, number)


def _marked_file(check: Check, target: ReceiverTarget, capture: Capture, program: Program, number: int) -> None:
    begun = time.perf_counter()
    session = target.session()
    draw = Stream("marked", check.seed, number)
    units = [transactions.unit(draw.fork(kind), kind) for kind in draw.shuffled(_MARKED_KINDS)]
    start = capture.mark(session)
    session.execute_many(
        [
            f"CREATE SCHEMA {_SCHEMA}",
            f"USE {_SCHEMA}",
            *transactions.tables(),
            *(statement for unit in units for statement in unit.statements),
        ]
    ).check()
    captured = capture.since(start)
    rows = _rows(target)
    session.execute(f"DROP SCHEMA {_SCHEMA}")
    marked = marked_files.mark_file([captured.format_description, *captured.events])
    file = boundaries.file_of(marked)
    ours = marked_files.text_of(file, dialect_of(target.server.number).server)
    status, real, words = marked_files.client_output(program, file, "-vv", "--base64-output=decode-rows")
    text_problems = marked_files.judge_text(marked, ours, real)
    if status:
        text_problems.append(Problem("mysqlbinlog", "a text", words, "mysqlbinlog failed"))
    status, text, words = marked_files.client_output(program, file, "--skip-gtids")
    problems = marked_files.judge_binlog(marked, text)
    replayed = mysqlbinlog_replay.feed(target.server, mysqlbinlog_replay.Text(text))
    got = _rows(target) if replayed.error is None else {}
    if replayed.error is not None or status or got != rows:
        problems.append(
            Problem(
                field="replay",
                expected=f"{ {table: len(content) for table, content in rows.items()} } rows",
                got=replayed.message or words or str({table: len(content) for table, content in got.items()}),
                message="a marked log does not apply to the same rows",
            )
        )
    session.execute(f"DROP SCHEMA IF EXISTS {_SCHEMA}")
    options = {"cases": len(marked), "texts_compared": len(marked), "seconds": time.perf_counter() - begun}
    check.record(number, text_problems, requirement="TF2", **options)
    check.record(number, problems, requirement="TF3", **options)


def _rows(target: ReceiverTarget) -> dict[str, tuple[object, ...]]:
    session = target.session()
    return {table: session.execute(f"SELECT * FROM {_SCHEMA}.{table} ORDER BY id").rows for table in ("t", "m")}
