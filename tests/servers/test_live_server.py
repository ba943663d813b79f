"""Real servers: started, used, captured from, killed. Each test names what it needs when it is skipped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from conformance.servers.auto import Wishes, resolve
from conformance.servers.errors import (
    CaptureError,
    CertificateRefused,
    ConnectionLost,
    GuestRefused,
    LoginRefused,
    NoBinaryLog,
    ServerDied,
    StartFailed,
)
from conformance.servers.run import directories
from conformance.servers.run.guests import Leftover, drop_leftover, leftovers
from conformance.servers.run.process import launch
from conformance.servers.run.process_identity import processes_with_argument
from conformance.servers.settings.rights import held
from conformance.servers.standing import hand_over, standing_servers, stop_standing
from conformance.servers.wire.capture import Capture
from conformance.servers.wire.connection import connect
from conformance.servers.wire.packets import Result
from tests.live import lab, run_directories, until

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]


# -- the server itself -----------------------------------------------------------------------------------------------


def test_a_server_listens_on_the_loopback_address_only_and_root_needs_the_socket(server: ProcessServer) -> None:
    with server.connect() as connection:
        assert connection.variable("bind_address") == "127.0.0.1"
        assert connection.execute("SELECT CURRENT_USER()").scalar() == "root@localhost"
    with pytest.raises(LoginRefused, match="1045"):
        server.connect(tcp=True, user="root")
    with server.connect(tcp=True) as connection:
        assert connection.execute("SELECT CURRENT_USER()").scalar() == "lab@127.0.0.1"
    assert server.directory.stat().st_mode & 0o077 == 0


def test_a_server_in_memory_makes_others_in_memory(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(directories, "MEMORY", tmp_path)
    monkeypatch.setattr(directories, "_ROOMY", 1)
    root = tmp_path / f"binlog-lab-{os.getuid()}"
    with launch(installation, in_memory=True) as first, first.maker.launch(server_id=2) as second:
        assert first.directory.parent == second.directory.parent == root
        with second.connect() as connection:
            assert connection.variable("server_id") == "2"
    assert list(root.glob("[!.]*")) == []  # the sign of this process stays as long as the process


def test_the_password_of_the_account_for_tcp_is_never_shown(server: ProcessServer) -> None:
    address = server.tcp_address()
    assert address.password
    for shown in (repr(address), str(address), repr(server), server.describe(), server.id):
        assert address.password not in shown


def test_settings_are_fast_and_options_of_the_caller_win(installation: Installation) -> None:
    with launch(installation, server_id=77, options={"max_binlog_size": "8192", "sync-binlog": "1"}) as server:
        with server.connect() as connection:
            assert connection.variable("server_id") == "77"
            assert connection.variable("max_binlog_size") == "8192"
            assert connection.variable("sync_binlog") == "1"
            assert connection.variable("innodb_flush_log_at_trx_commit") == "0"
            assert connection.variable("performance_schema") == "0"
            assert connection.variable("log_bin") == "1"
            assert connection.variable("max_allowed_packet") == str(1 << 30)
            assert connection.variable("no_such_variable") is None
        assert server.version.startswith(".".join(map(str, server.number)))


def test_two_servers_have_their_own_identity(installation: Installation, server: ProcessServer) -> None:
    with launch(installation, server_id=2) as other, other.connect() as one, server.connect() as two:
        assert one.variable("server_uuid") != two.variable("server_uuid")
        assert one.variable("port") != two.variable("port")


def test_a_wrong_option_is_told_with_the_error_log(installation: Installation) -> None:
    before = run_directories(os.getpid())
    with pytest.raises(StartFailed, match="no-such-option") as caught:
        launch(installation, options={"no-such-option": "1"})
    assert "ended while starting (exit status" in caught.value.missing
    assert set(run_directories(os.getpid())) <= set(before)


def test_close_leaves_no_process_and_no_directory(installation: Installation) -> None:
    server = launch(installation)
    word = f"--datadir={server.data_directory}"
    assert processes_with_argument(word)
    server.close()
    server.close()
    assert processes_with_argument(word) == []
    assert not server.directory.exists()


def test_kept_data_stay_after_a_clean_stop(installation: Installation) -> None:
    server = launch(installation, keep=True)
    try:
        server.close()
        assert "Shutdown complete" in server.error_log()
        assert (server.data_directory / "ibdata1").exists()
    finally:
        subprocess.run(["rm", "-r", str(server.directory)], check=True)


def test_a_restart_works_on_the_same_data_with_other_options(installation: Installation) -> None:
    with launch(installation) as server:
        with server.connect() as connection:
            connection.execute("CREATE SCHEMA stays")
        server.restart({"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"})
        with server.connect() as connection:
            assert connection.variable("gtid_mode") == "OFF"
            assert connection.execute("SHOW SCHEMAS LIKE 'stays'").scalar() == "stays"
        assert server.stop() == 0


def test_a_wrapper_stands_between_and_ends_with_the_server(installation: Installation) -> None:
    with launch(installation, wrapper="/bin/sh -c '\"$@\"; true' wrapper") as server:
        assert len(processes_with_argument(f"--datadir={server.data_directory}")) == 2
        with server.connect() as connection:
            assert connection.execute("SELECT 1").scalar() == "1"
    assert processes_with_argument(f"--datadir={server.data_directory}") == []


def test_a_server_that_dies_is_told_with_what_it_said(installation: Installation) -> None:
    with launch(installation) as server:
        connection = server.connect()
        os.kill(server.pid, signal.SIGSEGV)
        with pytest.raises(ServerDied) as caught:
            connection.execute("SELECT SLEEP(60)")
        assert caught.value.reason == "mysqld got signal 11"
        assert caught.value.status is not None
        assert not server.alive()
        with pytest.raises(ServerDied):
            server.connect()


def test_a_killed_server_has_its_signal_as_status(installation: Installation) -> None:
    with launch(installation) as server:
        connection = server.connect()
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(ServerDied, match="signal SIGKILL") as caught:
            connection.execute("SELECT SLEEP(60)")
        assert caught.value.status == -signal.SIGKILL


LAB = """
import sys, threading
from conformance.servers.auto import Wishes, resolve
servers = []
def start():
    servers.append(resolve("process", Wishes(wrapper=sys.argv[1])))
