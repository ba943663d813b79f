"""FR7: ``mysqlbinlog -v`` prints the diffs completely.

Generated updates are captured, written as a file, and printed by the real client. Its lines are compared with the
reference's byte for byte; then they are parsed and every diff of every event is looked for. Exceptions: none for these
tables (they have no GEOMETRY and no VECTOR column, of which the client prints something false).
"""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from conformance.checks.mysqlbinlog_output import judge as printing
from conformance.checks.mysqlbinlog_output.completeness import compare_text
from conformance.checks.mysqlbinlog_output.judge import (
    EXAMPLE_TEXT,
    VERBOSE,
    ClientFailed,
    compare_lines,
    completeness_problems,
    example_bodies,
    example_file,
    reference_text,
    row_events,
)
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.harness.captures import load_capture, recorded
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.update_cases import run_case
from conformance.servers.wire.capture import Captured
from conformance.stream import Verdict

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.lab import Lab
    from conformance.reference.binlog.rows import RowsBody

_UPDATES = 50  # of a block
_BLOCKS = {"quick": 8, "full": 60, "soak": 600}


@pytest.mark.requirement("FR7")
def test_printed_updates(lab: Lab) -> None:
    """Pseudo-SQL of generated updates: every line is as predicted, and every diff is found again in the text."""
    server = lab.server
    if server is None:
        _recorded(lab)
        return
    program = _program(lab)
    failed = 0
    limits = server_limits(server)
    with (
        server.connect() as connection,
        server.schema(connection) as schema,
        TemporaryDirectory(prefix="binlog-lab-") as directory,
    ):
        capture = server.capture()
        for number in range(_BLOCKS[lab.settings.profile]):
            begun = time.perf_counter()
            script = make_script(f"{lab.settings.seed}/printing", number, limits, updates=_UPDATES)
            start = capture.mark(connection)
            observation = run_case(connection, capture, script, schema)
            log = Captured(
                start=start,
                end=capture.mark(connection),
                format_description=capture.description(start.file),
                events=observation.events,
            ).file_bytes()
            failed += _judge_block(
                lab, program, Path(directory), number, script.case, log, row_events(observation.events), begun
            )
        capture.close()
    if failed:
        pytest.fail(f"{failed} differences in what mysqlbinlog prints; see the report", pytrace=False)


def _judge_block(
    lab: Lab,
    program: list[str],
    directory: Path,
    number: int,
    case: UpdateCase,
    log: bytes,
    bodies: list[RowsBody],
    begun: float,
) -> int:
    """Print and judge one file. Where something is wrong the file is kept among the run's Cases."""
    path = directory / "block.binlog"
    path.write_bytes(log)
    text: list[Problem] = []
    missing: list[Problem] = []
    rows = sum(len(body.rows) for body in bodies)
    for option, types in VERBOSE.items():
        try:
            shown = printing.client_text(program, path, option)
        except ClientFailed as error:
            missing.append(Problem(field=option, expected="a text", got=str(error), message="mysqlbinlog failed"))
            continue
        text += compare_lines(reference_text(bodies, types=types), shown, option)
        missing += completeness_problems(compare_text(shown, bodies))
    replay = None
    if (text or missing) and lab.settings.cases is not None:
        kept = lab.settings.cases / f"printing-{number}.binlog"
        kept.write_bytes(log)
        replay = shlex.join(["mysqlbinlog", "--no-defaults", "-v", "--base64-output=decode-rows", str(kept)])
    seconds = time.perf_counter() - begun
    failed = 0
    for check, verdict, problems in (
        ("printing/text", Verdict.DIFFERS, text),
        ("printing/complete", Verdict.FAIL, missing),
    ):
        failed += record(
            lab,
            Outcome(
                check=check,
                requirement="FR7",
                block=number,
                cases=rows,
                problems=problems,
                verdict=verdict,
                case=case,
                replay=replay,
                texts=2 * rows if check == "printing/text" else 0,
                seconds=seconds / 2,
            ),
        )
    return failed


def _recorded(lab: Lab) -> None:
    """Without a server there is no client: the text is the reference's own, read back against recorded events."""
    failed = 0
    for number, data in enumerate(recorded()):
        begun = time.perf_counter()
        script, observation = load_capture(data)
        bodies = row_events(observation.events)
        problems: list[Problem] = []
        for types in VERBOSE.values():
            problems += completeness_problems(compare_text(reference_text(bodies, types=types), bodies))
        failed += record(
            lab,
            Outcome(
                check="printing/reference",
                requirement="FR7",
                block=number,
                cases=sum(len(body.rows) for body in bodies),
                problems=problems,
                case=script.case,
                seconds=time.perf_counter() - begun,
            ),
        )
    if failed:
        pytest.fail(f"{failed} differences in what the reference prints; see the report", pytrace=False)


@pytest.mark.requirement("FR7")
def test_worklog_example(lab: Lab) -> None:
    """The worklog's own seven diffs, which no statement makes, printed by the real client: all of them, in order."""
    if lab.server is None:
        pytest.skip("needs a server's mysqlbinlog: the worklog's example is printed by the real client")
    program = _program(lab)
    begun = time.perf_counter()
    _, body = example_bodies()
    with TemporaryDirectory(prefix="binlog-lab-") as directory:
        path = Path(directory) / "example.binlog"
        path.write_bytes(example_file())
        try:
            shown = printing.client_text(program, path, "-v")
        except ClientFailed as error:
            pytest.fail(f"mysqlbinlog cannot print the worklog's example: {error}", pytrace=False)
    failed = 0
    for check, verdict, problems in (
        ("printing/example-text", Verdict.DIFFERS, compare_lines(EXAMPLE_TEXT, shown, "-v")),
        ("printing/example", Verdict.FAIL, completeness_problems(compare_text(shown, [body]))),
    ):
        failed += record(
            lab,
            Outcome(
                check=check,
                requirement="FR7",
                block=0,
                cases=1,
                problems=problems,
                verdict=verdict,
                texts=1,
                seconds=(time.perf_counter() - begun) / 2,
            ),
        )
    if failed:
        pytest.fail("mysqlbinlog prints the worklog's example otherwise; see the report", pytrace=False)


def _program(lab: Lab) -> list[str]:
    assert lab.server is not None
    try:
        return lab.server.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(f"needs the server's own mysqlbinlog: {error}")
