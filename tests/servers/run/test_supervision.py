"""Nothing survives the lab: the supervisor with small programs in the place of a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dis import opmap
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.errors import ServerUnavailable
from conformance.servers.run import directories, process, supervisor
from conformance.servers.run.process_identity import is_running, processes_with_argument, signal_if_same, start_time
from conformance.servers.standing import free_name
from tests.live import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="parent-death signals and subreapers are Linux")

LAB = """
import json, os, subprocess, sys, time
config = json.load(open(sys.argv[1]))
config["owner"] = os.getpid()
json.dump(config, open(sys.argv[1], "w"))
child = subprocess.Popen([sys.executable, "-I", "-S", sys.argv[2], sys.argv[1]], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, bufsize=0, start_new_session=True)
print(child.stdout.readline().decode().split()[1], child.pid, flush=True)
for line in sys.stdin:
    child.stdin.write(line.strip().encode())
time.sleep(600)
"""


OPEN: list[Run] = []


@pytest.fixture(autouse=True)
def everything_is_closed() -> Iterator[None]:
    """Whatever a test leaves behind ends with it."""
    yield
    while OPEN:
        OPEN.pop().close()


class Run:
    """A lab process, its supervisor and the program under it."""

    def __init__(self, directory: Path, argv: list[str], *, keep: bool = False, stop_seconds: float = 30.0) -> None:
        self.directory = directory / "run"
        self.directory.mkdir()
        self.config: dict[str, Any] = {
            "argv": argv,
            "environment": {"MARK": "1"},
            "directory": str(self.directory),
            "output": str(self.directory / "output.log"),
            "owner": 0,
            "keep": keep,
            "stop_seconds": stop_seconds,
        }
        config = self.directory / "supervisor.json"
        config.write_text(json.dumps(self.config))
        self.lab = subprocess.Popen(
            [sys.executable, "-c", LAB, str(config), supervisor.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.lab.stdout is not None
        self.pid, self.supervisor = map(int, self.lab.stdout.readline().split())
        OPEN.append(self)
        self.starts = {pid: start_time(pid) or "" for pid in (self.pid, self.supervisor)}

    def say(self, command: str) -> None:
        assert self.lab.stdin is not None
        self.lab.stdin.write(command + "\n")
        self.lab.stdin.flush()

    def running(self, pid: int) -> bool:
        return is_running(pid, self.starts[pid])

    def status(self) -> int:
        return int(json.loads((self.directory / "exit.json").read_text())["status"])

    def close(self) -> None:
        self.lab.kill()
        self.lab.communicate()
        for pid in (self.supervisor, self.pid):
            signal_if_same(pid, self.starts[pid], signal.SIGKILL)


def grandchild_of(run: Run) -> int:
    """The pid that the program wrote."""
    file = run.directory / "grandchild"
    assert until(lambda: file.exists() and file.read_text().endswith("\n"))
    pid = int(file.read_text())
    run.starts[pid] = start_time(pid) or ""
    return pid


WRAPPER = ["/bin/sh", "-c", "sleep 600 & echo $! > grandchild; wait"]
DAEMON = ["/bin/sh", "-c", "(setsid sh -c 'echo $$ > grandchild; exec sleep 600' &) ; sleep 600"]


@pytest.mark.parametrize("argv", [["sleep", "600"], WRAPPER, DAEMON], ids=["plain", "behind a wrapper", "daemonised"])
def test_when_the_lab_is_killed_everything_below_it_ends_and_the_directory_goes(
    tmp_path: Path, argv: list[str]
) -> None:
    run = Run(tmp_path, argv)
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    (run.directory / supervisor.SOCKET_DIRECTORY).symlink_to(sockets)
    pids = [run.pid, run.supervisor] + ([] if argv[0] == "sleep" else [grandchild_of(run)])
    os.kill(run.lab.pid, signal.SIGKILL)
    assert until(lambda: not any(run.running(pid) for pid in pids))
    assert until(lambda: not run.directory.exists())
    assert not sockets.exists()


def test_a_kept_directory_stays_when_the_lab_is_killed(tmp_path: Path) -> None:
    run = Run(tmp_path, ["sleep", "600"], keep=True)
    os.kill(run.lab.pid, signal.SIGKILL)
    assert until(lambda: not run.running(run.supervisor))
    assert run.status() == -signal.SIGKILL


def test_a_forked_copy_of_the_lab_that_holds_the_pipe_does_not_keep_the_server(tmp_path: Path) -> None:
    run = Run(tmp_path, ["sleep", "600"])
    holder = os.open(f"/proc/{run.lab.pid}/fd/{_pipe_to_supervisor(run)}", os.O_WRONLY)  # as a fork would hold it
    try:
        os.kill(run.lab.pid, signal.SIGKILL)
        run.lab.communicate()
        assert until(lambda: not run.running(run.pid))
    finally:
        os.close(holder)


def _pipe_to_supervisor(run: Run) -> int:
    target = Path(f"/proc/{run.supervisor}/fd/0").readlink()
    for entry in Path(f"/proc/{run.lab.pid}/fd").iterdir():
        if entry.readlink() == target:
            return int(entry.name)
    raise AssertionError("the lab holds no pipe to its supervisor")


def test_when_the_supervisor_is_killed_the_kernel_ends_the_server(tmp_path: Path) -> None:
    run = Run(tmp_path, ["sleep", "600"])
    os.kill(run.supervisor, signal.SIGKILL)
    assert until(lambda: not run.running(run.pid))


def test_a_clean_stop_lets_the_server_finish(tmp_path: Path) -> None:
    run = Run(tmp_path, ["/bin/sh", "-c", "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.05; done"])
    output = run.directory / "output.log"
    assert until(lambda: output.read_text() == "up\n")
    run.say("T")
    assert until((run.directory / "exit.json").exists)
    assert run.status() == 5
    assert output.read_text().endswith("bye\n")  # the shell may add a line about its child: the group got the signal


def test_a_server_that_ignores_the_stop_is_killed_after_its_time(tmp_path: Path) -> None:
    run = Run(tmp_path, ["/bin/sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done"], stop_seconds=0.2)
    assert until(lambda: (run.directory / "output.log").read_text() == "up\n")
    run.say("T")
    assert until((run.directory / "exit.json").exists)
    assert run.status() == -signal.SIGKILL


@pytest.mark.parametrize(("program", "status"), [("exit 3", 3), ("kill -SEGV $$", -signal.SIGSEGV)])
def test_the_end_of_a_server_is_recorded(tmp_path: Path, program: str, status: int) -> None:
    run = Run(tmp_path, ["/bin/sh", "-c", program])
    assert until((run.directory / "exit.json").exists)
    assert run.status() == status


def test_a_program_that_cannot_be_executed_says_so_in_its_output(tmp_path: Path) -> None:
    run = Run(tmp_path, [str(tmp_path / "nowhere")])
    assert until((run.directory / "exit.json").exists)
    assert run.status() == 127
    assert "cannot execute" in (run.directory / "output.log").read_text()


def test_a_detached_server_outlives_the_lab_and_ends_with_a_signal_to_its_supervisor(tmp_path: Path) -> None:
    run = Run(tmp_path, ["sleep", "600"])
    run.say("D")
    assert until(lambda: Path(f"/proc/{run.supervisor}/fd/0").exists())
    time.sleep(0.1)  # the command has no answer
    os.kill(run.lab.pid, signal.SIGKILL)
    run.lab.communicate()
    time.sleep(supervisor.POLL_SECONDS * 2)
    assert run.running(run.pid)
    assert signal_if_same(run.supervisor, run.starts[run.supervisor], signal.SIGTERM)
    assert until(lambda: not run.running(run.pid))


def test_a_pid_that_belongs_to_another_process_now_is_never_signalled() -> None:
    child = subprocess.Popen(["sleep", "600"])
    try:
        start = start_time(child.pid)
        assert start is not None
        assert not signal_if_same(child.pid, "another", signal.SIGKILL)
        assert child.poll() is None
        assert signal_if_same(child.pid, start, signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    assert not signal_if_same(child.pid, start, signal.SIGKILL)
    assert start_time(child.pid) is None


@pytest.fixture
def private_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(directories, "MEMORY", tmp_path / "no-memory")
    return directories.runs_root()


def made(**wishes: Any) -> Path:
    directory = directories.run_directory(**wishes)
    directories.make_run_directory(directory)
    return directory


def dead_process() -> int:
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_directories_of_dead_labs_go_with_the_servers_in_them_and_others_stay(private_runs: Path) -> None:
    orphan = private_runs / f"run-{dead_process()}-1-abcdef"
    own = made(keep=False)
    kept = private_runs / f"kept-{dead_process()}-1-abcdef"
    foreign = private_runs / "run-something"
    for directory in (orphan, kept, foreign):
        directory.mkdir()
    # A server behind a wrapper whose supervisor and lab were both killed: known by the data it works on.
    server = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", f"--datadir={orphan}/data"])
    assert until(lambda: server.pid in processes_with_argument(f"--datadir={orphan}/data"))
    assert directories.remove_orphans() == [orphan]
    assert server.wait() == -signal.SIGKILL
    assert own.is_dir()
    assert kept.is_dir()
    assert foreign.is_dir()


def launching(private_runs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ProcessServer]:
    """Launch servers of which only the directory is made."""
    monkeypatch.setattr(process, "template", lambda *_, **__: private_runs)
    monkeypatch.setattr(process, "require_space", lambda *_: None)
    monkeypatch.setattr(process, "copy_template", lambda _, to: to.mkdir())
    installation: Any = SimpleNamespace(mysqld=Path("mysqld"), version="9.7.4", number=(9, 7, 4))
    return partial(process.launch, installation, start=False)


def test_an_interrupt_at_any_step_of_a_launch_leaves_no_directory(
    private_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = launching(private_runs, monkeypatch)
    watched = {process.launch.__code__, directories.run_directory.__code__, directories.make_run_directory.__code__}

    def interrupted(at: int) -> bool:
        """Launch, and raise at this step; whether there was such a step."""
        steps = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal steps
            if frame.f_code not in watched:
                return None
            frame.f_trace_opcodes = True
            # At a return nothing looks for signals. Behind it the supervisor removes the directory.
            steps += event == "opcode" and frame.f_code.co_code[frame.f_lasti] != opmap["RETURN_VALUE"]
            if steps == at:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            server = launch()
        except KeyboardInterrupt:
            assert [*private_runs.glob("run-*")] == [], at
            return True
        finally:
            sys.settrace(before)
        server.close()
        return False

    steps = 0
    while interrupted(steps + 1):
        steps += 1
    assert steps > 100


def test_the_directory_of_another_server_of_the_name_stays(private_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = made(keep=False, name="1")
    with pytest.raises(ServerUnavailable, match="a server named 1 is there already"):
        launching(private_runs, monkeypatch)(name="1")
    assert other.is_dir()


OTHER_NAMESPACE = """
import sys
from pathlib import Path
from conformance.servers.run import directories
root = Path(sys.argv[1])
directory = directories.run_directory(keep=False, root=root)
directories.make_run_directory(directory)
print(directory, flush=True)
sys.stdin.read()
"""


def test_a_lab_in_another_namespace_keeps_its_directories_while_it_lives(
    private_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-c", OTHER_NAMESPACE, str(private_runs)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as lab:
        assert lab.stdout is not None
        directory = Path(lab.stdout.readline().strip())
        # As from another namespace: that lab's pid and start time are nobody's here.
        monkeypatch.setattr(directories, "is_running", lambda *_: False)
        assert directories.remove_orphans() == []
        assert directory.is_dir()
        lab.kill()
        lab.wait()
        assert list(private_runs.glob(".lab-*")) != []
        assert directories.remove_orphans() == [directory]
    assert list(private_runs.glob(".lab-*")) == []


def test_without_its_sign_such_a_lab_would_lose_them(private_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: a lab that announces nothing."""
    monkeypatch.setattr(directories, "announce", lambda *_: None)
    monkeypatch.setattr(directories, "announced", lambda *_: False)
    monkeypatch.setattr(directories, "is_running", lambda *_: False)
    directory = made(keep=False)
    assert directories.remove_orphans() == [directory]


