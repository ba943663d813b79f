"""WL#4162, transaction boundaries: real transactions of every kind, and marked files (transaction-boundaries A.1).

No released server writes markers, so TF1, which is about a server's own, applies to none of them. What else the worklog
demands of markers is judged on the logs of a real server that the kit marks: those are verdicts about the kit's model.
What shipped in its place is judged as observed, by a real replica's receiver and the real client.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries import broken_streams, marked_files, transactions
from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.receivers import conclude, heard_problems, needed_target
from conformance.harness import mysqlbinlog_replay as replaying
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.reference.boundaries.observed_event import GTID_TYPES
from conformance.reference.event_types import EventType
from conformance.requirements.versions import dialect_of
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.old_server import launch_old, old_installation
from conformance.servers.wire.capture import Position
from conformance.servers.wire.source import FILE
from conformance.stream import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.harness.lab import Lab
    from conformance.servers.roles.receiver import ReceiverTarget
    from conformance.servers.wire.capture import Capture, Captured
    from conformance.servers.wire.connection import Connection

_UNITS: Final = {"quick": 4, "full": 110, "soak": 500}  # of a kind and a GTID mode
_DUMPS: Final = {"quick": 5, "full": 110, "soak": 500}  # of a GTID mode
_FILES: Final = {"quick": 3, "full": 40, "soak": 200}  # marked files, of some dozen transactions each
_MODES: Final = {"ON": ("ON", "AUTOMATIC"), "tagged": ("ON", "AUTOMATIC:lab"), "OFF": ("OFF", "AUTOMATIC")}
_SCHEMA: Final = "binlog_lab_boundaries"
_NO_MARKS: Final = (
    "no event of this server has a marker, and no released server writes any; TL1, TN1 and TN2 are about the kit's own"
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
    """The tables of the units."""
    session = target.session()
    session.execute_many([f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *transactions.tables()]).check()
    target.server.put_data(transactions.LOADED, transactions.LINES)
    try:
        yield
    finally:
        session.execute("SET gtid_next = 'AUTOMATIC'")
        session.execute(f"DROP SCHEMA {_SCHEMA}")


def executed(text: str) -> frozenset[str]:
    """The names in a set of GTIDs as the server writes it: ``UUID:1-3:7:tag:1-2, ...``."""
    out = []
    for part in filter(None, (item.strip() for item in text.split(","))):
        uuid, *items = part.split(":")
        tag = ""
        for item in items:
            if not item[0].isdigit():
                tag = f"{item}:"
                continue
            first, _, last = item.partition("-")
            out += [f"{uuid}:{tag}{number}" for number in range(int(first), int(last or first) + 1)]
    return frozenset(out)


# --- real transactions -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("TF1", "TL1", "TN1", "TN2", "TP1")
def test_real_transactions_of_every_kind(lab: Lab) -> None:
    """Transactions of every kind, with GTIDs, tags and without, are accepted marked by the kit, unmarked and mixed, and
    by what shipped; a server's own markers, if it writes any, are the worklog's."""
    target = needed_target(lab)
    table: dict[str, Counter[str]] = {}
    logs: dict[str, Sequence[bytes]] = {}
    failed = 0
    with closing(target.server.capture()) as capture:
        for mode in _MODES:
            if mode != "tagged" or dialect_of(target.server.number).log.tagged_gtid:
                failed += _real_mode(lab, target, capture, mode, table, logs)
    run = [counts for kind, counts in table.items() if kind != "artificial"]
    failed += _own_marks(lab, logs, {mode: sum(counts[mode] for counts in run) for mode in logs})
    lab.narrate("real transactions by kind, GTIDs on, tagged, off; events:")
    for kind, counts in table.items():
        lab.narrate(f"  {kind:20} {counts['ON']:6} {counts['tagged']:6} {counts['OFF']:6} {counts['events']:8}")
    conclude(failed, "real transactions are not accepted")


def _real_mode(
    lab: Lab,
    target: ReceiverTarget,
    capture: Capture,
    mode: str,
    table: dict[str, Counter[str]],
    logs: dict[str, Sequence[bytes]],
) -> int:
    """All kinds under one setting of GTIDs. ``table``: kind to counts, which are added; ``logs``: so is the log."""
    gtid_mode, gtid_next = _MODES[mode]
    failed = 0
    target.set_gtid_mode(gtid_mode)
    with _schema(target):
        target.session().execute(f"SET gtid_next = '{gtid_next}'")
        first = capture.mark(target.session())
        for kind in transactions.KINDS:
            failed += _real_kind(lab, target, capture, (mode, kind), table.setdefault(kind, Counter()))
        whole = capture.since(first)
        logs[mode] = (whole.format_description, *whole.events)
        failed += _artificial(lab, capture, whole, mode, table.setdefault("artificial", Counter()))
        failed += _heard_silently(lab, target, whole, mode)
        failed += _heard_marked(lab, target, whole, mode)
    return failed


def _own_marks(lab: Lab, logs: Mapping[str, Sequence[bytes]], groups: Mapping[str, int]) -> int:
    """The markers that the server itself wrote into the whole log of each mode."""
    if not any(map(boundaries.has_marks, logs.values())):
        lab.narrate(f"TF1: {_NO_MARKS}")
        lab.not_applicable("boundaries/own", "TF1", _NO_MARKS)
        return 0
    return sum(
        record(
            lab,
            Outcome(
                check=f"boundaries/own/{mode}",
                requirement="TF1",
                block=0,
                cases=groups[mode],
                problems=boundaries.judge_own_marks(events, groups[mode], f"{lab.settings.seed}/{mode}"),
            ),
        )
        for mode, events in logs.items()
    )


def _real_kind(lab: Lab, target: ReceiverTarget, capture: Capture, where: tuple[str, str], counts: Counter[str]) -> int:
    mode, kind = where
    session = target.session()
    begun = time.perf_counter()
    draw = Stream("boundaries", lab.settings.seed, mode, kind)
    units = [transactions.unit(draw.fork(number), kind) for number in range(_UNITS[lab.settings.profile])]
    before = session.variable("gtid_executed") or ""
    start = capture.mark(session)
    session.execute_many([statement for unit in units for statement in unit.statements]).check()
    events = capture.since(start).events
    gtids = None
    if mode != "OFF":
        after = session.variable("gtid_executed") or ""
        gtids = executed(str(session.execute(f"SELECT GTID_SUBTRACT('{after}', '{before}')").scalar() or ""))
    groups = sum(unit.groups for unit in units)
    counts[mode] += groups
    counts["events"] += len(events)
    seconds = time.perf_counter() - begun
    return _real_outcomes(lab, f"{mode}/{kind}", events, groups, gtids, seconds)


def _real_outcomes(
    lab: Lab, name: str, events: Sequence[bytes], groups: int, gtids: frozenset[str] | None, seconds: float
) -> int:
    """The judges of one kind of transactions; ``name`` is mode and kind."""
    mode, _, kind = name.partition("/")
    coin = f"{lab.settings.seed}/{name}"
    events = boundaries.without_marks(events)
    marks = boundaries.judge_marks(events, boundaries.mark_events(events), groups, coin)
    bare = boundaries.without_gtids(events)
    without = [] if kind in ("xa", "compressed") else boundaries.judge_marks(
        bare, boundaries.mark_events(bare), groups, coin
    )  # fmt: skip
    judged = [
        ("TL1", Verdict.FAIL, marks),
        ("TN2", Verdict.FAIL, [*(marks if mode == "OFF" else ()), *without]),
        ("TP1", Verdict.DIFFERS, boundaries.judge_shipped(events, groups, gtids)),
    ]
    if kind in _STATEMENT_KINDS:
        judged.append(("TN1", Verdict.FAIL, marks))
    return sum(
        record(
            lab,
            Outcome(
                check=f"boundaries/real/{name}",
                requirement=requirement,
                block=0,
                cases=groups,
                problems=problems,
                verdict=verdict,
                seconds=seconds,
            ),
        )
        for requirement, verdict, problems in judged
    )


def _artificial(lab: Lab, capture: Capture, whole: Captured, mode: str, counts: Counter[str]) -> int:
    """Real dumps from some transaction on: with the dump thread's own ROTATE and FORMAT_DESCRIPTION."""
    draw = Stream("boundaries", lab.settings.seed, mode, "artificial")
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
    failed = 0
    for number in range(_DUMPS[lab.settings.profile]):
        chosen = draw.below(len(last))
        events = list(capture.dumped_events(last[chosen]))
        bare = boundaries.without_marks(events)
        groups = len(last) - chosen
        counts[mode] += groups
        counts["events"] += len(events)
        problems = [
            *boundaries.judge_shipped(events, groups, None),
            *boundaries.judge_marks(bare, boundaries.mark_events(bare), groups, f"{lab.settings.seed}/{number}"),
        ]
        if events[0][4] != EventType.ROTATE or events[0][13:17] != bytes(4):
            problems.append(
                Problem(
                    field="event 0",
                    expected="an artificial ROTATE",
                    got=str(events[0][4]),
                    message="a dump begins with another event",
                )
            )
        failed += record(
            lab,
            Outcome(
                check=f"boundaries/real/{mode}/artificial",
                requirement="TP1",
                block=number,
                cases=groups,
                problems=problems,
                verdict=Verdict.DIFFERS,
            ),
        )
    return failed


