"""How a client logs in: greeting, TLS, and the two authentication methods that every client knows.

Facts: MySQL's client/server protocol documentation, "Connection Phase", and the pages of mysql_native_password and
caching_sha2_password. By the latter method, a server proves a password by a scramble if it has cached the account's
hash (the fast path). Else it proves it by the password itself, over TLS or encrypted with the server's RSA key (the
full path).
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha1, sha256
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Final

from conformance.servers.errors import ProtocolError
from conformance.servers.source.channel import ClientGone
from conformance.servers.source.packets import OK, error_packet
from conformance.servers.wire.packets import lenenc

if TYPE_CHECKING:
    from conformance.servers.source.channel import Channel
    from conformance.servers.source.identity import Identity

NATIVE: Final = "mysql_native_password"
SHA2: Final = "caching_sha2_password"
METHODS: Final = (SHA2, NATIVE)

_WITH_DB: Final = 0x8
_SSL: Final = 0x800
_SECURE: Final = 0x8000
_PLUGIN: Final = 0x80000
_LENENC_DATA: Final = 0x200000
# Long password, found rows, long flag, database, local files never, protocol 4.1, interactive, transactions, secure
# connection, multi statements and results, plugin, connect attributes, and a response of any length.
_CAPABILITIES: Final = (
    1 | 2 | 4 | 8 | 0x200 | 0x400 | 0x2000 | 0x8000 | 0x10000 | 0x20000 | 0x80000 | 0x100000 | 0x200000
)
_GREETING: Final = Struct("<I8sxHBHHB10x12sx")
_RESPONSE: Final = Struct("<IIB23x")
_UTF8MB4: Final = 255
_AUTOCOMMIT: Final = 2
_NONCE: Final = 20
_SWITCH: Final = b"\xfe"
_MORE: Final = b"\x01"
_FAST, _FULL, _ASKS_KEY = b"\x03", b"\x04", b"\x02"


class FullPath(StrEnum):
    """When caching_sha2_password takes the full path."""

    FIRST = "first"  # as a server: until the account is cached
    ALWAYS = "always"
    NEVER = "never"


@dataclass(slots=True, kw_only=True)
class Account:
    """The one account of a source. ``repr`` omits the password."""

    user: str = "lab"
    password: str = field(default="", repr=False)
    method: str = SHA2
    full: FullPath = FullPath.FIRST
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The facts that a client told about itself."""

    user: str
    database: str
    method: str
    response: bytes
    path: str = ""  # how the password was proved: native, fast, tls, rsa, empty


def log_in(channel: Channel, account: Account, identity: Identity | None, *, version: str, number: int) -> Login:
    """Greet the client and prove its password. Raises :class:`ClientGone` if it is refused or does not follow."""
    nonce = bytes(secrets.choice(range(1, 128)) for _ in range(_NONCE))
    offered = _CAPABILITIES | (_SSL if identity else 0)
    channel.send([_greeting(version, number, nonce, offered, account.method)])
    try:
        data = channel.receive()
        if identity and len(data) == _RESPONSE.size and _RESPONSE.unpack(data)[0] & _SSL:
            channel.start_tls(identity.context())
            data = channel.receive()
        login = _parse(data)
        path = _prove(channel, account, identity, login, nonce)
    except (struct_error, IndexError, ProtocolError) as error:
        channel.send([error_packet(1043, "08S01", "Bad handshake")])
        raise ClientGone("the client's answer to the greeting has another form") from error
    if not path:
        using = "YES" if login.response else "NO"
        text = f"Access denied for user '{login.user}'@'localhost' (using password: {using})"
        channel.send([error_packet(1045, "28000", text)])
        raise ClientGone(text)
    account.cached = True
    channel.send([OK])
    return Login(user=login.user, database=login.database, method=account.method, response=b"", path=path)


def _greeting(version: str, number: int, nonce: bytes, offered: int, method: str) -> bytes:
    fixed = _GREETING.pack(
        number, nonce[:8], offered & 0xFFFF, _UTF8MB4, _AUTOCOMMIT, offered >> 16, len(nonce) + 1, nonce[8:]
    )
    return b"\x0a" + version.encode() + b"\0" + fixed + method.encode() + b"\0"


def _parse(data: bytes) -> Login:
    """The response of protocol 4.1."""
    flags = _RESPONSE.unpack_from(data)[0]
    user, pos = _text(data, _RESPONSE.size)
    if flags & _LENENC_DATA:
        length, pos = lenenc(data, pos)
    elif flags & _SECURE:
        length, pos = data[pos], pos + 1
    else:
        length = data.index(b"\0", pos) - pos if b"\0" in data[pos:] else len(data) - pos
    response, pos = data[pos : pos + length], pos + length
    database, pos = _text(data, pos) if flags & _WITH_DB and pos < len(data) else ("", pos)
    method = _text(data, pos)[0] if flags & _PLUGIN and pos < len(data) else NATIVE
    return Login(user=user, database=database, method=method, response=response)


def _text(data: bytes, pos: int) -> tuple[str, int]:
    end = data.find(b"\0", pos)
    end = len(data) if end < 0 else end
    return data[pos:end].decode("utf-8", "replace"), end + 1


def _prove(channel: Channel, account: Account, identity: Identity | None, login: Login, nonce: bytes) -> str:
    """How the client proved its password; empty if it did not."""
    response = login.response
    if login.method != account.method:
        channel.send([_SWITCH + account.method.encode() + b"\0" + nonce + b"\0"])
        response = channel.receive()
    known = hmac.compare_digest(login.user.encode(), account.user.encode())
    password = account.password.encode()
    if not password:
        return "empty" if known and not response.strip(b"\0") else ""
    if account.method == NATIVE:
        return "native" if known and hmac.compare_digest(response, native_scramble(password, nonce)) else ""
    if not response.strip(b"\0"):
        return ""
    full = account.full is FullPath.ALWAYS or (account.full is FullPath.FIRST and not account.cached)
    if full and (identity or channel.encrypted):
        said, path = _password(channel, identity, nonce)
        return path if known and hmac.compare_digest(said, password) else ""
    if not (known and hmac.compare_digest(response, sha2_scramble(password, nonce))):
        return ""
    channel.send([_MORE + _FAST])
    return "fast"


def _password(channel: Channel, identity: Identity | None, nonce: bytes) -> tuple[bytes, str]:
    """The password as the client sends it on the full path, and how it came."""
    channel.send([_MORE + _FULL])
    said = channel.receive()
    if channel.encrypted:
        return said.removesuffix(b"\0"), "tls"
    assert identity
    if said == _ASKS_KEY:
        channel.send([_MORE + identity.public_key])
        said = channel.receive()
    masked = identity.decrypt(said) or b""
    return _exclusive(masked, nonce * (len(masked) // len(nonce) + 1)).removesuffix(b"\0"), "rsa"


def native_scramble(password: bytes, nonce: bytes) -> bytes:
    """The response of mysql_native_password."""
    once = sha1(password, usedforsecurity=False).digest()
    twice = sha1(once, usedforsecurity=False).digest()
    return _exclusive(once, sha1(nonce + twice, usedforsecurity=False).digest())


def sha2_scramble(password: bytes, nonce: bytes) -> bytes:
    """The response of caching_sha2_password."""
    once = sha256(password).digest()
    return _exclusive(once, sha256(sha256(once).digest() + nonce).digest())


def _exclusive(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