def test_a_lab_that_ends_takes_its_sign_along(private_runs: Path) -> None:
    words = [sys.executable, "-c", OTHER_NAMESPACE, str(private_runs)]
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    assert list(private_runs.glob(".lab-*")) == []


def test_programs_know_only_tmpdir_and_tmp_so_another_place_is_not_taken_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    for place in (directories.runs_root, directories.memory_root):
        with pytest.raises(
            ServerUnavailable, match=r"TMPDIR=.*nowhere is not a directory that can be written"
        ) as caught:
            place()
        assert caught.value.remedy == "set TMPDIR to a directory that can be written"


def test_without_proc_no_run_directory_is_made(private_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directories, "start_time", lambda _: None)
    with pytest.raises(ServerUnavailable, match="/proc is not mounted"):
        directories.run_directory(keep=False)
    assert list(private_runs.iterdir()) == []


@pytest.fixture
def memory(private_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place that stands for the file system in memory, with room for a server."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(directories, "MEMORY", tmp_path / "memory")
    monkeypatch.setattr(directories, "_ROOMY", 1)
    directories.MEMORY.mkdir()
    return directories.MEMORY / private_runs.name


def test_servers_that_restart_often_are_in_memory_where_it_has_room(
    memory: Path, private_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert directories.available_memory() > 1
    assert directories.memory_root() == memory
    assert directories.run_directory(keep=False, root=memory).parent == memory
    monkeypatch.setattr(directories, "available_memory", lambda: 0)
    assert directories.memory_root() == private_runs


def test_a_directory_that_the_user_names_is_taken_before_memory(
    memory: Path, private_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(private_runs.parent))
    assert directories.memory_root() == private_runs
    assert not memory.exists()


def test_directories_of_dead_labs_go_from_memory_too(memory: Path) -> None:
    orphan = directories.memory_root() / f"run-{dead_process()}-1-abcdef"
    orphan.mkdir()
    assert directories.remove_orphans() == [orphan]


def test_a_socket_path_that_does_not_fit_goes_to_a_short_directory(tmp_path: Path) -> None:
    short = directories.socket_path(tmp_path)
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    long = directories.socket_path(deep)
    assert short == str(tmp_path / "s") or len(str(tmp_path)) > 100
    assert len(os.fsencode(long)) < 108
    assert Path(long).parent.stat().st_mode & 0o777 == 0o700
    supervisor.remove_run_directory(deep)
    assert not Path(long).parent.exists()


def test_a_run_root_that_others_may_write_is_refused(private_runs: Path) -> None:
    private_runs.chmod(0o777)
    with pytest.raises(ServerUnavailable, match="others may write"):
        directories.runs_root()


def test_a_name_is_taken_once(private_runs: Path) -> None:
    assert free_name() == "1"
    assert made(keep=False, name="1") == private_runs / "server-1"
    assert free_name() == "2"
    with pytest.raises(ServerUnavailable, match="servers stop 1"):
        made(keep=False, name="1")
