"""NR1 to NR5: what this kit must not demand. What the server does is recorded; that others may do otherwise is checked.

For each generated case the judge also gets what another server might have done. Where the worklog leaves that free the
judge must not call it a failure, and where it goes beyond it must: otherwise the kit itself fails here.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks import liberties
from conformance.checks.allocations import with_option
from conformance.checks.blocks import make_script
from conformance.checks.campaign import server_limits
from conformance.checks.outcomes import Outcome, Problem, record
from conformance.checks.pairs import PairRun
from conformance.judge import diverged as judging
from conformance.judge.allocations import judge_applier
from conformance.judge.diverged import Grade
from conformance.judge.events import iter_events
from conformance.judge.forms import form_of
from conformance.judge.liberties import CHOICE
from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.diffs import split_diffs
from conformance.servers.groups import groups_of_thread
from conformance.servers.run import run_case
from conformance.stream import Block, CaseVerdict, Verdict
from generators import diverged
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.injection import Injection, InjectionOutcome
    from conformance.checks.lab import Lab
    from conformance.servers.connection import Connection

_UPDATES: Final = 50
_CASES: Final = {"quick": 60, "full": 1000, "soak": 10_000}
_MOST_BLOCKS: Final = {"quick": 12, "full": 400, "soak": 4000}
_REFUSED: Final = 3648
_FAILING: Final = (Grade.CRASH, Grade.TIMEOUT, Grade.FAIL)
_STRICT: Final = "the judge demands what the worklog does not"
_LAX: Final = "the judge lets pass what the worklog does not leave free"


def _conclude(failed: int) -> None:
    if failed:
        pytest.fail(f"the judge is wrong about {failed} cases; see the report", pytrace=False)


def _note(lab: Lab, check: str, requirement: str, message: str) -> None:
    """What the server does, as evidence that demands nothing."""
    lab.narrate(f"{requirement}: {message}")
    lab.sink(
        CaseVerdict(
            case=f"{check}/seen",
            requirement=requirement,
            verdict=Verdict.INFO,
            subject=lab.subject,
            check=check,
            message=message,
            signature=f"{check}:seen",
        )
    )
    verdicts = {str(Verdict.INFO): 1}
    lab.sink(Block(check=check, subject=lab.subject, requirements=(requirement,), block=0, cases=1, verdicts=verdicts))


def _record(lab: Lab, check: str, requirement: str, cases: int, problems: Sequence[Problem], begun: float) -> int:
    return record(
        lab,
        Outcome(
            check=check,
            requirement=requirement,
            block=1,
            cases=cases,
            problems=problems,
            seconds=time.perf_counter() - begun,
        ),
    )


@pytest.mark.requirement("NR1")
def test_diverged_updates_may_apply(lab: Lab) -> None:
    """An update that meets another document may apply or stop: the judge takes either, and no third thing."""
    if lab.server is None:
        pytest.skip("needs a server: events are put into one")
    injector = lab.injector()
    if injector is None:
        pytest.skip("events are injected only into a server that the lab starts beside the one under test")
    begun = time.perf_counter()
    wanted = _CASES[lab.settings.profile]
    injections: list[Injection] = []
    number = 0
    while len(injections) < wanted:
        group = diverged.group(Stream("liberties", lab.settings.seed, number))
        injections += [item for item in group if item.row_exists and item.stored is not None]
        number += 1
    injections = injections[:wanted]
    seen: Counter[str] = Counter()
    problems: list[Problem] = []
    for injection, outcome in zip(injections, injector.run(injections), strict=True):
        if outcome.death or outcome.silent:  # FR5's concern
            seen["neither"] += 1
            continue
        seen["refused" if outcome.error else "applied"] += 1
        problems += diverged_problems(lab, injection, outcome)
    check = "liberties/diverged"
    _note(lab, check, "NR1", f"of {wanted} diverged updates {seen['applied']} applied, {seen['refused']} were refused")
    _conclude(_record(lab, check, "NR1", wanted - seen["neither"], problems, begun))


def diverged_problems(lab: Lab, injection: Injection, outcome: InjectionOutcome) -> list[Problem]:
    """What the judge says of a server that refuses what this one applies or the other way round, and of a third one."""
    dialect = lab.dialect
    same = outcome.before
    refused = type(outcome)(error=_REFUSED, message="refused", before=same, after=same)
    applied = type(outcome)(before=same, after=same)
    unreadable = type(outcome)(before=same, after=None if same is None else type(same)(error=3142))
    half = type(outcome)(error=_REFUSED, message="refused", before=same, after=unreadable.after)
    problems = []
    for twin, free in ((applied if outcome.error else refused, True), (unreadable, False), (half, False)):
        grade = judging.judge_injection(injection, twin, dialect).grade
        if (grade not in _FAILING) != free:
            problems.append(
                Problem(
                    field=injection.name,
                    expected="no failure" if free else "a failure",
                    got=str(grade.value),
                    message=_STRICT if free else _LAX,
                )
            )
    return problems


@pytest.mark.requirement("NR2", "NR3", "NR5")
def test_other_forms_are_free(lab: Lab) -> None:
    """A few bytes more, whole documents beside diffs, and either form near the border are differences at most."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: what others might log is made from what it logs")
    limits = server_limits(server)
    wanted = _CASES[lab.settings.profile]
    cases: Counter[str] = Counter()
    free: Counter[str] = Counter()
    problems: dict[str, list[Problem]] = {"NR2": [], "NR3": [], "NR5": []}
    roots = diffs = rows = growth = number = 0
    begun = time.perf_counter()
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        while min(cases[name] for name in problems) < wanted and number < _MOST_BLOCKS[lab.settings.profile]:
            made = make_script(f"{lab.settings.seed}/liberties", number, limits, updates=_UPDATES)
            script = with_option(made, limits, partial_json=True)
            observation = run_case(connection, capture, script, schema)
            found = liberties.root_diffs(observation)
            roots, diffs = roots + found[0], diffs + found[1]
            without = liberties.growth_without_diffs(observation)
            rows, growth = rows + without[0], growth + without[1]
            names = [column.name for column in script.case.table.columns]
            for twin in liberties.twins(script, observation):
                cases[twin.requirement] += 1
                free[twin.requirement] += twin.free
                taken = twin.taken_as(names)
                if (taken is not None) != twin.free:
                    problems[twin.requirement].append(
                        Problem(
                            field=f"block {number}, statement {twin.step}: {twin.what}",
                            expected="a difference at most" if twin.free else "a failure",
                            got="a failure" if taken is None else f"free by {taken}",
                            message=_STRICT if twin.free else _LAX,
                        )
                    )
            number += 1
        seen = _equal_texts(connection, lab)
        capture.close()
    check = "liberties/forms"
    _note(lab, check, "NR2", f"{rows} rows without diffs are {growth} bytes longer than in the event of the option off")
    _note(lab, check, "NR3", f"{roots} of {diffs} diffs have the root as path; {free['NR3']} documents came whole")
    _note(lab, check, CHOICE, seen)
    failed = 0
    for requirement, found_problems in problems.items():
        failed += _record(lab, f"{check}/{requirement}", requirement, cases[requirement], found_problems, begun)
    _conclude(failed)