def _heard_silently(lab: Lab, target: ReceiverTarget, whole: Captured, mode: str) -> int:
    """A real receiver has nothing to say of the whole log of a mode."""
    stream = [boundaries.of_another(event) for event in (whole.format_description, *whole.events)]
    end = _end_of(whole, stream)
    heard = target.hear([stream], end)
    problems = [
        *broken_streams.judge_warnings([], heard.warnings, f"log with GTIDs {mode}"),
        *heard_problems(heard, end),
    ]
    source = [group.gtid for group in boundaries.transactions_of(whole.events)]
    problems += boundaries.judge_relay_logs(heard.relay_logs, source)
    groups = sum(event[4] in GTID_TYPES for event in whole.events)
    lab.narrate(f"  {groups} transactions heard without a warning, in {len(heard.relay_logs)} relay logs ({mode})")
    outcome = Outcome(
        check=f"boundaries/real/{mode}/heard",
        requirement="TP1",
        block=0,
        cases=groups,
        problems=problems,
        verdict=Verdict.DIFFERS,
    )
    return record(lab, outcome)


@pytest.mark.requirement("TN2")
def test_transactions_of_an_old_server(lab: Lab) -> None:
    """A server that writes no GTID events at all: its transactions begin with BEGIN, or are statements alone."""
    if lab.server is None:
        pytest.skip("needs a server under test and an old one beside it")
    try:
        installation = old_installation()
    except ServerUnavailable as error:
        pytest.skip(str(error))
    lab.narrate(f"starting an old server, MySQL {installation.version}")
    failed = 0
    with launch_old(installation, narrate=lab.narrate) as server, server.connect() as session:
        server.put_data(transactions.LOADED, transactions.LINES)
        session.execute_many([f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *transactions.tables()]).check()
        with closing(server.capture()) as capture:
            for kind in transactions.KINDS:
                if kind not in ("compressed", "xa"):  # unknown, and logged as other transactions
                    failed += _old_kind(lab, session, capture, kind)
    conclude(failed, "transactions of an old server are not accepted")


