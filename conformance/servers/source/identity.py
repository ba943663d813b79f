"""The identity of a server with TLS: a key, and a certificate for 127.0.0.1 that it signed itself.

The key serves the RSA exchange of caching_sha2_password as well. Both need the package ``cryptography`` (the extra
``source``). Without it the source offers neither TLS nor the exchange of a password, and logs clients in by their
scrambles alone.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_BITS: Final = 2048
_DAYS: Final = 30


class Identity:
    """A new key and certificate: ``certificate`` and ``public_key`` are PEM texts."""

    def __init__(self) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
        from cryptography.x509.oid import NameOID

        self._key: RSAPrivateKey = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "binlog-lab source")])
        now = dt.datetime.now(dt.UTC)
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        )
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=_DAYS))
            .add_extension(names, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        self.certificate = certificate.public_bytes(pem)
        self.public_key = self._key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
        self._secret = self._key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def context(self) -> ssl.SSLContext:
        """TLS of the server's side. The ssl module reads certificates from files alone."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "source.pem")
            file.touch(mode=0o600)
            file.write_bytes(self._secret + self.certificate)
            context.load_cert_chain(file)
        return context

    def decrypt(self, data: bytes) -> bytes | None:
        """Decrypt what a client encrypted with the public key (RSA, OAEP with SHA-1); ``None`` for anything else."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        scheme = padding.OAEP(mgf=padding.MGF1(hashes.SHA1()), algorithm=hashes.SHA1(), label=None)  # noqa: S303
        try:
            return self._key.decrypt(data, scheme)
        except ValueError:
            return None


@cache
def own_identity() -> Identity | None:
    """The identity of this process; ``None`` without the package."""
    try:
        return Identity()
    except ImportError:
        return None
