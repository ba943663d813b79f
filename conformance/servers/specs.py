"""Server specs: the words after ``--server`` and ``--replica``.

A spec is ``auto``, ``process``, ``process:PATH``, ``docker``, ``docker:IMAGE``, ``none``, ``recorded:DIR``,
or ``mysql://user@host:port[?option=value&...]``. An address may contain a password; the lab keeps it apart, and never
puts it into ``str``, ``repr`` or anything stored.
"""

from __future__ import annotations

import configparser
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from conformance.messages import did_you_mean
from conformance.servers.errors import SpecError
from conformance.servers.wire.connection import Address

DEFAULT_IMAGE = "mysql:8.4"
_EXPECTED = "auto, process, process:PATH, docker, docker:IMAGE, mysql://user@host:port, recorded:DIR or none"
_TLS_OPTIONS = ("ssl-mode", "ssl-ca", "ssl-cert", "ssl-key")
_TLS_MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
_ADDRESS_OPTIONS = (*_TLS_OPTIONS, "defaults-file", "socket")


class SpecKind(StrEnum):
    """The kinds of spec."""

    AUTO = "auto"
    PROCESS = "process"
    DOCKER = "docker"
    MYSQL = "mysql"
    NONE = "none"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """One parsed spec. ``str`` omits secrets, so the text can be stored, printed and parsed again."""

    kind: SpecKind
    path: Path | None = None
    image: str | None = None
    address: Address | None = None
    defaults_file: Path | None = None

    def __str__(self) -> str:
        if self.kind is SpecKind.MYSQL and self.address is not None:
            return _address_text(self.address, self.defaults_file)
        if self.path is not None:
            return f"{'recorded' if self.kind is SpecKind.RECORDED else 'process'}:{self.path}"
        if self.image is not None:
            return f"docker:{self.image}"
        return str(self.kind.value)

    def login(self) -> Address:
        """The address with its password: from the URL, ``BINLOG_LAB_PASSWORD``, or the defaults file, in this order."""
        assert self.address is not None
        user, password = self.address.user, self.address.password
        if not password:
            password = os.environ.get("BINLOG_LAB_PASSWORD", "")
        if not password and self.defaults_file is not None:
            password = _read_defaults(self.defaults_file, str(self)).get("password", "")
        return Address(
            host=self.address.host,
            port=self.address.port,
            socket=self.address.socket,
            user=user,
            password=password,
            tls=self.address.tls,
        )


def parse_spec(text: str) -> ServerSpec:
    """Parse a spec, or raise :class:`SpecError` that says what is wrong with it."""
    text = text.strip()
    word, colon, rest = text.partition(":")
    if text.startswith("mysql:"):
        return _parse_address(text)
    if word in ("auto", "none") and not colon:
        return ServerSpec(kind=SpecKind(word))
    if word in ("auto", "none"):
        raise SpecError(text, f"{word!r} takes nothing behind it", expected=word)
    if word == "process":
        if colon and not rest:
            raise SpecError(text, "the path is missing", expected="process:PATH, or process alone")
        return ServerSpec(kind=SpecKind.PROCESS, path=Path(rest).expanduser() if rest else None)
    if word == "recorded":
        if not rest:
            raise SpecError(text, "the directory is missing", expected="recorded:DIR")
        return ServerSpec(kind=SpecKind.RECORDED, path=Path(rest).expanduser())
    if word == "docker":
        if colon and not rest:
            raise SpecError(text, "the image is missing", expected="docker:IMAGE, or docker alone")
        return ServerSpec(kind=SpecKind.DOCKER, image=rest or None)
    if not text:
        raise SpecError(text, "it is empty", expected=_EXPECTED)
    scheme = text.partition("://")[0]
    if "://" in text:
        raise SpecError(f"{scheme}://...", f"unknown scheme {scheme!r}", expected="mysql://user@host:port")
    raise SpecError(text, f"unknown kind of server {word!r}{did_you_mean(word, SpecKind)}", expected=_EXPECTED)


