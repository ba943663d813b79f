"""Faulty servers of the option's SQL interface and of its warnings (WL#2955, section 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
from tests.faults.servers.fault import server

if TYPE_CHECKING:
    from tests.faults.fault import Fault

_SET: Final = "SET .*binlog_row_value_options"
_GIVEN: Final = "warnings; expected none"


def _warnings(name: str, requirement: str, number: int, sql: str, checks: str) -> tuple[Fault, Fault]:
    """A warning that is not given, and one that has the number of its neighbour."""
    other = 3646  # warning 2
    return (
        server(
            f"no-warning-{name}",
            requirement,
            f"Warning {number} is not given where trigger {requirement} asks for it.",
            f"warnings; expected .*{number}; got (none|1287)",
            checks=checks,
            diagnostics=without(number, sql),
        ),
        server(
            f"warning-2-{name}",
            requirement,
            f"Warning {other} is given in the place of {number}.",
            f"warnings; expected .*{number}; got .*{other}",
            checks=checks,
            diagnostics=as_another(number, other, sql),
        ),
    )


INTERFACE_FAULTS: Final = (
    server("option-takes-any-word", "S1", "The option takes values that are none of its own.",
           "expected error 1231.*got success", answer=after(_SET, accepted(1231))),
    server("refused-value-has-another-number", "S1", "A refused value ends with another error than 1231.",
           "expected error 1231.*got error 1193", answer=after(_SET, renumbered(1231, 1193))),
    server("option-refuses-numbers", "S1", "The option does not take the number of its bitmap.",
           "expected success.*got error 1232", answer=after(_SET + r" = 1$", refused(1232))),
    server("new-sessions-start-empty", "S2", "A new session does not copy the global value.",
           r"rows; expected \('PARTIAL_JSON'\); got \(''\)",
           answer=cells(r"@@SESSION\.binlog_row_value_options", lambda _: b"")),
    server("persist-leaves-the-value", "S2", "SET PERSIST stores the value, and does not set it.", r"rows; expected",
           statement=rewritten(r"^SET PERSIST (binlog_row_value_options)", r"SET PERSIST_ONLY \1")),
    server("default-keeps-the-value", "S2", "SET GLOBAL ... = DEFAULT leaves the value as it was.",
           r"rows; expected \(''\); got \('PARTIAL_JSON'\)",
           statement=rewritten(r"^SET GLOBAL binlog_row_value_options = DEFAULT", "DO 0")),
    server("set-inside-a-transaction", "S3", "The option can be set inside a transaction.",
           "expected error 15(68|94).*got success|expected error.*got success", answer=after(_SET, accepted())),
    server("persist-only-inside-a-transaction-is-refused", "S3", "SET PERSIST_ONLY inside a transaction is refused.",
           "expected success.*got error 1568",
           answer=after("SET PERSIST_ONLY.*binlog_row_value_options", refused(1568))),
    server("option-needs-no-privilege", "S4", "An account without a privilege sets the option.",
           "expected error 1227.*got success", answer=after(_SET, accepted(1227))),
    server("session-administrator-is-refused", "S4", "SESSION_VARIABLES_ADMIN does not suffice for the session value.",
           "expected success.*got error 1227", answer=after("SET SESSION.*binlog_row_value_options", refused(1227))),
    server("hint-without-a-warning", "S5", "The optimizer hint SET_VAR is ignored in silence.",
           "warnings; expected 3637; got none", diagnostics=without(3637)),
    server("hint-is-obeyed", "S5", "The optimizer hint SET_VAR changes the option.", "expected",
           answer=cells(r"binlog_row_value_options", lambda cell: b"PARTIAL_JSON" if cell == b"" else b"")),
    server("unknown-members-are-dropped", "FR9", "An unknown member of a list is dropped in silence.",
           "expected refused.*got accepted", answer=after(_SET, accepted(1231))),
    server("lists-lose-the-member", "FR9", "A refused list empties the option.", "then 'PARTIAL_JSON'.*then ''",
           checks="unknown_members", answer=cells(r"binlog_row_value_options", lambda _: b"")),
    # --- the warnings
    *_warnings("for-the-option", "W1a", 3645, _SET, "session_warnings"),
    *_warnings("for-the-format", "W1b", 3645, "binlog_format", "session_warnings"),
    *_warnings("for-the-global-option", "W1c", 3645, _SET, "global_warnings"),
    *_warnings("for-the-global-format", "W1d", 3645, "binlog_format", "global_warnings"),
    *_warnings("for-full-images", "W3a", 3647, _SET, "session_warnings"),
    *_warnings("for-the-image", "W3b", 3647, "binlog_row_image", "session_warnings"),
    *_warnings("for-full-images-globally", "W3c", 3647, _SET, "global_warnings"),
    *_warnings("for-the-global-image", "W3d", 3647, "binlog_row_image", "global_warnings"),
    server("warning-1-is-a-note", "W1a", "Warning 1 has the level Note.",
           "level of a warning; expected Warning 3645; got Note 3645", checks="session_warnings",
           diagnostics=as_note(3645, _SET)),
    server("warning-3-is-a-note", "W3d", "Warning 3 has the level Note where the global image is set.",
           "level of a warning; expected Warning 3647; got Note 3647", checks="global_warnings",
           diagnostics=as_note(3647, "binlog_row_image")),
    server("warning-1-for-an-empty-option", "W0", "Emptying the option gives warning 1 as well.", _GIVEN,
           checks="session_warnings", diagnostics=invented(3645, "ignored", _SET + r" *= *''")),
    server("warning-3-for-minimal-images", "W0", "Setting the image to MINIMAL gives warning 3.", _GIVEN,
           checks="session_warnings", diagnostics=invented(3647, "only after", r"binlog_row_image *= *'?MINIMAL")),
    server("warning-1-names-no-reason", "W1.text", "The text of warning 1 does not say why the option has no effect.",
           "whole text; expected 3645", checks="session_warnings",
           diagnostics=worded(3645, r"(?i)statement|disabled|sql_log_bin\S*|log\b", "")),
    server("warning-1-names-another-option", "W1.text", "The text of warning 1 names another variable.",
           "whole text; expected 3645", checks="session_warnings",
           diagnostics=worded(3645, "binlog_row_value_options", "binlog_row_options")),
    server("warning-3-names-no-image", "W3.text", "The text of warning 3 does not name the image.",
           "whole text; expected 3647", checks="session_warnings", diagnostics=worded(3647, "FULL", "ALL")),
    server("warning-3-names-another-option", "W3.text", "The text of warning 3 names another value.",
           "whole text; expected 3647", checks="session_warnings", diagnostics=worded(3647, "PARTIAL_JSON", "PARTIAL")),
)  # fmt: skip