def _equal_texts(connection: Connection, lab: Lab) -> str:
    """NR5 shown: pairs of rows with the same text and other free space, under the same update."""
    server = lab.server
    assert server is not None
    draw = Stream("equal-texts", lab.settings.seed)
    pairs = 30
    statements = [
        "SET SESSION sql_log_bin = 1, SESSION binlog_format = ROW, SESSION binlog_row_image = MINIMAL",
        "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
        "CREATE TABLE alike (id INT PRIMARY KEY, j JSON)",
    ]
    updates = []
    for pair in range(pairs):
        part = draw.fork(pair)
        length = 1 + part.below(60)
        word, filling = part.letters(length, "abcdef"), part.letters(1 + part.below(60), "ghi")
        statements += [
            f"INSERT INTO alike VALUES ({2 * pair}, JSON_ARRAY('{word}', ''))",
            f"INSERT INTO alike VALUES ({2 * pair + 1}, JSON_ARRAY('{word}', '{filling}'))",
            f"UPDATE alike SET j = JSON_SET(j, '$[1]', '') WHERE id = {2 * pair + 1}",
        ]
        updates.append(f"JSON_SET(j, '$[0]', '{part.letters(length, 'uvwxyz')}')")
    connection.execute_many(statements).check()
    rows = connection.execute("SELECT id, CAST(j AS CHAR) FROM alike ORDER BY id").texts()
    texts = [text for _, text in rows]
    assert texts[::2] == texts[1::2]
    capture = server.capture()
    other = 0
    for pair, expression in enumerate(updates):
        forms = []
        for row in (2 * pair, 2 * pair + 1):
            start = capture.mark(connection)
            connection.execute(f"UPDATE alike SET j = {expression} WHERE id = {row}")
            events = capture.since(start, capture.mark(connection)).events
            forms.append(form_of(groups_of_thread(events, connection.thread_id)))
        other += forms[0] != forms[1]
    capture.close()
    connection.execute("DROP TABLE alike")
    return f"of {pairs} pairs of documents with the same text {other} got another form for the same update"


