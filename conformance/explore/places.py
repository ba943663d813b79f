"""The place in a server where it ended, from its error log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.servers.errors import ServerDied
from conformance.servers.roles.injector import crash_signature

if TYPE_CHECKING:
    from conformance.servers.run.owned import OwnServer

_ASSERTION: Final = re.compile(r"Assertion failure: (\S+?)(?::\d+)*:(.*)")


def place_of(error: Exception, server: OwnServer) -> str:
    """The failed assertion; else names of the upper frames, innermost first, as an outcome keeps a death."""
    if not isinstance(error, ServerDied):
        return "the connection was lost, the server runs"
    log = server.error_log()
    asserted = _ASSERTION.findall(log)
    if asserted:
        return f"assertion {asserted[-1][0]}: {asserted[-1][1].strip()}"
    return crash_signature(log, server.program_file)
