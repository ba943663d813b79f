"""The effect of a log of MariaDB on its readers, in MariaDB's own words.

Of the tools only mysqlbinlog 9.7.4 was tried on such logs: it ends at the first of MariaDB's events, with exit code 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import MariadbEventType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.decoders.forecast.survey import Survey

_COMPRESSED: Final = frozenset(range(MariadbEventType.QUERY_COMPRESSED, MariadbEventType.DELETE_ROWS_COMPRESSED + 1))


def mariadb_lines(survey: Survey) -> Iterator[str]:
    """The sentences about the files that MariaDB wrote; none where it wrote none."""
    if not any(file.mariadb for file in survey.files):
        return
    yield "MariaDB logs JSON as text, a changed document as a whole: there are no diffs that a tool could lose"
    kinds = survey.foreign.kinds()
    if kinds:
        first = min(kinds, key=lambda kind: kind.position)
        yield (
            "mysqlbinlog 9.7.4 ends at the first of MariaDB's own events (exit code 1), "
            f"{first.source}:{first.position}; no other tool for logs of MySQL was tried"
        )
    compressed = sum(kind.events for kind in kinds if kind.code in _COMPRESSED)
    if compressed:
        yield (
            f"compressed one by one: {compressed} events; avoided by log_bin_compress=OFF, or rewrite the log with "
            "binlog-lab expand"
        )