def _parse_address(text: str) -> ServerSpec:
    shown = "mysql://..."  # never the text itself: it may hold a password
    if not text.startswith("mysql://"):
        raise SpecError(shown, "an address begins with mysql://", expected="mysql://user@host:port")
    try:
        parts = urlsplit(text)
        port = parts.port if parts.port is not None else 3306
        host = parts.hostname or ""
    except ValueError as error:
        problem = "the port is not a number from 0 to 65535" if "ort" in str(error) else "the host is not valid"
        raise SpecError(shown, problem, expected="mysql://user@host:port") from None
    if not parts.username:
        raise SpecError(f"mysql://{host}", "the user is missing", expected="mysql://user@host:port")
    if parts.path not in ("", "/"):
        raise SpecError(
            f"mysql://{host}", f"got the path {parts.path!r}: the lab makes its own schemas", expected="no path"
        )
    if parts.fragment:
        raise SpecError(f"mysql://{host}", "got a '#': write it as %23", expected="mysql://user@host:port")
    options = _address_options(parts.query, f"mysql://{host}")
    if not host and "socket" not in options:
        raise SpecError(shown, "the host is missing", expected="mysql://user@host:port")
    defaults = Path(options["defaults-file"]).expanduser() if "defaults-file" in options else None
    address = Address(
        host=host or "localhost",
        port=port,
        socket=options.get("socket"),
        user=unquote(parts.username),
        password=unquote(parts.password or ""),
        tls=tuple((name, options[name]) for name in _TLS_OPTIONS if name in options),
    )
    spec = ServerSpec(kind=SpecKind.MYSQL, address=address, defaults_file=defaults)
    if defaults is not None:
        _read_defaults(defaults, str(spec))  # wrong files are told at once, not after the first login
    return spec


def _address_options(query: str, shown: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _ADDRESS_OPTIONS:
            # A password as an option would be printed by every list of processes: refused, and not repeated.
            hint = "; give a password in BINLOG_LAB_PASSWORD or in a defaults file" if "pass" in name else ""
            raise SpecError(shown, f"unknown option {name!r}{hint}", expected=" ".join(_ADDRESS_OPTIONS))
        if name in options:
            raise SpecError(shown, f"option {name!r} is given twice", expected="each option once")
        if not value:
            raise SpecError(shown, f"option {name!r} has no value", expected=f"{name}=VALUE")
        options[name] = value
    mode = options.get("ssl-mode")
    if mode is not None:
        if mode.upper() not in _TLS_MODES:
            raise SpecError(shown, f"got ssl-mode={mode}", expected=" ".join(_TLS_MODES))
        options["ssl-mode"] = mode.upper()
        if mode.upper().startswith("VERIFY") and "ssl-ca" not in options:
            raise SpecError(shown, f"ssl-mode={mode} needs the certificate to trust", expected="ssl-ca=FILE")
    for name in ("ssl-ca", "ssl-cert", "ssl-key"):
        if name in options and not Path(options[name]).is_file():
            raise SpecError(shown, f"{name}={options[name]} is not a file", expected="a PEM file")
    if ("ssl-cert" in options) != ("ssl-key" in options):
        raise SpecError(shown, "ssl-cert and ssl-key belong together", expected="both or none")
    return options


def _read_defaults(path: Path, shown: str) -> dict[str, str]:
    """The ``[client]`` group of a MySQL option file (values may be quoted)."""
    parser = configparser.ConfigParser(
        allow_no_value=True, interpolation=None, strict=False, comment_prefixes=("#", ";", "!"), delimiters=("=",)
    )
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except OSError as error:
        raise SpecError(shown, f"defaults-file {path}: {error.strerror}", expected="a readable option file") from None
    except (configparser.Error, UnicodeDecodeError):  # its message would show the offending line: maybe the password
        raise SpecError(
            shown, f"defaults-file {path} is not an option file", expected="[client] password=..."
        ) from None
    if not parser.has_section("client"):
        raise SpecError(shown, f"defaults-file {path} has no [client] group", expected="[client] password=...")
    found: dict[str, str] = {}
    for name, value in parser.items("client"):
        text = (value or "").strip()
        if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
            text = text[1:-1]
        found[name] = text
    return found


def _address_text(address: Address, defaults_file: Path | None) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    options = [*address.tls]
    if address.socket:
        options.append(("socket", address.socket))
    if defaults_file is not None:
        options.append(("defaults-file", str(defaults_file)))
    query = "&".join(f"{name}={quote(value, safe='/')}" for name, value in options)
    return f"mysql://{quote(address.user, safe='')}@{host}:{address.port}" + (f"?{query}" if query else "")
