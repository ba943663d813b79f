"""Servers in containers are servers like any other, and nothing of them is left in the engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers import auto
from conformance.servers.child_process import Limits
from conformance.servers.containers import engine as engines
from conformance.servers.containers.engine_run import engine_run
from conformance.servers.containers.files import read_tree
from conformance.servers.containers.image import DATA, find_image
from conformance.servers.containers.server import MEMORY, ContainerMaker
from conformance.servers.containers.standing import kept_containers, remove_kept
from conformance.servers.containers.tools import Tool
from conformance.servers.errors import ConnectionLost, NoSuchFile, ServerDied, ServerUnavailable, StartFailed
from conformance.servers.roles.pair import Pair
from conformance.servers.wire.capture import split_events
from tests.live import ROOT, environment, lab, started, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.containers.image import Image
    from conformance.servers.containers.server import ContainerServer
    from conformance.servers.wire.connection import Connection
    from docker import DockerClient

pytestmark = pytest.mark.container


@pytest.fixture(scope="module")
def image(mysql_image: str) -> Iterator[Image]:
    yield find_image(mysql_image)
    engine_run().close()


@pytest.fixture(scope="module")
def server(image: Image) -> Iterator[ContainerServer]:
    """One that the tests share and leave as they found it."""
    with ContainerMaker(image).launch(server_id=3) as running:
        yield running


def left(client: DockerClient, run: str = "") -> list[str]:
    """Names of what a run has in the engine; without one, of what belongs to processes that are gone."""
    filters: Any = {"label": f"{engines.RUN_LABEL}={run}" if run else engines.RUN_LABEL}
    found = [
        *((item.name, item.labels) for item in client.containers.list(all=True, filters=filters, ignore_removed=True)),
        *((item.name, item.attrs["Labels"]) for item in client.volumes.list(filters=filters)),
        *((item.name, item.attrs["Labels"]) for item in client.networks.list(filters=filters)),
    ]
    gone = (engines.is_orphan(labels[engines.OWNER_LABEL]) and engines.KEPT_LABEL not in labels for _, labels in found)
    return [str(name) for (name, _), orphan in zip(found, gone, strict=True) if run or orphan]


def runs_of(client: DockerClient, pid: int) -> set[str]:
    """The runs that a process of the lab has in the engine."""
    found = client.volumes.list(filters={"label": engines.RUN_LABEL})
    labels = [item.attrs["Labels"] for item in found]
    return {label[engines.RUN_LABEL] for label in labels if f"/{pid}/" in label[engines.OWNER_LABEL]}


def test_the_port_is_published_on_the_loopback_only_and_every_object_has_its_labels(
    server: ContainerServer, engine: DockerClient
) -> None:
    container = engine.containers.get(server.name)
    bindings = container.attrs["HostConfig"]["PortBindings"]
    assert {place["HostIp"] for places in bindings.values() for place in places} == {"127.0.0.1"}
    (network,) = container.attrs["NetworkSettings"]["Networks"]
    labels = [
        container.labels,
        engine.volumes.get(server.name).attrs["Labels"],
        engine.networks.get(network).attrs["Labels"],
    ]
    for found in labels:
        assert found[engines.OWNER_LABEL] == engines.owner()
        assert found[engines.RUN_LABEL] == engine_run().id
        assert engines.KEPT_LABEL not in found


def test_options_of_a_start_hold_for_that_start_and_the_log_goes_on(image: Image) -> None:
    with ContainerMaker(image).launch(server_id=4, options={"max_connections": "77"}, start=False) as server:
        server.start({"max-connections": "78"})
        first = server.pid
        with server.connect() as connection:
            assert connection.variable("max_connections") == "78"
            connection.execute("SET PERSIST max_connections = 79")
            connection.execute("CREATE SCHEMA binlog_lab_stays")
        server.kill()
        server.forget_persisted()
        server.start()
        assert server.pid not in (0, first)
        with server.connect() as connection:
            assert connection.variable("max_connections") == "77"
            assert connection.variable("server_id") == "4"
            connection.execute("USE binlog_lab_stays")
        assert server.error_log().count("ready for connections. Version") >= 2
        assert server.restart() is None  # type: ignore[func-returns-value]
        with server.connect() as connection:
            assert connection.variable("max_connections") == "77"


def test_an_option_file_is_read_and_persisted_values_with_it(image: Image) -> None:
    with ContainerMaker(image).launch(start=False) as server:
        server.start({"defaults-file": server.defaults_file("[mysqld]\nmax_connections=66\n")})
        with server.connect() as connection:
            assert connection.variable("max_connections") == "66"


def test_a_start_that_fails_shows_the_end_of_its_log_and_leaves_nothing(image: Image, engine: DockerClient) -> None:
    with pytest.raises(StartFailed, match=r"ended while starting \(exit status 1\)") as caught:
        ContainerMaker(image).launch(options={"no-such-option": "1"})
    assert "unknown variable 'no-such-option=1'" in str(caught.value)
    assert left(engine) == []


def test_a_removed_container_is_an_error_that_says_so(image: Image) -> None:
    with ContainerMaker(image).launch() as server, server.connect() as connection:
        server.container.remove(force=True, v=True)
        with pytest.raises(ServerDied, match=r"its container \S+ was removed"):
            connection.execute("SELECT 1")


def test_a_server_that_takes_more_memory_than_it_may_says_so(image: Image) -> None:
    with ContainerMaker(image).launch() as server, server.connect() as connection:
        assert server.container.attrs["HostConfig"]["Memory"] == MEMORY
        assert server.container.attrs["HostConfig"]["CapDrop"] == ["ALL"]
        server.container.update(mem_limit="700m", memswap_limit="700m")
        with pytest.raises(ServerDied, match=r"died \(signal SIGKILL; out of memory\)"):
            fill_memory(connection)


def fill_memory(connection: Connection) -> None:
    """Grow a table in memory until the kernel ends the server."""
    connection.execute("CREATE DATABASE IF NOT EXISTS filled")
    connection.execute("SET max_heap_table_size = 4294967296")
    connection.execute("CREATE TABLE filled.t (c CHAR(255) CHARACTER SET latin1) ENGINE = MEMORY")
    connection.execute("INSERT INTO filled.t VALUES (REPEAT('x', 255))")
    for _ in range(24):
        connection.execute("INSERT INTO filled.t SELECT * FROM filled.t")


def test_a_killed_server_is_told_from_a_lost_session(image: Image) -> None:
    with ContainerMaker(image).launch() as server:
        connection, other = server.connect(), server.connect()
        other.execute(f"KILL {connection.thread_id}")
        with pytest.raises(ConnectionLost) as lost:
            connection.execute("SELECT 1")
        assert not isinstance(lost.value, ServerDied)
        server.container.kill()
        with pytest.raises(ServerDied, match=r"died \(signal SIGKILL\)"):
            other.execute("SELECT 1")
        assert not server.alive()
        server.start()
        server.connect().close()


def test_captured_bytes_are_those_of_the_file_in_the_container(server: ContainerServer) -> None:
    capture = server.capture()
    with server.connect() as connection, server.schema(connection):
        start = capture.mark(connection)
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON)")
        connection.execute("INSERT INTO t VALUES (1, '{\"a\": 1}')")
        captured = capture.since(start)
    capture.close()
    (data,) = [file.read() for _, file in read_tree(server.container, f"{DATA}/{start.file}") if file is not None]
    assert captured.events == tuple(split_events(data[start.offset : captured.end.offset]))
    assert captured.start.offset < captured.end.offset


def test_files_go_into_the_data_directory_and_out_again(server: ContainerServer, tmp_path: Path) -> None:
    server.put_data("lab-relay.000001", b"\xfebin" + bytes(range(256)))
    server.copy_data(tmp_path / "data")
    assert (tmp_path / "data/lab-relay.000001").read_bytes() == b"\xfebin" + bytes(range(256))
    with server.connect() as connection:
        shown = connection.execute(f"SELECT HEX(LOAD_FILE('{DATA}/lab-relay.000001'))").scalar()
    assert shown is not None
    assert shown.lower() == (b"\xfebin" + bytes(range(256))).hex()


def test_programs_run_beside_the_server_with_input_files_exit_codes_and_signals(server: ContainerServer) -> None:
    done = server.run_program("mysql", ["-N"], login=True, stdin=b"SELECT 6 * 7;\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"42\n", b"")
    done = server.run_program("mysql", ["-e", "nonsense"], login=True)
    assert done.returncode == 1
    assert "ERROR 1064" in done.words
    with server.connect() as connection, server.schema(connection):
        capture = server.capture()
        start = capture.mark(connection)
        connection.execute("CREATE TABLE seen (a INT)")
        log = capture.since(start).file_bytes()
        capture.close()
    done = server.run_program("mysqlbinlog", ["--no-defaults", "log"], files={"log": log})
    assert done.returncode == 0, done.stderr
    assert b"CREATE TABLE seen (a INT)" in done.stdout
    with pytest.raises(ServerUnavailable, match="brings no no-such-program") as caught:
        server.client_program("no-such-program")
    assert "docker/clients" in caught.value.remedy


def test_what_a_program_does_is_told_as_of_one_of_this_machine(server: ContainerServer) -> None:
    beside = Tool(engine_run(), server.image.id)
    done = beside.run(["sh", "-c", "echo out; echo words >&2; kill -SEGV $$"])
    assert (done.returncode, done.stdout, done.words) == (-signal.SIGSEGV, b"out\n", "words")
    assert beside.run(["no-such-program"]).returncode == 127
    assert beside.run(["sleep", "60"], timeout=0.5).returncode is None
    assert beside.run(["sh", "-c", "while :; do :; done"], limits=Limits(1, 1 << 30)).returncode is None
    assert beside.run(["sh", "-c", "ls /tmp"]).stdout.count(b"binlog-lab-") == 2  # its own folders: the others are gone
    beside.container.kill()
    assert beside.run(["cat", "given"], files={"given": b"\0\xff"}).stdout == b"\0\xff"


def test_data_files_are_read_while_the_server_runs_and_when_it_is_killed(image: Image) -> None:
    with ContainerMaker(image).launch(server_id=8) as server:
        with server.connect() as connection:
            connection.execute_many(["CREATE SCHEMA kept", "CREATE TABLE kept.t (id INT PRIMARY KEY)"]).check()
            connection.execute("FLUSH TABLES kept.t FOR EXPORT")
            exported = server.files.matching("kept/*")
            connection.execute("UNLOCK TABLES")
        assert sorted(exported) == ["kept/t.cfg", "kept/t.ibd"]
        assert server.files.read("./kept/t.ibd") == server.files.read(f"{DATA}/kept/t.ibd") == exported["kept/t.ibd"]
        assert server.files.matching("binlog.0*") == {name: server.files.read(name) for name in ("binlog.000001",)}
        with pytest.raises(NoSuchFile, match=r"no file kept/no\.ibd"):
            server.files.read("kept/no.ibd")
        with pytest.raises(NoSuchFile, match=r"no folder for away/t\.ibd"):
            server.files.write("away/t.ibd", b"")
        assert server.files.matching("away/*") == {}
        server.files.write("kept/made.cfg", b"made")
        assert server.files.matching("kept/m*") == {"kept/made.cfg": b"made"}
        server.files.remove(["kept/made.cfg", "kept/never.cfg"])
        assert not server.files.exists("kept/made.cfg")
        server.kill()
        assert list(server.files.matching("*/t.ibd", "ibdata1")) == ["ibdata1", "kept/t.ibd"]
        with pytest.raises(ServerUnavailable, match=r"is not running|cannot be removed"):
            server.files.remove(["kept/t.ibd"])
        done = server.run_program("ibd2sdi", ["t.ibd"], files={"t.ibd": server.files.read("kept/t.ibd")})
        assert done.returncode == 0, done.stderr
        assert b'"name": "t"' in done.stdout
        server.container.remove(force=True)
        with pytest.raises(ServerUnavailable, match=r"(?i)no such container") as caught:
            server.files.read("kept/t.ibd")
        assert not isinstance(caught.value, NoSuchFile)


def test_a_replica_reaches_its_source_by_name(server: ContainerServer, image: Image) -> None:
    with ContainerMaker(image).launch(server_id=5) as replica:
        assert server.address_for(replica).host == server.name
        pair = Pair(server, replica)
        capture = server.capture()
        with server.connect() as connection, server.schema(connection) as schema, replica.connect() as there:
            pair.link()
            connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
            connection.execute("INSERT INTO t VALUES (7)")
            pair.wait(capture.mark(connection))
            assert there.execute(f"SELECT id FROM {schema}.t").scalar() == "7"
            pair.unlink()
        capture.close()
        pair.close()


def test_a_kept_container_is_taken_over_by_a_run_that_wants_the_same(image: Image) -> None:
    said: list[str] = []
    options = {"max-connections": "91"}
    with (
        ContainerMaker(image).launch(server_id=6, options=options, keep=True, narrate=said.append) as first,
        first.connect() as connection,
    ):
        connection.execute("CREATE SCHEMA binlog_lab_left")
    assert f"binlog-lab servers stop {first.name}" in said[-1]
    try:
        kept = {item.name: item for item in kept_containers()}
        assert (kept[first.name].image, kept[first.name].running) == (image.name, False)
        with ContainerMaker(image).launch(server_id=6, options=options, keep=True, narrate=said.append) as again:
            assert again.name == first.name
            with again.connect() as connection:
                assert connection.variable("max_connections") == "91"
                assert connection.execute("SHOW SCHEMAS LIKE 'binlog_lab_left'").rows == ()
    finally:
        remove_kept(first.name)
    assert first.name not in {item.name for item in kept_containers()}


def test_auto_takes_a_container_where_no_process_can_be_had(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise ServerUnavailable("no mysqld here")

    said: list[str] = []
    monkeypatch.setattr(auto, "find_installation", nothing)
    monkeypatch.setattr(auto, "DEFAULT_IMAGE", image.name)
    with auto.resolve("auto", narrate=said.append) or pytest.fail("no server") as server:
        assert server.provenance.startswith(f"container of {image.name}")
    assert said[-1].startswith("auto: chose docker: ")
    assert said[-1].endswith("(process: no mysqld here)")
    monkeypatch.setattr(auto, "DEFAULT_IMAGE", "localhost:1/no-such-image:1")
    with pytest.raises(ServerUnavailable, match="no mysqld here") as caught:
        auto.resolve("auto")
    assert "there is no image localhost:1/no-such-image:1" in str(caught.value)


def test_a_server_is_started_to_stay_listed_and_stopped(image: Image, engine: DockerClient) -> None:
    up = lab("servers", "start", "--name", "containertest", f"docker:{image.name}")
    assert up.code == 0, up.text
    try:
        listed = json.loads(lab("servers", "list", "--format", "json").out)["servers"]
        (found,) = [item for item in listed if item["name"] == "containertest"]
        assert (found["url"], found["running"]) == (up.out.strip(), True)
        run = lab("conformance", "--server", found["url"], "-r", "S5", "--report", "/dev/null/no")
        assert run.code == 3  # no such report, but the address was understood
    finally:
        down = lab("servers", "stop", "containertest")
    assert down.code == 0, down.text
    assert left(engine) == []


_HOLDING = """
import sys, time
from conformance.servers.containers.image import find_image
from conformance.servers.containers.server import ContainerMaker
server = ContainerMaker(find_image(sys.argv[1])).launch()
print("up", flush=True)
time.sleep(600)
"""


def holding(image: Image, tmp_path: Path) -> subprocess.Popen[str]:
    """A process of the lab with a running container."""
    with (tmp_path / "err").open("w") as errors:
        program = subprocess.Popen(
            [sys.executable, "-c", _HOLDING, image.name],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    assert program.stdout is not None
    assert program.stdout.readline() == "up\n", (tmp_path / "err").read_text()
    program.stdout.close()
    return program


def test_what_a_killed_lab_leaves_is_removed_by_its_reaper_which_says_so(
    image: Image, engine: DockerClient, tmp_path: Path
) -> None:
    program = holding(image, tmp_path)
    (run,) = runs_of(engine, program.pid)
    assert len(left(engine, run)) == 3
    program.kill()
    program.wait()
    assert until(lambda: not left(engine, run))
    assert until(lambda: "the lab was killed; removed" in (tmp_path / "err").read_text())
    assert "1 container, 1 volume, 1 network" in (tmp_path / "err").read_text()


def test_what_a_killed_lab_and_its_reaper_leave_is_removed_at_the_next_start(
    image: Image, engine: DockerClient, tmp_path: Path
) -> None:
    program = holding(image, tmp_path)
    (run,) = runs_of(engine, program.pid)
    (reaper,) = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
    os.kill(int(reaper), signal.SIGKILL)
    program.kill()
    program.wait()
    time.sleep(2)
    assert len(left(engine, run)) == 3
    said: list[str] = []
    engines.remove_orphans(engine, said.append)
    assert said == ["removed what a killed lab had left in the container engine: 1 container, 1 volume, 1 network"]
    assert left(engine, run) == []


def test_an_interrupted_run_leaves_nothing(image: Image, engine: DockerClient, tmp_path: Path) -> None:
    words = ("conformance", "--server", f"docker:{image.name}", "-r", "FR1", "--report", str(tmp_path / "report"))
    program = started(*words, cwd=tmp_path)
    assert until(lambda: runs_of(engine, program.pid), program=program)
    (run,) = runs_of(engine, program.pid)
    program.send_signal(signal.SIGINT)
    assert program.wait() == 4
    assert left(engine, run) == []
    assert "killed" not in (tmp_path / "err").read_text()


def test_an_image_that_is_no_server_or_not_there_is_named(engine: DockerClient, image: Image, tmp_path: Path) -> None:
    base = tmp_path / "empty.tar"
    subprocess.run(["tar", "cf", str(base), "--files-from", "/dev/null"], check=True)
    engine.api.import_image(str(base), repository="binlog-lab-test-empty", tag="1")
    try:
        with pytest.raises(ServerUnavailable, match="holds no MySQL server"):
            find_image("binlog-lab-test-empty:1")
    finally:
        engine.images.remove("binlog-lab-test-empty:1", force=True)
    with pytest.raises(ServerUnavailable, match="there is no image localhost:1/no-such-image:1") as caught:
        find_image("localhost:1/no-such-image:1")
    assert caught.value.exit_code == 3
    assert left(engine) == []


def test_a_replica_in_a_container_behind_a_process_is_a_usage_error(image: Image, tmp_path: Path) -> None:
    end = lab(
        "conformance",
        "--server",
        "process",
        "--replica",
        f"docker:{image.name}",
        "-r",
        "FR2",
        "--report",
        tmp_path / "r",
    )
    assert end.code == 2, end.text
    assert "a container cannot reach" in end.err


def test_checks_pass_on_a_pair_in_containers(image: Image, engine: DockerClient, tmp_path: Path) -> None:
    """Events injected, an applier fed by hand, restarts with options, updates on a pair: 0 mismatches."""
    spec = f"docker:{image.name}"
    words = ["conformance", "--server", spec, "--replica", spec, "--updates", "300", "--seed", "4"]
    for requirement in ("FR1", "NFR1", "A9", "S6"):
        words += ["-r", requirement]
    end = lab(*words, "--report", tmp_path / "r")
    assert end.code == 0, end.text
    results = json.loads((tmp_path / "r/results.json").read_text())
    assert results["totals"]["mismatches"] == 0
    for requirement in ("FR1", "NFR1", "A9", "S6"):
        assert results["requirements"][requirement]["verdict"] in ("pass", "deviation"), requirement
    assert left(engine) == []
