"""The whole texts of warnings 1, 2 and 3: as the worklog words them, and as 9.7.4 words the first differently.

The worklog's (WL#2955, section 1, WARNINGS) come first. The texts of 9.7.4 are the listed deviation ``warning-1-text``,
exact to the text of each cause; any third text is a failure. The server sets persisted values while it starts; 9.7.4
then logs the warning of a session behind a prefix, under MY-013140.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.sql_case import WarningText
from conformance.verdict import Verdict

IGNORED, V1_IGNORED, ONLY_AFTER = 3645, 3646, 3647
IGNORED_AT_START, V1_IGNORED_AT_START, ONLY_AFTER_AT_START = 13101, 13102, 13103
WRAPPED: Final = 13140
OTHERWISE: Final = "warning-1-text"  # the deviation's id

STATEMENT: Final = "binlog_format=STATEMENT"
DISABLED: Final = "the binary log is disabled"
CLOSED: Final = "the binary log is closed"  # of 9.7.4 alone: the worklog has no such cause

_IGNORED: Final = (
    "When {}, the setting binlog_row_value_options=PARTIAL_JSON will be ignored"
    " and no partial updates will be written to the binary log."
)
_IGNORED_OTHERWISE: Final = (
    "When {}, the option binlog_row_value_options=PARTIAL_JSON will be ignored"
    " and updates will be written in full format to binary log."
)
_V1_IGNORED: Final = (
    "When binlog_row_value_options=PARTIAL_JSON, the option log_bin_use_v1_row_events=1 will be ignored"
    " and row events will be written in new format to binary log."
)
_ONLY_AFTER: Final = (
    "When binlog_row_image=FULL, the option binlog_row_value_options=PARTIAL_JSON will be used only for the"
    " after-image. Full values will be written in the before-image, so the saving in disk space due to"
    " binlog_row_value_options is limited to less than 50%."
)


def ignored_texts(*causes: str, observed: str) -> tuple[WarningText, ...]:
    """Warning 1 of a SET: the worklog's text names one of the causes that hold; the text of 9.7.4 names its own
    cause."""
    return (
        *(WarningText(number=IGNORED, text=_IGNORED.format(cause)) for cause in causes),
        _otherwise(IGNORED, _IGNORED_OTHERWISE.format(observed)),
    )


def ignored_texts_at_start(cause: str) -> tuple[WarningText, ...]:
    """Warning 1 in the error log."""
    return (
        WarningText(number=IGNORED_AT_START, text=_IGNORED.format(cause)),
        _otherwise(IGNORED_AT_START, _IGNORED_OTHERWISE.format(cause)),
    )


def ignored_texts_of_persisted(cause: str, *, observed: str) -> tuple[WarningText, ...]:
    """Warning 1 in the error log, for persisted values."""
    return (
        *ignored_texts_at_start(cause)[:1],
        WarningText(number=WRAPPED, text=_wrapped(IGNORED, _IGNORED.format(cause))),
        _otherwise(WRAPPED, _wrapped(IGNORED, _IGNORED_OTHERWISE.format(observed))),
    )


def only_after_texts() -> tuple[WarningText, ...]:
    """Warning 3 of a SET."""
    return (WarningText(number=ONLY_AFTER, text=_ONLY_AFTER),)


def only_after_texts_at_start() -> tuple[WarningText, ...]:
    """Warning 3 in the error log."""
    return (WarningText(number=ONLY_AFTER_AT_START, text=_ONLY_AFTER),)


def only_after_texts_of_persisted() -> tuple[WarningText, ...]:
    """Warning 3 in the error log, for persisted values."""
    return (*only_after_texts_at_start(), WarningText(number=WRAPPED, text=_wrapped(ONLY_AFTER, _ONLY_AFTER)))


def v1_ignored_texts() -> tuple[WarningText, ...]:
    """Warning 2, of a SET or in the error log."""
    return tuple(WarningText(number=number, text=_V1_IGNORED) for number in (V1_IGNORED, V1_IGNORED_AT_START))


def _wrapped(number: int, text: str) -> str:
    return f"Error in diagnostics area: MY-{number:06} - {text}"


def _otherwise(number: int, text: str) -> WarningText:
    return WarningText(number=number, text=text, verdict=Verdict.FAIL, deviation=OTHERWISE)