def _old_kind(lab: Lab, session: Connection, capture: Capture, kind: str) -> int:
    begun = time.perf_counter()
    draw = Stream("boundaries", lab.settings.seed, "old", kind)
    units = [transactions.unit(draw.fork(number), kind, old=True) for number in range(_UNITS[lab.settings.profile])]
    start = capture.mark(session)
    session.execute_many([statement for unit in units for statement in unit.statements]).check()
    events = capture.since(start).events
    groups = sum(unit.groups for unit in units)
    problems = [
        *boundaries.judge_marks(events, boundaries.mark_events(events), groups, f"{lab.settings.seed}/{kind}"),
        *boundaries.judge_shipped(events, groups, None),
    ]
    if any(event[4] in GTID_TYPES for event in events):
        problems.append(
            Problem(field=kind, expected="no GTID event", got="some", message="an old server writes GTID events")
        )
    outcome = Outcome(
        check=f"boundaries/old/{kind}",
        requirement="TN2",
        block=0,
        cases=groups,
        problems=problems,
        seconds=time.perf_counter() - begun,
    )
    return record(lab, outcome)


def _heard_marked(lab: Lab, target: ReceiverTarget, whole: Captured, mode: str) -> int:
    """A real receiver takes the marked log as well, without a word, and its relay logs keep every marker."""
    events = [whole.format_description, *whole.events]
    stream = boundaries.mark_events([boundaries.of_another(event) for event in events])
    end = _end_of(whole, stream)
    heard = target.hear([stream], end)
    problems = [
        *broken_streams.judge_warnings([], heard.warnings, f"marked log with GTIDs {mode}"),
        *heard_problems(heard, end),
        *boundaries.judge_relayed(stream, heard.relay_logs),
    ]
    outcome = Outcome(
        check=f"boundaries/real/{mode}/marked", requirement="TL1", block=0, cases=len(stream), problems=problems
    )
    return record(lab, outcome)


