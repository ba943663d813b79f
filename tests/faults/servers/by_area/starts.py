"""Faulty servers that start in another way: options that nobody reads, and warnings in the error log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tests.faults.servers.fault import REPLICA, server

if TYPE_CHECKING:
    from collections.abc import Callable

_WARNING_1, _WARNING_3 = "MY-013101", "MY-013103"


def unread(word: str) -> Callable[[str], str | None]:
    """The server does not see an option."""
    return lambda given: None if re.fullmatch(word, given) else given


def _silent(number: str) -> Callable[[str], str]:
    """Messages of a number are not written, nor those that have such a message inside."""
    about = "only for the after-image" if number == _WARNING_3 else "will be ignored"
    words = re.compile(rf".*\[(?:{number}|MY-013140)\].*{about}.*\n?")
    return lambda log: words.sub("", log)


def _numbered(number: str, other: str) -> Callable[[str], str]:
    return lambda log: log.replace(number, other)


START_FAULTS: Final = (
    server("start-forgets-the-option", "S6", "The server starts with the option on the command line, and it is off.",
           r"rows; expected \('PARTIAL_JSON'\); got \(''\)", checks="command_line", also="W3e", at=REPLICA,
           option=unread("binlog-row-value-options=1")),
    server("start-takes-any-word", "S6", "A start with a value that is none of the option's own succeeds.",
           "expected error 77.*got success", checks="command_line", at=REPLICA,
           option=unread("binlog-row-value-options=BAD")),
    server("no-warning-1-at-start", "W1e", "A start in statement format with the option on says nothing.",
           "warnings; expected 13101; got none", checks="startup_warnings", at=REPLICA, messages=_silent(_WARNING_1)),
    server("warning-3-for-1-at-start", "W1e", "A start in statement format with the option on gives warning 3.",
           "warnings; expected 13101; got 13103", checks="startup_warnings", at=REPLICA,
           messages=_numbered(_WARNING_1, _WARNING_3)),
    server("no-warning-3-at-start", "W3e", "A start with full images and the option on says nothing.",
           "warnings; expected 13103; got none", checks="startup_warnings", at=REPLICA, messages=_silent(_WARNING_3)),
    server("warning-1-for-3-at-start", "W3e", "A start with full images and the option on gives warning 1.",
           "warnings; expected 13103; got 13101", checks="startup_warnings", at=REPLICA,
           messages=_numbered(_WARNING_3, _WARNING_1)),
    server("start-forgets-the-metadata", "TMS5",
           "The server starts with binlog_row_metadata=FULL in a file or on the command line, and has MINIMAL.",
           r"rows; expected \('FULL'\); got \('MINIMAL'\)", at=REPLICA, option=unread("(?i)binlog-row-metadata=FULL")),
    server("start-takes-any-metadata", "TMS5",
           "A start with a value that is none of binlog_row_metadata's own succeeds.", "expected error 77.*got success",
           at=REPLICA, option=unread("binlog-row-metadata=BAD")),
)  # fmt: skip
