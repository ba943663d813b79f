"""Encrypted logs of a real server, before and after the rotation of its key, against what the server says is in them.

The plain logs come from the server itself: ``mysqlbinlog --read-from-remote-server --raw`` writes what it sends.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.binlog.encrypted_file import HEADER_SIZE, EncryptionHeader
from conformance.reference.encryption.keyring import Keyring
from tests.in_process import lab_here
from tests.keyring_server import server_with_keyring
from tests.live import lab

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

TABLE: Final = "CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)"
UPDATE: Final = "UPDATE d.t SET j = JSON_SET(j, '$.n', {}) WHERE id = 1"


class Written:
    """The logs of one server: ``folder`` has the last state of the encrypted ones, ``plain`` what they hold."""

    def __init__(self, folder: Path) -> None:
        self.encrypted, self.plain = folder / "encrypted", folder / "plain"
        self.keyring, self.before = folder / "last-keyring", folder / "first-keyring"
        self.old = folder / "first-log"
        self.encrypted.mkdir()
        self.plain.mkdir()

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.plain.iterdir())


def fill(session: Connection, first: int) -> None:
    for number in range(first, first + 5):
        session.execute(UPDATE.format(number))
    session.execute("SET SESSION binlog_transaction_compression = ON")
    session.execute(f"INSERT INTO d.t VALUES ({first}, JSON_OBJECT('n', 1, 'p', REPEAT('y', 70000)))")
    session.execute("SET SESSION binlog_transaction_compression = OFF")


def fetch_plain(installation: Installation, server: ProcessServer, written: Written) -> None:
    """Ask the server for its closed logs, as a replica would."""
    names = sorted(path.name for path in written.encrypted.iterdir())
    command = [*installation.program("mysqlbinlog"), "--no-defaults", "--read-from-remote-server", "--raw",
               f"--socket={server.address.socket}", "--user=root", f"--result-file={written.plain}/"]  # fmt: skip
    subprocess.run([*command, *names], capture_output=True, check=True)


@pytest.fixture(scope="module")
def written(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Four closed logs: two from before a rotation of the key, one from behind it, one from behind another."""
    keyring = tmp_path_factory.mktemp("keyring") / "keyring"
    out = Written(tmp_path_factory.mktemp("logs"))
    with server_with_keyring(installation, keyring, binlog_encryption="ON") as server, server.connect() as session:
        session.execute("CREATE SCHEMA d")
        session.execute(TABLE)
        session.execute("INSERT INTO d.t VALUES (1, JSON_OBJECT('n', 1, 'p', REPEAT('x', 500)))")
        session.execute("SET SESSION binlog_row_value_options = PARTIAL_JSON")
        fill(session, 10)
        session.execute("FLUSH BINARY LOGS")
        first = min(server.data_directory.glob("binlog.0*"))
        shutil.copy(first, out.old)
        shutil.copy(keyring, out.before)
        for number in (20, 30):
            session.execute("ALTER INSTANCE ROTATE BINLOG MASTER KEY")
            fill(session, number)
        session.execute("FLUSH BINARY LOGS")
        shutil.copy(keyring, out.keyring)
        for path in sorted(server.data_directory.glob("binlog.0*"))[:-1]:
            shutil.copy(path, out.encrypted)
        fetch_plain(installation, server, out)
    return out


def test_the_plain_bytes_are_those_that_the_server_sends(written: Written) -> None:
    keyring = Keyring.parse(written.keyring.read_bytes())
    assert len(written.names) >= 4
    for name in written.names:
        data = (written.encrypted / name).read_bytes()
        header = EncryptionHeader.decode(data[:HEADER_SIZE])
        assert header.encode() == data[:HEADER_SIZE]
        plain = (written.plain / name).read_bytes()
        assert header.unlock(keyring).crypt(data[HEADER_SIZE:], 0) == plain


@pytest.mark.parametrize("words", [["-vv", "--hexdump"], ["--format", "jsonl", "--resolve"]])
def test_decode_prints_what_it_prints_of_the_plain_log(written: Written, words: list[str]) -> None:
    words = [*words, f"--start-position={start_of(written, 12)}"]
    encrypted = lab("decode", *words, "--keyring", written.keyring, *written.names, cwd=written.encrypted)
    plain = lab("decode", *words, *written.names, cwd=written.plain)
    assert (encrypted.code, encrypted.err) == (0, plain.err)
    assert encrypted.out == plain.out
    assert encrypted.out


def start_of(written: Written, number: int) -> int:
    from conformance.reference.binlog.files import read_events

    with (written.plain / written.names[0]).open("rb") as file:
        return [event.position or 0 for event in read_events(file)][number]


@pytest.mark.parametrize("command", ["apply", "apply --undo", "explain", "check --format json", "matrix estimate"])
def test_the_other_commands_read_them_too(written: Written, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The first log creates the table, which nothing takes back; the second one is empty.
    names = {"explain": written.names[:1], "apply --undo": written.names[2:3]}.get(command, written.names)
    monkeypatch.chdir(written.encrypted)
    encrypted = lab_here(*command.split(), "--keyring", written.keyring, *names)
    monkeypatch.chdir(written.plain)
    plain = lab_here(*command.split(), *names)
    assert plain.code == (1 if "check" in command else 0), plain.text
    assert (encrypted.code, encrypted.out) == (plain.code, plain.out)
    assert plain.out


def test_expand_writes_the_same_file_of_both(written: Written, tmp_path: Path) -> None:
    for name in written.names:
        encrypted = lab_here(
            "expand", "--keyring", written.keyring, written.encrypted / name, "-o", tmp_path / "encrypted"
        )
        plain = lab_here("expand", written.plain / name, "-o", tmp_path / "plain")
        assert encrypted.code == plain.code == 0, encrypted.text
        assert (tmp_path / "encrypted").read_bytes() == (tmp_path / "plain").read_bytes()


def test_a_keyring_of_another_time_is_refused(written: Written) -> None:
    """The rotation takes the old key away, and writes the heads of all files anew."""
    assert lab("decode", "--keyring", written.before, written.old).code == 0
    for keyring, log in ((written.keyring, written.old), (written.before, written.encrypted / written.names[0])):
        done = lab("decode", "--keyring", keyring, log)
        assert (done.code, done.out) == (1, ""), done.text
        assert "encryption_header.master_key_id: the keyring lacks the master key of the log" in done.err