thread = threading.Thread(target=start)
thread.start()
thread.join()  # the thread that started the server is gone: the server must not care
print(servers[0].directory, servers[0]._supervisor.pid, flush=True)
connection = servers[0].connect()
while True:
    connection.execute("SELECT SLEEP(0.01)")
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("wrapper", ["", "/bin/sh -c '\"$@\"; true' wrapper"], ids=["plain", "wrapped"])
@pytest.mark.parametrize("victims", ["lab", "lab and supervisor"])
def test_after_kill_9_of_the_lab_no_server_and_no_lock_remains(
    installation: Installation, wrapper: str, victims: str
) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, wrapper],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert lab.stdout is not None
    try:
        directory, supervisor = lab.stdout.readline().split()
        word = f"--datadir={directory}/data"
        assert processes_with_argument(word)
        if victims != "lab":
            os.kill(int(supervisor), signal.SIGKILL)
    finally:
        lab.kill()
        lab.communicate()
    if wrapper and victims != "lab":
        # Nobody is left who could know of a server behind a wrapper: the next start of the lab ends it.
        launch(installation).close()
    assert until(lambda: processes_with_argument(word) == [])
    launch(installation).close()  # no lock is left behind
    assert not Path(directory).exists()


def test_a_standing_server_outlives_its_starter_and_is_reached_and_stopped_by_name(installation: Installation) -> None:
    server = launch(installation, name="livetest")
    url = hand_over(server, server.directory)
    try:
        assert "password" not in url
        with resolve(url) as guest:  # type: ignore[union-attr]  # an address is never none
            assert guest.version == server.version
    finally:
        (found,) = [item for item in standing_servers() if item.name == "livetest"]
        assert found.running
        assert stop_standing(found)
        server.stop()
    assert not server.directory.exists()
    assert processes_with_argument(f"--datadir={server.data_directory}") == []


