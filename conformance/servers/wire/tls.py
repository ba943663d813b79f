"""TLS of connections: what is asked of the connector, which checks a certificate must pass, and why one was refused.

The connector makes an SSL context for each login. Python 3.13 made OpenSSL's strict checks a part of its default
contexts. The certificates that MySQL makes for itself at its first start never pass them: they have no key usage and no
authority key identifier (observed on 9.7.4). MySQL's own clients do not ask for these extensions. So the strict checks
are off for a certificate authority that the user names, under every Python. The chain, the signatures, the dates and
the host's name are verified as before.
"""

from __future__ import annotations

import socket
import ssl
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.servers.errors import CertificateRefused, ConnectionLost

if TYPE_CHECKING:
    from collections.abc import Callable

Options = tuple[tuple[str, str], ...]
"""ssl-mode, ssl-ca, ssl-cert and ssl-key as given."""

_CLIENT_SSL = 1 << 11
_VERIFIED = ("VERIFY_CA", "VERIFY_IDENTITY")


def _mode(tls: Options) -> str:
    """The mode as MySQL names it. Without ssl-mode: encrypted if the server supports it."""
    return dict(tls).get("ssl-mode", "PREFERRED").upper()


def tls_arguments(tls: Options) -> dict[str, Any]:
    """MySQL's client options under the connector's names."""
    given, mode = dict(tls), _mode(tls)
    if mode == "DISABLED":
        return {"ssl_disabled": True}
    arguments: dict[str, Any] = {"ssl_disabled": False}
    for name in ("ssl-ca", "ssl-cert", "ssl-key"):
        if name in given:
            arguments[name.replace("-", "_")] = given[name]
    if mode in _VERIFIED:
        arguments["ssl_verify_cert"] = True
        arguments["ssl_verify_identity"] = mode == "VERIFY_IDENTITY"
    return arguments


def without_strict_checks(connection: Any) -> Any:
    """The connector's class of connections, with the strict checks off where the user names an authority.

    Seen in the connector's 9.1 to 26.10: the socket makes the context, and is asked for it by keywords.
    """

    def get_connection(self: Any) -> Any:
        sock = connection._get_connection(self)  # noqa: SLF001 (the one place where the socket is made)
        # Through a weak reference: a cycle would keep sockets open until the collector comes.
        sock.build_ssl_context = _relaxed(partial(type(sock).build_ssl_context, weakref.proxy(sock)))
        return sock

    return type("Lenient", (connection,), {"_get_connection": get_connection})


def _relaxed(build: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
    def built(*, ssl_ca: str | None = None, **options: Any) -> ssl.SSLContext:
        context = build(ssl_ca=ssl_ca, **options)
        if ssl_ca:
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context

    return built


def tls_trouble(where: str, tls: Options, error: BaseException | None) -> CertificateRefused | ConnectionLost | None:
    """Return OpenSSL's error under one of the connector, whose own text is "Errno 1"; ``None`` without such a cause."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    if isinstance(error, ssl.SSLCertVerificationError):
        return _refused(where, tls, error.verify_message.rstrip("."))
    if isinstance(error, ssl.SSLError):
        return ConnectionLost(f"cannot connect to {where}: TLS fails: {error.strerror or error}")
    return None


def _refused(where: str, tls: Options, why: str) -> CertificateRefused:
    given = ", ".join(f"{name}={value}" for name, value in tls)
    if "mismatch" in why:  # OpenSSL's words for another host name or another IP address
        remedy = "connect to a name that the certificate has, or use ssl-mode=VERIFY_CA: MySQL's own have no names"
    else:
        remedy = "give as ssl-ca the file of the authority that signed it, or ssl-mode=REQUIRED to encrypt only"
    return CertificateRefused(
        f"{where}: verification of the server's certificate failed: {why} ({given})\nTo get it: {remedy}"
    )


def require_tls(where: str, place: tuple[str, int], tls: Options, timeout: float) -> None:
    """Inspect the greeting of the server at host and port before the connector logs in, if the mode asks for TLS.

    Without TLS the connector would send everything unencrypted, the password included.
    """
    if _mode(tls) in ("DISABLED", "PREFERRED"):
        return
    try:
        with socket.create_connection(place, timeout) as probe:
            greeting = b""
            while len(greeting) < 4 or len(greeting) < 4 + int.from_bytes(greeting[:3], "little"):
                chunk = probe.recv(4096)
                if not chunk:
                    break
                greeting += chunk
    except OSError as error:
        raise ConnectionLost(f"cannot connect to {where}: {error.strerror or error}") from None
    # Version 10, server version up to a zero, thread id 4, challenge 8, filler 1, then the lower capability flags.
    flags = greeting.find(b"\0", 5) + 14
    if greeting[4:5] == b"\x0a" and flags + 2 <= len(greeting):
        capabilities = int.from_bytes(greeting[flags : flags + 2], "little")
        if not capabilities & _CLIENT_SSL:
            raise ConnectionLost(f"{where}: the server offers no TLS, and ssl-mode asks for it")
