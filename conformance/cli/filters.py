"""The options that leave events out, in all commands that read binary logs (mysqlbinlog-output 8)."""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.logs.selection import FIRST
from conformance.reference.errors import CodecError
from conformance.reference.sql.datetime_text import parse_datetime
from conformance.reference.text.event_filter import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.gtid_set import PreviousGtids

_POSITION: Final = click.IntRange(0, (1 << 63) - 1)  # no file is longer


def _moment(_context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """Seconds since 1970 of a local date and time."""
    if text is None:
        return None
    parts = parse_datetime(text)
    if parts is None:
        raise click.BadParameter(f"not a date and time: {text!r}; give one such as '2026-11-20 06:01:12'", param=option)
    try:
        return max(0, int(time.mktime((*parts, 0, 0, -1))))
    except (OverflowError, ValueError):
        raise click.BadParameter(f"no time of this system: {text!r}", param=option) from None


def _gtids(_context: click.Context, option: click.Parameter, text: str | None) -> PreviousGtids | None:
    from conformance.reference.binlog.gtid_set import PreviousGtids

    if text is None:
        return None
    try:
        return PreviousGtids.parse(text)
    except CodecError as error:
        raise click.BadParameter(str(error), param=option) from error


_OPTIONS: Final = (
    click.option("--start-datetime", "start", metavar="TIME", callback=_moment,
                 help="Begin at the first event of this local time or later."),
    click.option("--stop-datetime", "stop", metavar="TIME", callback=_moment,
                 help="End before the first event of this local time or later."),
    click.option("-j", "--start-position", "start_position", metavar="POS", type=_POSITION, default=FIRST,
                 help="Begin at this position of the first file, where an event starts."),
    click.option("--stop-position", "stop_position", metavar="POS", type=_POSITION,
                 help="End before the first event at this position of the last file or behind it."),
    click.option("-d", "--database", metavar="NAME", help="Leave out rows and statements of other schemas."),
    click.option("--table", metavar="[SCHEMA.]NAME", help="Leave out rows of tables with other names."),
    click.option("--include-gtids", metavar="SET", callback=_gtids, help="Leave out all other transactions."),
    click.option("--exclude-gtids", metavar="SET", callback=_gtids, help="Leave out these transactions."),
)  # fmt: skip


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets them as one parameter ``selection``."""

    @wraps(command)
    def selected(*arguments: Any, **parameters: Any) -> Any:
        chosen = {name: parameters.pop(name) for name in Selection.__dataclass_fields__}
        chosen["start"] = chosen["start"] or 0
        return command(*arguments, selection=Selection(**chosen), **parameters)

    for option in reversed(_OPTIONS):
        selected = option(selected)
    return selected
