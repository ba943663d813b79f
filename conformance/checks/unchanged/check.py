"""FR8: with the option off the log is as it was before the feature; FR9: the option's type can grow new members
(requirements FR8, requirements FR9).

A build without the feature is not at hand. In its place the same workload is run with the option off in session and
server, off in the session alone, and on; an independent encoder's prediction of every event (``updates/event-bytes``)
does the rest.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.script import build_script
from conformance.checks.unchanged import run as unchanged
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.servers.errors import SqlError
from conformance.servers.roles.update_cases import run_case
from conformance.stream import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.lab import Lab
    from conformance.servers.wire.connection import Connection

_UPDATES = 50  # of a block
_BLOCKS = {"quick": 6, "full": 40, "soak": 400}
_NAMES = {"quick": 60, "full": 1_000, "soak": 10_000}
_OPTION = "binlog_row_value_options"
_WRONG_VALUE = 1231


@pytest.mark.requirement("FR8")
def test_other_events_are_unchanged(lab: Lab) -> None:
    """The same workload off, off with the global option on, and on: equal bytes, but for the updates of the last."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: the same workload is run three times")
    if not server.started_by_us:
        lab.not_applicable("unchanged/off", "FR8", "a global variable is changed, which is left to servers of the lab")
        return
    limits = server_limits(server)
    failed = 0
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        for number in range(_BLOCKS[lab.settings.profile]):
            begun = time.perf_counter()
            made = make_script(f"{lab.settings.seed}/unchanged", number, limits, updates=_UPDATES).case
            runs, broken = [], []
            for everywhere, session in ((False, False), (True, False), (False, True)):
                # Compressed transactions have other bytes for other reasons.
                case = replace(made, session=replace(made.session, partial_json=session, compression=False))
                script = build_script(
                    case, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size
                )
                with _globally(connection, on=everywhere):
                    observation = run_case(connection, capture, script, schema)
                runs.append(observation.events)
                broken.append(unchanged.broken_rules(script, observation))
            off, still_off, on = runs
            for check, (problems, cases), rules in (
                ("unchanged/off", unchanged.compare_off(off, still_off), [*broken[0], *broken[1]]),
                ("unchanged/on", unchanged.compare_on(off, on), broken[2]),
            ):
                failed += record(
                    lab,
                    Outcome(
                        check=check,
                        requirement="FR8",
                        block=number,
                        cases=cases,
                        problems=[*problems, *rules],
                        case=made,
                        seconds=(time.perf_counter() - begun) / 2,
                    ),
                )
        capture.close()
    if failed:
        pytest.fail(f"{failed} events differ between runs of the same workload; see the report", pytrace=False)


@contextmanager
def _globally(connection: Connection, *, on: bool) -> Iterator[None]:
    before = connection.variable(f"global.{_OPTION}")
    connection.execute(f"SET GLOBAL {_OPTION} = '{'PARTIAL_JSON' if on else ''}'")
    try:
        yield
    finally:
        connection.execute(f"SET GLOBAL {_OPTION} = '{before}'")


@pytest.mark.requirement("FR9")
def test_unknown_members_are_refused(lab: Lab) -> None:
    """Lists with a member that the server does not know are refused and change nothing; other lists are taken."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: the option is set to lists of members")
    draw = Stream("unknown-members", lab.settings.seed)
    wrong: list[Problem] = []
    numbers: list[Problem] = []
    begun = time.perf_counter()
    count = _NAMES[lab.settings.profile]
    with server.connect() as connection:
        for number in range(count):
            part = draw.fork("list", number)
            present = part.choice(("", "PARTIAL_JSON"))
            members = ["PARTIAL_JSON"] * part.below(3)
            known = part.below(6) == 5
            if known:
                members += [""] * part.below(2)
            else:
                members.insert(part.below(len(members) + 1), _unknown(part))
            value = ",".join(members)
            connection.execute(f"SET SESSION {_OPTION} = '{present}'")
            error, after = answer(connection, value)
            expected = ("PARTIAL_JSON" if "PARTIAL_JSON" in members else "") if known else present
            statement = f"SET SESSION {_OPTION} = '{value}'"
            if (error is None) != known or after != expected:
                wrong.append(
                    Problem(
                        field=f"value from {present!r}",
                        expected=f"{'accepted' if known else 'refused'}, then {expected!r}",
                        got=f"{'accepted' if error is None else f'refused ({error})'}, then {after!r}",
                        message="a list of members is not taken as the type SET has it",
                        statements=(statement,),
                    )
                )
            elif error not in (None, _WRONG_VALUE):
                numbers.append(
                    Problem(
                        field="error",
                        expected=str(_WRONG_VALUE),
                        got=str(error),
                        message="another error for an unknown member",
                        statements=(statement,),
                    )
                )
    failed = 0
    for check, verdict, problems in (
        ("option/members", Verdict.FAIL, wrong),
        ("option/error", Verdict.DIFFERS, numbers),
    ):
        failed += record(
            lab,
            Outcome(
                check=check,
                requirement="FR9",
                block=0,
                cases=count,
                problems=problems,
                verdict=verdict,
                seconds=(time.perf_counter() - begun) / 2,
            ),
        )
    if failed:
        pytest.fail(f"{failed} lists of members are not taken as they must be; see the report", pytrace=False)


def _unknown(draw: Stream) -> str:
    """A member that no server knows yet: what the worklog thinks of for later, or a made-up name."""
    if draw.below(4) == 3:
        return draw.choice(("PARTIAL_BLOB", "PARTIAL_TEXT", "j:PARTIAL_JSON", "PARTIAL_JSON_2", "PARTIALJSON"))
    return "X" + draw.letters(1 + draw.below(20), "ABCXYZ_09:")


def answer(connection: Connection, value: str) -> tuple[int | None, str | None]:
    """Set the session's option: the error, and the value read back."""
    error = None
    try:
        connection.execute(f"SET SESSION {_OPTION} = '{value}'")
    except SqlError as refused:
        error = refused.number
    return error, connection.variable(f"session.{_OPTION}")
