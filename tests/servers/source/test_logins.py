"""Logins: both methods, TLS and RSA, the full path and the fast one; and everything that must be refused."""

from __future__ import annotations

import socket
from hashlib import sha1, sha256

import pytest

from conformance.servers.errors import LoginRefused, ServerError
from conformance.servers.source import login
from conformance.servers.source.identity import own_identity
from conformance.servers.source.login import METHODS, NATIVE, SHA2, Account, FullPath
from conformance.servers.wire.connection import connect
from tests.servers.source.made import PASSWORD, address_of, source_of


def paths(said: list[str]) -> list[str]:
    """How clients proved their password."""
    return [line.partition("(")[2].partition(")")[0] for line in said if "logged in" in line]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tls", ["DISABLED", "REQUIRED"])
def test_the_right_password_logs_in_and_another_one_does_not(method: str, tls: str) -> None:
    account = Account(password=PASSWORD, method=method, full=FullPath.NEVER)
    with source_of(account=account) as source:
        with connect(address_of(source, tls=tls)) as session:
            assert session.execute("SELECT 1").scalar() == "1"
        for wrong in ("other", "", PASSWORD + " "):
            with pytest.raises(LoginRefused, match="1045"):
                connect(address_of(source, password=wrong, tls=tls))
        assert source.ended == []


def test_an_unknown_user_is_refused_although_the_password_is_right() -> None:
    with source_of() as source:
        source.account.user = "somebody"
        address = address_of(source)
        source.account.user = "somebody_else"
        with pytest.raises(LoginRefused, match="1045"):
            connect(address)


def test_the_full_path_comes_first_and_the_fast_one_once_the_account_is_cached() -> None:
    said: list[str] = []
    with source_of(account=Account(password=PASSWORD), narrate=said.append) as source:
        for _ in range(2):
            connect(address_of(source, tls="REQUIRED")).close()
        connect(address_of(source)).close()
    assert paths(said) == ["tls, TLS", "fast, TLS", "fast"]


def test_a_wrong_password_on_the_full_path_caches_nothing() -> None:
    with source_of(account=Account(password=PASSWORD)) as source:
        with pytest.raises(LoginRefused):
            connect(address_of(source, password="other", tls="REQUIRED"))
        assert not source.account.cached


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_password(method: str) -> None:
    with source_of(account=Account(method=method)) as source:
        connect(address_of(source, password="")).close()
        with pytest.raises(LoginRefused):
            connect(address_of(source, password="x"))


def test_without_tls_the_greeting_does_not_offer_it() -> None:
    with source_of(tls=False) as source, pytest.raises(ServerError, match="no TLS"):
        connect(address_of(source, tls="REQUIRED"))


def test_what_was_encrypted_with_the_public_key_is_read_and_nothing_else() -> None:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    identity = own_identity()
    assert identity is not None
    key = serialization.load_pem_public_key(identity.public_key)
    assert isinstance(key, rsa.RSAPublicKey)
    scheme = padding.OAEP(mgf=padding.MGF1(hashes.SHA1()), algorithm=hashes.SHA1(), label=None)
    assert identity.decrypt(key.encrypt(b"secret\0", scheme)) == b"secret\0"
    assert identity.decrypt(bytes(256)) is None
    assert identity.decrypt(b"") is None


def test_the_scrambles_are_those_of_the_documentation() -> None:
    """From the formulas of the manual, written out."""
    nonce, password = bytes(range(1, 21)), b"secret"
    one = sha1(password).digest()
    mask = sha1(nonce + sha1(one).digest()).digest()
    assert login.native_scramble(password, nonce) == bytes(a ^ b for a, b in zip(one, mask, strict=True))
    two = sha256(password).digest()
    mask = sha256(sha256(two).digest() + nonce).digest()
    assert login.sha2_scramble(password, nonce) == bytes(a ^ b for a, b in zip(two, mask, strict=True))


@pytest.mark.parametrize("planted", [NATIVE, SHA2])
def test_a_scramble_of_another_nonce_is_refused(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: the source checks the scramble with the nonce of another greeting."""
    name = "native_scramble" if planted == NATIVE else "sha2_scramble"
    right = getattr(login, name)
    monkeypatch.setattr(login, name, lambda password, nonce: right(password, nonce[::-1]))
    account = Account(password=PASSWORD, method=planted, full=FullPath.NEVER)
    with source_of(account=account) as source, pytest.raises(LoginRefused):
        connect(address_of(source))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\0",
        b"\0" * 31,
        b"\xff" * 32,
        b"\xff" * 200,
        b"\x85\xa6\xff\x01" + b"\0" * 28 + b"lab\0\xfe" + b"\xff" * 8,
    ],
)
def test_a_client_that_answers_nonsense_ends_its_own_connection(answer: bytes) -> None:
    with source_of() as source:
        with socket.create_connection(("127.0.0.1", source.port), 10) as raw:
            raw.recv(1000)
            raw.sendall(len(answer).to_bytes(3, "little") + b"\1" + answer)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(1000):
                pass
        with connect(address_of(source)) as session:
            assert session.execute("SELECT 1").scalar() == "1"
        assert source.ended == []