@pytest.mark.requirement("NR4")
def test_long_lists_of_diffs(lab: Lab) -> None:
    """Lists of a hundred diffs to a thousand are logged and applied; no bound of memory or length is demanded."""
    draw = Stream("long-lists", lab.settings.seed)
    count = 60 if lab.settings.profile == "quick" else 1000
    problems: list[Problem] = []
    lengths: list[int] = []
    begun = time.perf_counter()
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        capture = pair.source.capture()
        run.source.execute_many(
            [
                "SET SESSION sql_log_bin = 1, SESSION binlog_row_image = MINIMAL",
                "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
                "CREATE TABLE longs (id INT PRIMARY KEY, j JSON)",
                "INSERT INTO longs VALUES (1, JSON_OBJECT('a', 1, 'b', 2, 'c', JSON_ARRAY(1, 2), 'p', 'p'))",
                "UPDATE longs SET j = JSON_SET(j, '$.p', REPEAT('p', 60000))",
            ]
        ).check()
        value = 10
        start = capture.mark(run.source)
        for number in range(count):
            part = draw.fork(number)
            changes = []
            for _ in range(100 + part.below(901)):
                value = 10 + (value - 9) % 30_000  # never the value that is there: such a diff stops a replica
                changes.append(f"'{part.choice(('$.a', '$.b', '$.c[0]', '$.c[1]'))}', {value}")
            run.source.execute(f"UPDATE longs SET j = JSON_SET(j, {', '.join(changes)}) WHERE id = 1")
            lengths.append(len(changes))
        events = capture.since(start, capture.mark(run.source)).events
        logged = [
            len(split_diffs(value.diffs))
            for _, event, _ in iter_events(groups_of_thread(events, run.source.thread_id))
            if event is not None and isinstance(event.body, RowsBody)
            for row in event.body.rows
            for value in row.after or ()
            if isinstance(value, PartialJson)
        ]
        run.catch_up()
        texts = [
            side.execute("SELECT SHA2(CAST(j AS CHAR), 256) FROM longs").scalar() for side in (run.source, run.replica)
        ]
        capture.close()
    if texts[0] != texts[1]:
        problems.append(
            Problem(
                field="the document after all lists",
                expected=str(texts[0]),
                got=str(texts[1]),
                message="a replica that applied long lists of diffs has another document",
            )
        )
    if judge_applier(off=0, on=10**12) != "pass":  # whatever memory the lists take with the option on
        problems.append(Problem(field="memory", expected="no failure", got="a failure", message=_STRICT))
    check = "liberties/long-lists"
    whole = sum(one == other for one, other in zip(lengths, logged, strict=False))
    _note(
        lab, check, "NR4",
        f"{whole} of {count} lists of up to {max(lengths)} diffs were logged as they are, and the replica applied them",
    )  # fmt: skip
    _conclude(_record(lab, check, "NR4", count, problems, begun))
