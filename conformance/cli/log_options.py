"""Options of the commands that read logs: the logs of servers, and the size of compressed transactions."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.logs.remote import resolve
from conformance.reference.binlog.unfolding import DEFAULT_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_UNCOMPRESSED: Final = click.option(
    "--max-uncompressed", "limit", type=click.IntRange(min=1), metavar="MB",
    callback=lambda _context, _option, megabytes: None if megabytes is None else megabytes << 20,
    help="Read compressed transactions of up to MB megabytes, whatever their ratio."
         f" [default: {DEFAULT_LIMIT >> 20}, and a bomb is refused]",
)  # fmt: skip
_OPTIONS: Final = (
    click.option("-R", "--read-from-remote-server", "remote", metavar="mysql://USER@HOST:PORT",
                 help="The files are logs of this server; their names are those of SHOW BINARY LOGS."
                      " The password comes from BINLOG_LAB_PASSWORD or ?defaults-file=FILE."),
    click.option("--stop-never", is_flag=True,
                 help="At the end of the last log of a server: wait for more, until Ctrl-C."),
)  # fmt: skip


def remote_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of remote logs; the command gets the names of such logs in ``files``."""

    @wraps(command)
    def resolved(*arguments: Any, files: Sequence[str], remote: str | None, stop_never: bool, **others: Any) -> Any:
        return command(*arguments, files=resolve(files, remote, waits=stop_never), **others)

    for option in reversed(_OPTIONS):
        resolved = option(resolved)
    return resolved