# -- capture ---------------------------------------------------------------------------------------------------------


def change_things(session: Connection) -> None:
    session.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON)")
    session.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
    session.execute("INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'b', REPEAT('x', 100)))")
    session.execute_many([f"UPDATE t SET j = JSON_SET(j, '$.a', {number})" for number in range(300)]).check()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rotations", [0, 1, 3])
@pytest.mark.parametrize("checksum", ["CRC32", "NONE"])
def test_both_ways_of_capture_give_the_same_bytes(
    server: ProcessServer, session: Connection, rotations: int, checksum: str
) -> None:
    session.execute(f"SET GLOBAL binlog_checksum = {checksum}")
    try:
        files, protocol = Capture(server, over_protocol=False), Capture(server, over_protocol=True)
        assert server.capture().over_protocol is False
        start = files.mark(session)
        change_things(session)
        for _ in range(rotations):
            session.execute("FLUSH BINARY LOGS")
            session.execute("INSERT INTO t VALUES (UUID_SHORT() % 100000000, NULL)")
        captured = files.since(start)
        assert captured == protocol.since(start, captured.end)
        assert sum(event[4] == 39 for event in captured.events) == 300
        assert sum(event[4] == 15 for event in captured.events) == rotations
        assert sum(event[4] == 4 for event in captured.events) == rotations
        assert captured.format_description[4] == 15
        assert all(event[17] & 0x21 == 0 for event in captured.events)  # no in-use flag, nothing artificial
        for capture in (files, protocol):
            assert capture.since(captured.end, captured.end).events == ()
            capture.close()
    finally:
        session.execute("SET GLOBAL binlog_checksum = CRC32")


