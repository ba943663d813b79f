"""Parts of a shell script: the programs it needs, and SQL for one of the servers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

END: Final = "END_OF_SQL"
SERVERS: Final = ("SOURCE", "REPLICA", "LAST")
_SOCKET: Final = "--socket=/tmp/{0}.sock --user=root"
_DEFAULTS: Final = {
    "SOURCE": f"mysql {_SOCKET.format('source')}",
    "REPLICA": f"mysql {_SOCKET.format('replica')}",
    "LAST": f"mysql {_SOCKET.format('last')}",
    "MYSQLBINLOG": "mysqlbinlog",
    "READ_LOG": f"mysqlbinlog --read-from-remote-server {_SOCKET.format('source')}",
    "DUMP": f"mysqldump {_SOCKET.format('source')}",
    "REPLICA_FOLLOWS": "SOURCE_HOST='127.0.0.1', SOURCE_PORT=3306, SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1",
    "LAST_FOLLOWS": "SOURCE_HOST='127.0.0.1', SOURCE_PORT=3307, SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1",
}

LIBRARY: Final = """\
run() { "$@" --force --unbuffered --vertical --default-character-set=utf8mb4 2>&1; }
tell() {  # checked, expected, got, verdict
  printf '*************************** log and programs\\n checked: %s\\nexpected: %s\\n' "$1" "$2"
  printf '     got: %s\\n verdict: %s\\n' "$3" "$4"
}
# Of a server: the file and the end of its log, and an empty log; 8.0 has other words for both (versions 2).
end_of_log() { "$@" -N -e 'SHOW BINARY LOG STATUS' 2> /dev/null || "$@" -N -e 'SHOW MASTER STATUS'; }
empty_log() { "$@" -e 'RESET BINARY LOGS AND GTIDS' 2> /dev/null || "$@" -e 'RESET MASTER'; }
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
"""


def variable(name: str, *, optional: bool = False) -> str:
    """A program that the user may name in the environment; with ``optional``, the script has none unless the user names
    it."""
    return f'{name}="${{{name}:-{"" if optional else _DEFAULTS[name]}}}"'


def head(about: Iterable[str], variables: Iterable[str]) -> list[str]:
    """The beginning of a script: comments, then the programs."""
    return [
        "#!/bin/bash",
        *(f"# {line}" for line in about),
        "# Run it with bash. Its output says of each check what is expected, what came, and: as expected, or FAULT.",
        "# The programs, as they are called at your place (also from the environment):",
        *variables,
        LIBRARY,
    ]


def sql(server: str, lines: Iterable[str]) -> list[str]:
    """SQL for a server, in a session of its own."""
    return [f"run ${server} <<'{END}'", *lines, END]


def tell(checked: str, expected: str, got: str, verdict: str) -> str:
    """A check of the shell's own. ``got`` and ``verdict`` are shell words, the others text."""
    return f"tell {shlex.quote(checked)} {shlex.quote(expected)} {got} {verdict}"
