"""FR7: ``mysqlbinlog -v`` prints the diffs completely.

The check captures generated updates and writes them to a file, which the real client prints. It compares the client's
lines with the reference's byte for byte; then it parses them and looks for every diff of every event. Exceptions: none
for these tables (they have no GEOMETRY and no VECTOR column, which the client prints wrongly).
"""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

import pytest

from conformance.checks.mysqlbinlog_output import run
from conformance.checks.mysqlbinlog_output.completeness import compare_text
from conformance.checks.mysqlbinlog_output.generate import EXAMPLE_TEXT, example_bodies, example_file
from conformance.checks.mysqlbinlog_output.judge import VERBOSE, compare_lines, reference_text
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.captures import load_capture, recorded
from conformance.judge.problem import Problem
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from conformance.checks.mysqlbinlog_output.run import Client
    from conformance.harness.check import Check
    from conformance.reference.binlog.rows import RowsBody


@pytest.mark.check("text")
def test_printed_updates(check: Check) -> None:
    """``mysqlbinlog -v`` prints each line of generated updates as predicted, and the text holds every diff."""
    if check.lab.server is None:
        _recorded(check.part("reference"))
        return
    with run.mysqlbinlog(check, "a server") as client:
        for number in check.blocks():
            begun = time.perf_counter()
            script = make_script(f"{check.seed}/printing", number, client.limits, updates=run.UPDATES)
            bodies = client.write_log(script, run.run_updates)
            _judge_block(check, client, number, script.case, bodies, begun)


def _judge_block(
    check: Check, client: Client, number: int, case: UpdateCase, bodies: list[RowsBody], begun: float
) -> None:
    """Print and judge one file. The file of a failure is kept among the run's Cases."""
    text: list[Problem] = []
    missing: list[Problem] = []
    rows = sum(len(body.rows) for body in bodies)
    for option, types in VERBOSE.items():
        try:
            shown = client.text(option)
        except run.ClientFailed as error:
            missing.append(Problem(option, "a text", str(error), "mysqlbinlog failed"))
            continue
        text += compare_lines(reference_text(bodies, types=types), shown, option)
        missing += compare_text(shown, bodies).problems
    replay = None
    cases = check.lab.settings.cases
    if (text or missing) and cases is not None:
        kept = cases / f"printing-{number}.binlog"
        kept.write_bytes(client.log)
        replay = shlex.join(["mysqlbinlog", "--no-defaults", "-v", "--base64-output=decode-rows", str(kept)])
    seconds = (time.perf_counter() - begun) / 2
    differs = check.block(
        number,
        cases=rows,
        verdict=Verdict.DIFFERS,
        case=case,
        replay=replay,
        seconds=seconds,
        texts_compared=2 * rows,
    )
    with differs as block:
        block.differs(*text)
    complete = check.part("complete")
    complete.record(number, missing, cases=rows, case=case, replay=replay, seconds=seconds)


def _recorded(check: Check) -> None:
    """Without a server there is no client: read the reference's own text back, against recorded events."""
    for number, data in enumerate(recorded()):
        script, observation = load_capture(data)
        bodies = run.row_events(observation.events)
        with check.block(number, cases=sum(len(body.rows) for body in bodies), case=script.case) as block:
            for types in VERBOSE.values():
                block.differs(*compare_text(reference_text(bodies, types=types), bodies).problems)


@pytest.mark.check("example")
def test_worklog_example(check: Check) -> None:
    """The real client prints all of the worklog's own seven diffs, in order; no statement makes this list."""
    check.needs_server("a server's mysqlbinlog: the worklog's example is printed by the real client")
    program = check.needs_programs("mysqlbinlog")
    begun = time.perf_counter()
    _, body = example_bodies()
    try:
        shown = run.client_text(program, example_file(), "-v")
    except run.ClientFailed as error:
        check.fail(f"mysqlbinlog cannot print the worklog's example: {error}")
        return
    seconds = (time.perf_counter() - begun) / 2
    for part, verdict, problems in (
        (check.part("text"), Verdict.DIFFERS, compare_lines(EXAMPLE_TEXT, shown, "-v")),
        (check, Verdict.FAIL, compare_text(shown, [body]).problems),
    ):
        part.record(problems=problems, cases=1, verdict=verdict, texts_compared=1, seconds=seconds)