def test_a_capture_is_a_file_that_mysqlbinlog_reads(server: ProcessServer, session: Connection, tmp_path: Path) -> None:
    capture = server.capture()
    start = capture.mark()
    change_things(session)
    file = tmp_path / "captured"
    file.write_bytes(capture.since(start).file_bytes())
    capture.close()
    answer = subprocess.run(
        [*server.program("mysqlbinlog"), "--no-defaults", "--verify-binlog-checksum", "-v", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert len(re.findall(r"^### UPDATE ", answer.stdout, re.MULTILINE)) == 300


def test_a_capture_across_a_reset_or_a_purge_is_refused(installation: Installation) -> None:
    with launch(installation) as server, server.connect() as session:
        for over_protocol in (False, True):
            capture = Capture(server, over_protocol=over_protocol)
            start = capture.mark()
            session.execute("CREATE SCHEMA IF NOT EXISTS a")
            session.execute("FLUSH BINARY LOGS")
            session.execute("FLUSH BINARY LOGS")
            session.execute(f"PURGE BINARY LOGS TO '{capture.mark().file}'")
            with pytest.raises(CaptureError, match="is gone"):
                capture.since(start)
            session.execute("CREATE SCHEMA IF NOT EXISTS b")
            session.execute("DROP SCHEMA b")
            start = capture.mark()
            session.execute("RESET BINARY LOGS AND GTIDS")
            with pytest.raises(CaptureError):
                capture.since(start)
            capture.close()


def test_without_a_binary_log_there_is_nothing_to_capture(installation: Installation) -> None:
    with (
        launch(installation, options={"skip-log-bin": None}) as server,
        pytest.raises(NoBinaryLog, match="writes no binary log"),
    ):
        server.capture().mark()


def test_a_server_with_a_log_that_once_shows_no_position_has_not_lost_its_log(server: ProcessServer) -> None:
    class Silent:
        def execute(self, sql: str) -> Result:
            assert sql == "SHOW BINARY LOG STATUS"
            return Result(columns=("File", "Position"))

        def variable(self, name: str) -> str | None:
            with server.connect() as session:
                return session.variable(name)

    with pytest.raises(CaptureError, match="shows no position") as caught:
        server.capture().mark(Silent())  # type: ignore[arg-type]
    assert not isinstance(caught.value, NoBinaryLog)


# -- guests ----------------------------------------------------------------------------------------------------------


def address_of(server: ProcessServer, user: str = "lab") -> str:
    return f"mysql://{user}@127.0.0.1:{server.address.port}"


@pytest.fixture
def guest_password(server: ProcessServer, monkeypatch: pytest.MonkeyPatch) -> str:
    password = server.tcp_address().password
    monkeypatch.setenv("BINLOG_LAB_PASSWORD", password)
    return password


@pytest.mark.parametrize("lost", [False, True])
def test_a_schema_that_is_in_use_does_not_hold_up_the_end_of_a_broken_run(
    server: ProcessServer, monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    monkeypatch.setattr("conformance.servers.base._LOCK_WAIT_SECONDS", 1)
    monkeypatch.setenv("BINLOG_LAB_PATIENCE", "20")
    with server.connect() as session, server.connect() as other:
        with pytest.raises(KeyboardInterrupt):
            broken_off(server, session, other, lost=lost)
        schema = other.execute("SELECT DATABASE()").scalar()
        waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'DROP %'"
        try:  # the server sends the error before it clears the statement from the list (observed on 9.7.4)
            assert until(lambda: other.execute(waiting).scalar() == "0")
        finally:
            other.execute("ROLLBACK")
            other.execute(f"DROP SCHEMA {schema}")  # it was still there


def broken_off(server: ProcessServer, session: Connection, other: Connection, *, lost: bool) -> NoReturn:
    with server.schema(session) as schema:
        session.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        other.execute_many([f"USE {schema}", "BEGIN", "SELECT * FROM t"]).check()
        if lost:
            session.close()
        raise KeyboardInterrupt


def test_a_guest_is_used_without_a_trace(server: ProcessServer, guest_password: str) -> None:
    with server.connect() as root:
        before = root.execute("SHOW GLOBAL VARIABLES").rows
        schemas = root.execute("SHOW SCHEMAS").rows
        with resolve(address_of(server) + "?ssl-mode=REQUIRED") as guest:  # type: ignore[union-attr]
            assert guest.hazards() == {"none"}
            assert guest_password not in f"{guest!r} {guest.id} {guest.describe()} {guest.address!r}"
            capture = guest.capture()
            assert capture.over_protocol
            with guest.connect() as session, guest.schema(session) as name:
                assert re.fullmatch("binlog_lab_[0-9a-f]{12}", name)
                start = capture.mark()
                change_things(session)
                captured = capture.since(start)
                assert leftovers(guest) == []
            capture.close()
            assert captured == server.capture().since(start, captured.end)
        volatile = {b"gtid_executed", b"gtid_purged"}
        assert [row for row in root.execute("SHOW GLOBAL VARIABLES").rows if row[0] not in volatile] == [
            row for row in before if row[0] not in volatile
        ]
        assert root.execute("SHOW SCHEMAS").rows == schemas


def test_a_schema_whose_maker_was_killed_is_told_and_left_alone(server: ProcessServer, guest_password: str) -> None:
    assert guest_password
    with resolve(address_of(server)) as guest, server.connect() as root:  # type: ignore[union-attr]
        root.execute("CREATE SCHEMA binlog_lab_00000000beef")
        try:
            assert leftovers(guest) == [Leftover(name="binlog_lab_00000000beef", tables=0, created="")]
            told: list[str] = []
            resolve(address_of(server), narrate=told.append)
            assert f"a killed run left binlog_lab_00000000beef: binlog-lab servers clean '{guest.id}'" in told[-1]
        finally:
            root.execute("DROP SCHEMA binlog_lab_00000000beef")


def test_what_a_killed_run_left_is_dropped_on_demand_and_nothing_else(
    server: ProcessServer, guest_password: str
) -> None:
    address, password = address_of(server), {"BINLOG_LAB_PASSWORD": guest_password}
    others = ("binlog_lab_mine", "binlog_lab_00000000BEEA", "binlog_lab_00000000beef0", "shop")
    with server.connect() as root, server.connect() as living:
        for name in ("binlog_lab_00000000beef", "binlog_lab_00000000cafe", *others):
            root.execute(f"CREATE SCHEMA {name}")
        root.execute("CREATE TABLE binlog_lab_00000000beef.t (i INT)")
        living.execute("SELECT GET_LOCK('binlog_lab_00000000cafe', 0)")  # as a run that goes on
        try:
            asked = lab("servers", "clean", address, env=password)
            assert asked.code == 2
            assert re.fullmatch(r"binlog_lab_00000000beef  tables: 1  \d{4}-.*\n", asked.out)
            assert "give --yes to drop them" in asked.err
            assert len(schemas_of_lab(root)) == 5
            done = lab("servers", "clean", address, "--yes", env=password)
            assert done.code == 0, done.text
            assert "1 dropped" in done.err
            assert guest_password not in done.text
            with resolve(address) as guest:  # type: ignore[union-attr]
                assert guest is not None
                assert not drop_leftover(guest, "binlog_lab_00000000cafe")
            assert schemas_of_lab(root) == {"binlog_lab_00000000cafe", *others[:-1]}
            again = lab("servers", "clean", address, env=password)
            assert (again.code, again.out) == (0, "")
            assert "no schema that a killed run left" in again.err
        finally:
            for left in (*schemas_of_lab(root), "shop"):
                root.execute(f"DROP SCHEMA {left}")


def schemas_of_lab(root: Connection) -> set[str | None]:
    return {name for (name,) in root.execute("SHOW SCHEMAS LIKE 'binlog\\_lab\\_%'").texts()}


@pytest.mark.parametrize(
    ("grants", "settable", "capture", "missing"),
    [
        (("ALL ON *.*",), True, True, ()),
        (("SELECT ON *.*",), False, False, ("CREATE", "DROP", "INSERT", "UPDATE", "DELETE")),
        (("ALL ON `binlog\\_lab\\_%`.*", "REPLICATION SLAVE, REPLICATION CLIENT ON *.*"), False, True, ()),
        (("ALL ON `binlog_lab_%`.*", "SESSION_VARIABLES_ADMIN ON *.*"), True, False, ()),
    ],
)
def test_a_guest_s_capabilities_follow_the_privileges(
    server: ProcessServer, grants: tuple[str, ...], settable: bool, capture: bool, missing: tuple[str, ...]
) -> None:
    account = "'limited'@'127.0.0.1'"
    with server.connect() as root:
        root.execute(f"CREATE USER {account} IDENTIFIED BY 'p'")
        try:
            for grant in grants:
                root.execute(f"GRANT {grant} TO {account}")
            guest = resolve(f"mysql://limited:p@127.0.0.1:{server.address.port}")
            found = guest.capabilities  # type: ignore[union-attr]
            assert found.row_value_options_settable is settable
            assert found.can_capture is capture
            assert found.missing == missing
            assert bool(found.notes) is (not (settable and capture))
            if not capture:
                reader = Capture(guest, over_protocol=True)  # type: ignore[arg-type]
                with pytest.raises(CaptureError, match="GRANT REPLICATION"):
                    reader.since(reader.mark())
        finally:
            root.execute(f"DROP USER {account}")


def test_privileges_of_active_roles_count(server: ProcessServer) -> None:
    with server.connect() as root:
        root.execute("CREATE ROLE tester")
        root.execute("CREATE USER 'r'@'127.0.0.1' IDENTIFIED BY 'p'")
        try:
            root.execute("GRANT REPLICATION SLAVE ON *.* TO tester")
            root.execute("GRANT tester TO 'r'@'127.0.0.1'")
            root.execute("SET DEFAULT ROLE tester TO 'r'@'127.0.0.1'")
            with server.connect(tcp=True, user="r", password="p") as limited:
                assert "REPLICATION SLAVE" in held(limited)
        finally:
            root.execute("DROP USER 'r'@'127.0.0.1'")
            root.execute("DROP ROLE tester")


def test_a_source_with_replicas_and_a_replica_with_a_source_are_refused(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with launch(installation) as source, launch(installation, server_id=2) as replica:
        account, other = source.tcp_address(), replica.tcp_address()
        with replica.connect() as session:
            session.execute(
                f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {account.port}, "
                f"SOURCE_USER = '{account.user}', SOURCE_PASSWORD = '{account.password}', "
                "GET_SOURCE_PUBLIC_KEY = 1, SOURCE_AUTO_POSITION = 1"
            )
            session.execute("START REPLICA")
        monkeypatch.setenv("BINLOG_LAB_PASSWORD", account.password)
        with source.connect() as session:
            assert until(lambda: session.execute("SHOW REPLICAS").rows != ())
        with pytest.raises(GuestRefused, match="1 connected replica"):
            resolve(address_of(source))
        monkeypatch.setenv("BINLOG_LAB_PASSWORD", other.password)
        with pytest.raises(GuestRefused, match="already replicates"):
            resolve(address_of(replica), Wishes(role="replica"))


def test_a_guest_that_refuses_the_login_could_not_run(server: ProcessServer) -> None:
    with pytest.raises(LoginRefused) as caught:
        resolve(f"mysql://nobody:secret@127.0.0.1:{server.address.port}")
    assert caught.value.exit_code == 3
    assert "secret" not in str(caught.value)


def test_tls_that_is_asked_for_is_never_given_up(installation: Installation) -> None:
    with launch(installation, options={"tls-version": ""}) as server:
        account = server.tcp_address()
        with pytest.raises(ConnectionLost, match="TLS"):
            connect(replace(account, tls=(("ssl-mode", "REQUIRED"),)))
    with launch(installation) as server:
        account = server.tcp_address()
        ca = server.data_directory / "ca.pem"
        with connect(replace(account, tls=(("ssl-mode", "VERIFY_CA"), ("ssl-ca", str(ca))))) as connection:
            assert connection.execute("SHOW STATUS LIKE 'Ssl_cipher'").texts()[0][1]
        with pytest.raises(CertificateRefused, match="mismatch"):
            connect(replace(account, tls=(("ssl-mode", "VERIFY_IDENTITY"), ("ssl-ca", str(ca)))))
        with connect(replace(account, tls=(("ssl-mode", "DISABLED"),))) as connection:
            assert connection.execute("SHOW STATUS LIKE 'Ssl_cipher'").texts()[0][1] == ""


# -- an old server -----------------------------------------------------------------------------------------------------


def test_a_server_that_predates_json_is_started_and_captured_from(old_server: Installation) -> None:
    with launch(old_server, server_id=5) as old, old.connect() as session, old.schema(session):
        files, protocol = Capture(old, over_protocol=False), Capture(old, over_protocol=True)
        start = files.mark()
        session.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        session.execute_many([f"INSERT INTO t VALUES ({number})" for number in range(50)]).check()
        captured = files.since(start)
        assert captured == protocol.since(start, captured.end)
        assert sum(event[4] == 30 for event in captured.events) == 50
        files.close()
        protocol.close()


def test_when_the_installed_server_cannot_start_the_bundle_does(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not installation.is_bundle:
        pytest.skip(f"no bundle in use: this machine has {installation.origin}")
    broken = tmp_path / "mysqld"
    broken.write_text(
        "#!/bin/sh\ncase $* in *--version*) echo 'mysqld  Ver 8.4.0 for Linux'; exit 0;; esac\n"
        "echo 'Permission denied' >&2; exit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("MYSQLD", str(broken))
    told: list[str] = []
    with resolve("auto", narrate=told.append) as server:  # type: ignore[union-attr]  # auto is never none
        assert server.version == installation.version
    assert any("using the bundle" in line for line in told)
    with pytest.raises(StartFailed, match="initialize-insecure fails"):
        resolve(f"process:{broken}")
