"""FR9: the type of the option can grow new members, so a server refuses members that it does not know."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.option_off.run import OPTION, set_option
from conformance.judge.problem import Problem
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_WRONG_VALUE: Final = 1231
_LATER: Final = ("PARTIAL_BLOB", "PARTIAL_TEXT", "j:PARTIAL_JSON", "PARTIAL_JSON_2", "PARTIALJSON")


@pytest.mark.check("members")
def test_unknown_members_are_refused(check: Check) -> None:
    """The server refuses lists with a member that it does not know, and changes nothing; it takes other lists."""
    server = check.needs_server("a server: the option is set to lists of members")
    draw = Stream("unknown-members", check.seed)
    wrong: list[Problem] = []
    numbers: list[Problem] = []
    begun = time.perf_counter()
    with server.connect() as connection:
        for number in range(check.size()):
            present, value, known = _list_of_members(draw.fork("list", number))
            connection.execute(f"SET SESSION {OPTION} = '{present}'")
            error, after = set_option(connection, value)
            expected = ("PARTIAL_JSON" if "PARTIAL_JSON" in value.split(",") else "") if known else present
            statement = f"SET SESSION {OPTION} = '{value}'"
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
    seconds = (time.perf_counter() - begun) / 2
    check.record(problems=wrong, cases=check.size(), seconds=seconds)
    errors = check.part("error")
    errors.record(problems=numbers, cases=check.size(), verdict=Verdict.DIFFERS, seconds=seconds)


def _list_of_members(draw: Stream) -> tuple[str, str, bool]:
    """The value before, a list of members, and whether the server knows all of them."""
    present = draw.choice(("", "PARTIAL_JSON"))
    members = ["PARTIAL_JSON"] * draw.below(3)
    known = draw.below(6) == 5
    if known:
        members += [""] * draw.below(2)
    else:
        members.insert(draw.below(len(members) + 1), _unknown(draw))
    return present, ",".join(members), known


def _unknown(draw: Stream) -> str:
    """A member that no server knows yet: one that the worklog plans for later, or a made-up name."""
    if draw.below(4) == 3:
        return draw.choice(_LATER)
    return "X" + draw.letters(1 + draw.below(20), "ABCXYZ_09:")