def _end_of(whole: Captured, stream: Sequence[bytes]) -> tuple[str, int]:
    """Where a receiver stands behind a log that it heard as the first file of a source."""
    if whole.start.file != whole.end.file:
        return whole.end.file, whole.end.offset
    return FILE, len(boundaries.file_of(stream))


# --- marked files ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("TF2", "TF3")
def test_marked_files_are_printed_and_applied(lab: Lab) -> None:
    """The real client reads marked logs, its BINLOG statements keep the markers, and a real server applies them."""
    target = needed_target(lab)
    try:
        program = target.server.program("mysqlbinlog")
        target.server.program("mysql")
    except ServerUnavailable as error:
        pytest.skip(f"needs the server's own client programs: {error}")
    target.set_gtid_mode("OFF")  # with GTIDs a session that was given a FORMAT_DESCRIPTION cannot go on
    failed = 0
    with TemporaryDirectory(prefix="binlog-lab-") as directory, closing(target.server.capture()) as capture:
        for number in range(_FILES[lab.settings.profile]):
            failed += _marked_file(lab, target, capture, program, Path(directory) / "marked.binlog", number)
    conclude(failed, "marked files are not printed or applied as they must be")


def _marked_file(
    lab: Lab, target: ReceiverTarget, capture: Capture, program: Sequence[str], path: Path, number: int
) -> int:
    begun = time.perf_counter()
    session = target.session()
    draw = Stream("marked", lab.settings.seed, number)
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
    path.write_bytes(boundaries.file_of(marked))
    ours = marked_files.text_of(path.read_bytes())
    status, real, words = marked_files.printed(program, path, "-vv", "--base64-output=decode-rows")
    text_problems = marked_files.judge_text(marked, ours, real)
    if status:
        text_problems.append(Problem(field="mysqlbinlog", expected="a text", got=words, message="mysqlbinlog failed"))
    status, text, words = marked_files.printed(program, path, "--skip-gtids")
    problems = marked_files.judge_binlog(marked, text)
    replayed = replaying.feed(target.server, replaying.Text(text))
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
    seconds = time.perf_counter() - begun
    return sum(
        record(
            lab,
            Outcome(
                check="boundaries/marked",
                requirement=requirement,
                block=number,
                cases=len(marked),
                problems=found,
                texts=len(marked),
                seconds=seconds,
            ),
        )
        for requirement, found in (("TF2", text_problems), ("TF3", problems))
    )


def _rows(target: ReceiverTarget) -> dict[str, tuple[object, ...]]:
    session = target.session()
    return {table: session.execute(f"SELECT * FROM {_SCHEMA}.{table} ORDER BY id").rows for table in ("t", "m")}
