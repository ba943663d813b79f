"""The errors of real servers, as one family of exceptions.

This package raises nothing else: it translates connector, socket and subprocess errors where they happen. ``exit_code``
is the command line's exit code: 2 for a mistake of the caller, 3 for something that could not run. No text of this
family ever holds a password.
"""

from __future__ import annotations


class ServerError(Exception):
    """Root of the family: a server, or something it needs, failed."""

    exit_code = 3


class SpecError(ServerError):
    """The syntax of a server spec, option or URL is wrong (a usage error)."""

    exit_code = 2

    def __init__(self, text: str, problem: str, *, expected: str | None = None, what: str = "server spec") -> None:
        self.text = text
        self.problem = problem
        self.expected = expected
        message = f"{what} {text!r}: {problem}"
        super().__init__(message if expected is None else f"{message}; expected {expected}")


class ServerUnavailable(ServerError):
    """The requested server is not available here. ``missing`` says what is not there, ``remedy`` how to get it."""

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


class ProgramUnusable(ServerUnavailable):
    """A client program that ought to be there is missing, cannot be started, or is another one. That is the lab's
    trouble, not a lack of the server's: what the program would show could not run."""


class NoSuchFile(ServerError):
    """A file is not in the server's data directory."""


class StartFailed(ServerUnavailable):
    """A started server did not become ready; ``detail`` holds the end of its error log."""


class LoginRefused(ServerError):
    """The server answered and refused the login."""


class CertificateRefused(ServerError):
    """The server's certificate does not pass the verification that the address asks for."""


class GuestRefused(ServerError):
    """The lab refuses a server at an address, because others use it in a way the lab must not touch."""


class NotJudgeable(ServerError):
    """The lab cannot judge a server as its owner set it up, or with the rights that its account has."""


class ConnectionLost(ServerError):
    """The connection broke; the server's fate is unknown, or the server is still there."""


class ServerDied(ConnectionLost):
    """The server process ended while the lab needed it.

    ``status`` is its exit status (negative for a signal). ``reason`` is what the error log says about its end.
    """

    def __init__(self, message: str, *, status: int | None = None, reason: str = "", log_tail: str = "") -> None:
        self.status = status
        self.reason = reason
        self.log_tail = log_tail
        super().__init__(f"{message}\n{log_tail}" if log_tail else message)


class ProtocolError(ServerError):
    """The server sent a packet that the client/server protocol forbids here, or results that we cannot count."""


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
    """The lab cannot read the binary log between two moments (purged, reset, cut)."""


class BogusLog(CaptureError):
    """The server does not send its own log, because it cannot read an event there (error 1236, observed on 8.0.45)."""


class UnreadableLog(CaptureError):
    """The server sends its log, and what it sends contradicts itself."""


class NoBinaryLog(CaptureError):
    """A server has no binary log for the lab: it is off, or the account may not read it. No check changes that.

    ``server``: its id.
    """

    def __init__(self, message: str, server: str = "") -> None:
        super().__init__(message)
        self.server = server
