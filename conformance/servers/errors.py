"""What can go wrong with a real server, as one family of exceptions.

Nothing else leaves this package: connector, socket and subprocess errors are translated where they happen.
``exit_code`` is the command line's answer: 2 for a mistake of the caller, 3 for something that could
not run. No text of this family ever holds a password.
"""

from __future__ import annotations


class ServerError(Exception):
    """Root of the family: a server, or something it needs, could not do its part."""

    exit_code = 3


class SpecError(ServerError):
    """The server spec, option or URL is written wrongly (a usage error)."""

    exit_code = 2

    def __init__(self, text: str, problem: str, *, expected: str | None = None, what: str = "server spec") -> None:
        self.text = text
        self.problem = problem
        self.expected = expected
        message = f"{what} {text!r}: {problem}"
        super().__init__(message if expected is None else f"{message}; expected {expected}")


class ServerUnavailable(ServerError):
    """No such server here. ``missing`` says what is not there, ``remedy`` how to get it."""

    def __init__(self, missing: str, remedy: str = "", *, detail: str = "") -> None:
        self.missing = missing
        self.remedy = remedy
        self.detail = detail
        parts = [missing]
        if detail:
            parts.append(detail.rstrip())
        if remedy:
            parts.append(f"To get it: {remedy}")
        super().__init__("\n".join(parts))


class StartFailed(ServerUnavailable):
    """A server was started and did not become ready; ``detail`` holds the end of its error log."""


class LoginRefused(ServerError):
    """The server answered and did not let us in."""


class GuestRefused(ServerError):
    """A server at an address is in use in a way the lab must not touch."""


class ConnectionLost(ServerError):
    """The connection broke; what became of the server is unknown (or it is still there)."""


class ServerDied(ConnectionLost):
    """The server process ended while it was needed.

    ``status`` is its exit status (negative for a signal), ``reason`` what it said of its own end in the error log.
    """

    def __init__(self, message: str, *, status: int | None = None, reason: str = "", log_tail: str = "") -> None:
        self.status = status
        self.reason = reason
        self.log_tail = log_tail
        super().__init__(f"{message}\n{log_tail}" if log_tail else message)


class ProtocolError(ServerError):
    """The server sent what the client/server protocol does not allow here, or not what we can count."""


class SqlError(ServerError):
    """The server refused a statement. ``position`` is its index in a batch, 0 for a single statement."""

    def __init__(self, number: int, sqlstate: str, message: str, *, statement: str = "", position: int = 0) -> None:
        self.number = number
        self.sqlstate = sqlstate
        self.message = message
        self.statement = statement
        self.position = position
        shown = statement if len(statement) <= 200 else statement[:200] + "..."
        super().__init__(f"{number} ({sqlstate}): {message}" + (f"\n  statement {position}: {shown}" if shown else ""))


class CaptureError(ServerError):
    """The binary log between two moments cannot be had (purged, reset, switched off, no privilege)."""
