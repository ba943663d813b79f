"""Faulty servers of the option's SQL interface and of its warnings (WL#2955, section 1)."""

from __future__ import annotations

from typing import Final

from tests.faults.servers.edits import (
    accepted,
    after,
    as_another,
    as_note,
    cells,
    invented,
    refused,
    renumbered,
    rewritten,
    without,
    worded,
)
from tests.faults.servers.fault import ServerFault

_SET: Final = "SET .*binlog_row_value_options"
_GIVEN: Final = "warnings; expected none"


def _warnings(name: str, requirement: str, number: int, sql: str, checks: str) -> tuple[ServerFault, ServerFault]:
    """A warning that is not given, and one that has the number of its neighbour."""
    other = 3646  # warning 2
    return (
        ServerFault(
            id=f"no-warning-{name}",
            breaks=(requirement,),
            does=f"Warning {number} is not given where trigger {requirement} asks for it.",
            says=f"warnings; expected .*{number}; got (none|1287)",
            checks=checks,
            diagnostics=without(number, sql),
        ),
        ServerFault(
            id=f"warning-2-{name}",
            breaks=(requirement,),
            does=f"Warning {other} is given in the place of {number}.",
            says=f"warnings; expected .*{number}; got .*{other}",
            checks=checks,
            diagnostics=as_another(number, other, sql),
        ),
    )


