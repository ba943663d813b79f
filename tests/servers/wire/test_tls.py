"""TLS to a server whose certificate has none of the extensions that strict checks want, as those that MySQL makes."""

from __future__ import annotations

import ssl
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.errors import CertificateRefused, ConnectionLost
from conformance.servers.source.identity import Identity
from conformance.servers.wire import connection as wire
from conformance.servers.wire.connection import connect
from conformance.servers.wire.tls import tls_trouble
from tests.servers.source.made import address_of, source_of

x509 = pytest.importorskip("cryptography.x509", reason="the source needs it for TLS")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.source.server import Source


class MadeByTheServer(Identity):
    """A certificate as MySQL makes it: signed by an authority, and neither has more than basic constraints."""

    def __init__(self) -> None:
        super().__init__()
        own = x509.load_pem_x509_certificate(self.certificate)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "an authority")])

        def signed(subject: Any, public_key: Any, *, ca: bool) -> Any:
            return (
                x509.CertificateBuilder(subject_name=subject, issuer_name=name, public_key=public_key)
                .serial_number(x509.random_serial_number())
                .not_valid_before(own.not_valid_before_utc)
                .not_valid_after(own.not_valid_after_utc)
                .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            )

        pem = serialization.Encoding.PEM
        self.authority = signed(name, key.public_key(), ca=True).sign(key, hashes.SHA256()).public_bytes(pem)
        names = own.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        leaf = signed(own.subject, own.public_key(), ca=False).add_extension(names, critical=False)
        self.certificate = leaf.sign(key, hashes.SHA256()).public_bytes(pem)


@cache
def identity(_: str) -> MadeByTheServer:
    """One for each name: keys take long to make."""
    return MadeByTheServer()


@pytest.fixture
def source() -> Iterator[Source]:
    with source_of() as source:
        source.identity = identity("own")
        yield source


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> list[ssl.SSLContext]:
    """The default contexts of Python 3.13, whatever Python runs; each context that was made."""
    right, made = ssl.create_default_context, []

    def create(*arguments: Any, **options: Any) -> ssl.SSLContext:
        context = right(*arguments, **options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        made.append(context)
        return context

    monkeypatch.setattr(ssl, "create_default_context", create)
    return made


def authority(path: Path, signed: Identity | None) -> str:
    assert isinstance(signed, MadeByTheServer)
    path.write_bytes(signed.authority)
    return str(path)


@pytest.mark.parametrize("mode", ["VERIFY_CA", "VERIFY_IDENTITY"])
def test_the_named_authority_is_trusted_without_extensions(source: Source, tmp_path: Path, mode: str) -> None:
    ca = authority(tmp_path / "ca.pem", source.identity)
    with connect(replace(address_of(source), tls=(("ssl-mode", mode), ("ssl-ca", ca)))) as session:
        assert session.execute("SELECT 1").scalar() == "1"


def test_with_the_strict_checks_the_same_certificate_is_refused(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault: the connector's own class, whose contexts are strict."""
    monkeypatch.setattr(wire, "without_strict_checks", lambda connection: connection)
    ca = authority(tmp_path / "ca.pem", source.identity)
    with pytest.raises(CertificateRefused, match="verification of the server's certificate failed"):
        connect(replace(address_of(source), tls=(("ssl-mode", "VERIFY_CA"), ("ssl-ca", ca))))


def test_only_the_strict_checks_are_off(source: Source, tmp_path: Path, strict: list[ssl.SSLContext]) -> None:
    ca = authority(tmp_path / "ca.pem", source.identity)
    connect(replace(address_of(source), tls=(("ssl-mode", "VERIFY_IDENTITY"), ("ssl-ca", ca)))).close()
    (context,) = strict
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_without_a_named_authority_nothing_changes(source: Source, strict: list[ssl.SSLContext]) -> None:
    connect(address_of(source, tls="REQUIRED")).close()
    (context,) = strict
    assert context.verify_flags & ssl.VERIFY_X509_STRICT


def test_another_authority_is_refused_and_the_error_says_why(source: Source, tmp_path: Path) -> None:
    ca = authority(tmp_path / "other.pem", identity("other"))
    with pytest.raises(CertificateRefused) as caught:
        connect(replace(address_of(source), tls=(("ssl-mode", "VERIFY_CA"), ("ssl-ca", ca))))
    first, remedy = str(caught.value).splitlines()
    assert first.startswith(f"lab@127.0.0.1:{source.port}: verification of the server's certificate failed: ")
    assert "unable to get local issuer certificate" in first or "signature failure" in first
    assert first.endswith(f"(ssl-mode=VERIFY_CA, ssl-ca={ca})")
    assert remedy.startswith("To get it: give as ssl-ca the file of the authority")
    assert "Errno" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_another_host_is_refused_and_the_error_says_why(source: Source, tmp_path: Path) -> None:
    ca = authority(tmp_path / "ca.pem", source.identity)
    numbered = replace(address_of(source), host="127.1", tls=(("ssl-mode", "VERIFY_IDENTITY"), ("ssl-ca", ca)))
    with pytest.raises(CertificateRefused, match=r"mismatch, certificate is not valid for '127\.1'") as caught:
        connect(numbered)
    assert "ssl-mode=VERIFY_CA" in str(caught.value).splitlines()[1]


def test_other_trouble_of_tls_is_a_lost_connection_in_the_words_of_openssl() -> None:
    planted = OSError("Errno 1")
    planted.__cause__ = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1)")
    found = tls_trouble("lab@h:1", (), planted)
    assert isinstance(found, ConnectionLost)
    assert "WRONG_VERSION_NUMBER" in str(found)
    assert tls_trouble("lab@h:1", (), OSError(111, "refused")) is None