INTERFACE_FAULTS: Final = (
    ServerFault(
        id="option-takes-any-word",
        breaks=("S1",),
        does="The option takes values that are none of its own.",
        says="expected error 1231.*got success",
        answer=after(_SET, accepted(1231)),
    ),
    ServerFault(
        id="refused-value-has-another-number",
        breaks=("S1",),
        does="A refused value ends with another error than 1231.",
        says="expected error 1231.*got error 1193",
        answer=after(_SET, renumbered(1231, 1193)),
    ),
    ServerFault(
        id="option-refuses-numbers",
        breaks=("S1",),
        does="The option does not take the number of its bitmap.",
        says="expected success.*got error 1232",
        answer=after(_SET + r" = 1$", refused(1232)),
    ),
    ServerFault(
        id="new-sessions-start-empty",
        breaks=("S2",),
        does="A new session does not copy the global value.",
        says=r"rows; expected \('PARTIAL_JSON'\); got \(''\)",
        answer=cells(r"@@SESSION\.binlog_row_value_options", lambda _: b""),
    ),
    ServerFault(
        id="persist-leaves-the-value",
        breaks=("S2",),
        does="SET PERSIST stores the value, and does not set it.",
        says=r"rows; expected",
        statement=rewritten(r"^SET PERSIST (binlog_row_value_options)", r"SET PERSIST_ONLY \1"),
    ),
    ServerFault(
        id="default-keeps-the-value",
        breaks=("S2",),
        does="SET GLOBAL ... = DEFAULT leaves the value as it was.",
        says=r"rows; expected \(''\); got \('PARTIAL_JSON'\)",
        statement=rewritten(r"^SET GLOBAL binlog_row_value_options = DEFAULT", "DO 0"),
    ),
    ServerFault(
        id="set-inside-a-transaction",
        breaks=("S3",),
        does="The option can be set inside a transaction.",
        says="expected error 15(68|94).*got success|expected error.*got success",
        answer=after(_SET, accepted()),
    ),
    ServerFault(
        id="persist-only-inside-a-transaction-is-refused",
        breaks=("S3",),
        does="SET PERSIST_ONLY inside a transaction is refused.",
        says="expected success.*got error 1568",
        answer=after("SET PERSIST_ONLY.*binlog_row_value_options", refused(1568)),
    ),
    ServerFault(
        id="option-needs-no-privilege",
        breaks=("S4",),
        does="An account without a privilege sets the option.",
        says="expected error 1227.*got success",
        answer=after(_SET, accepted(1227)),
    ),
    ServerFault(
        id="session-administrator-is-refused",
        breaks=("S4",),
        does="SESSION_VARIABLES_ADMIN does not suffice for the session value.",
        says="expected success.*got error 1227",
        answer=after("SET SESSION.*binlog_row_value_options", refused(1227)),
    ),
    ServerFault(
        id="hint-without-a-warning",
        breaks=("S5",),
        does="The optimizer hint SET_VAR is ignored in silence.",
        says="warnings; expected 3637; got none",
        diagnostics=without(3637),
    ),
    ServerFault(
        id="hint-is-obeyed",
        breaks=("S5",),
        does="The optimizer hint SET_VAR changes the option.",
        says="expected",
        answer=cells(r"binlog_row_value_options", lambda cell: b"PARTIAL_JSON" if cell == b"" else b""),
    ),
    ServerFault(
        id="unknown-members-are-dropped",
        breaks=("FR9",),
        does="An unknown member of a list is dropped in silence.",
        says="expected refused.*got accepted",
        answer=after(_SET, accepted(1231)),
    ),
    ServerFault(
        id="lists-lose-the-member",
        breaks=("FR9",),
        does="A refused list empties the option.",
        says="then 'PARTIAL_JSON'.*then ''",
        checks="unknown_members",
        answer=cells(r"binlog_row_value_options", lambda _: b""),
    ),
    # --- the warnings
    *_warnings("for-the-option", "W1a", 3645, _SET, "session_warnings"),
    *_warnings("for-the-format", "W1b", 3645, "binlog_format", "session_warnings"),
    *_warnings("for-the-global-option", "W1c", 3645, _SET, "global_warnings"),
    *_warnings("for-the-global-format", "W1d", 3645, "binlog_format", "global_warnings"),
    *_warnings("for-full-images", "W3a", 3647, _SET, "session_warnings"),
    *_warnings("for-the-image", "W3b", 3647, "binlog_row_image", "session_warnings"),
    *_warnings("for-full-images-globally", "W3c", 3647, _SET, "global_warnings"),
    *_warnings("for-the-global-image", "W3d", 3647, "binlog_row_image", "global_warnings"),
    ServerFault(
        id="warning-1-is-a-note",
        breaks=("W1a",),
        does="Warning 1 has the level Note.",
        says="level of a warning; expected Warning 3645; got Note 3645",
        checks="session_warnings",
        diagnostics=as_note(3645, _SET),
    ),
    ServerFault(
        id="warning-3-is-a-note",
        breaks=("W3d",),
        does="Warning 3 has the level Note where the global image is set.",
        says="level of a warning; expected Warning 3647; got Note 3647",
        checks="global_warnings",
        diagnostics=as_note(3647, "binlog_row_image"),
    ),
    ServerFault(
        id="warning-1-for-an-empty-option",
        breaks=("W0",),
        does="Emptying the option gives warning 1 as well.",
        says=_GIVEN,
        checks="session_warnings",
        diagnostics=invented(3645, "ignored", _SET + r" *= *''"),
    ),
    ServerFault(
        id="warning-3-for-minimal-images",
        breaks=("W0",),
        does="Setting the image to MINIMAL gives warning 3.",
        says=_GIVEN,
        checks="session_warnings",
        diagnostics=invented(3647, "only after", r"binlog_row_image *= *'?MINIMAL"),
    ),
    ServerFault(
        id="warning-1-names-no-reason",
        breaks=("W1.text",),
        does="The text of warning 1 does not say why the option has no effect.",
        says="whole text; expected 3645",
        checks="session_warnings",
        diagnostics=worded(3645, r"(?i)statement|disabled|sql_log_bin\S*|log\b", ""),
    ),
    ServerFault(
        id="warning-1-names-another-option",
        breaks=("W1.text",),
        does="The text of warning 1 names another variable.",
        says="whole text; expected 3645",
        checks="session_warnings",
        diagnostics=worded(3645, "binlog_row_value_options", "binlog_row_options"),
    ),
    ServerFault(
        id="warning-3-names-no-image",
        breaks=("W3.text",),
        does="The text of warning 3 does not name the image.",
        says="whole text; expected 3647",
        checks="session_warnings",
        diagnostics=worded(3647, "FULL", "ALL"),
    ),
    ServerFault(
        id="warning-3-names-another-option",
        breaks=("W3.text",),
        does="The text of warning 3 names another value.",
        says="whole text; expected 3647",
        checks="session_warnings",
        diagnostics=worded(3647, "PARTIAL_JSON", "PARTIAL"),
    ),
)
