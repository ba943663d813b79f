"""Data files of a container, before an engine that is made up: its answers, whole and broken."""

from __future__ import annotations

import io
import tarfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.child_process import Limits
from conformance.servers.containers.data_files import ContainerFiles
from conformance.servers.containers.image import DATA
from conformance.servers.containers.programs import Programs
from conformance.servers.containers.tools import Tool
from conformance.servers.errors import NoSuchFile, ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("docker.errors")
import docker

FILES = {"ibdata1": b"system", "binlog.000001": b"log", "s/t.ibd": b"t" * 3000, "s/t.cfg": b"", "s/u.ibd": b"u"}


class Container:
    """The container of a server, as the engine's client shows it."""

    name = "binlog-lab-made-up"
    status = "running"

    def __init__(self) -> None:
        self.files = dict(FILES)
        self.asked: list[str] = []
        self.put: list[tuple[str, tarfile.TarInfo, bytes]] = []
        self.run: list[list[str]] = []
        self.cut = 0  # archives that break off
        self.error: Exception | None = None
        self.exit_code: int | None = 0

    def reload(self) -> None:
        if self.error is not None:
            raise self.error

    def get_archive(self, path: str, chunk_size: int = 0) -> tuple[Iterator[bytes], dict[str, Any]]:
        assert chunk_size
        if self.error is not None:
            raise self.error
        self.asked.append(path)
        place = path.removeprefix(DATA).strip("/")
        below = f"{place}/" if place else ""
        inside = {name: data for name, data in self.files.items() if name == place or name.startswith(below)}
        if not inside:
            raise docker.errors.NotFound(f"Could not find the file {path}")
        top = path.rpartition("/")[2]
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            if place not in inside:
                folder = tarfile.TarInfo(top)
                folder.type = tarfile.DIRTYPE
                archive.addfile(folder)
            for name, data in inside.items():
                entry = tarfile.TarInfo(top + name.removeprefix(place) if place else f"{top}/{name}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        whole = buffer.getvalue()
        if self.cut:
            self.cut -= 1
            whole = whole[:1000]
        return iter([whole[:700], whole[700:]]), {}

    def put_archive(self, path: str, data: bytes) -> bool:
        if path.removeprefix(DATA).strip("/") not in ("", "s"):
            raise docker.errors.NotFound(f"Could not find the file {path}")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                self.put.append((path, member, content.read() if content else b""))
        return True

    def exec_run(self, command: list[str], **_: object) -> SimpleNamespace:
        (shell, option, script), words = command[:3], command[4:]
        assert (shell, option) == ("sh", "-c")
        assert script.startswith("exec >/dev/null 2>&1; ")
        self.run.append(words)
        if "ls -1A" in script:
            names = sorted({name.split("/")[0] for name in self.files})
            self.files[words[1].strip("/")] = "\n".join(names).encode()
        return SimpleNamespace(exit_code=self.exit_code, output=b"")


@pytest.fixture
def container() -> Container:
    return Container()


@pytest.fixture
def files(container: Container) -> ContainerFiles:
    return ContainerFiles(container, (999, 998))  # type: ignore[arg-type]


def test_a_file_is_asked_for_alone(files: ContainerFiles, container: Container) -> None:
    assert files.read("./s/t.ibd") == files.read(f"{DATA}/s/t.ibd") == FILES["s/t.ibd"]
    assert container.asked == [f"{DATA}/s/t.ibd"] * 2


def test_a_folder_is_asked_for_once_and_the_data_directory_by_single_files(
    files: ContainerFiles, container: Container
) -> None:
    assert files.matching("s/*.ibd", "s/t.cfg", "ibdata*") == {
        name: FILES[name] for name in ("ibdata1", "s/t.cfg", "s/t.ibd", "s/u.ibd")
    }
    assert container.asked == ["/tmp/binlog-lab-names", f"{DATA}/ibdata1", f"{DATA}/s"]
    container.asked.clear()
    assert list(files.matching("*/*.ibd", "ibdata1")) == ["ibdata1", "s/t.ibd", "s/u.ibd"]
    assert container.asked == [DATA]
    container.asked.clear()
    container.status = "exited"  # nothing can list the names
    assert files.matching("binlog.0*", "away/*") == {"binlog.000001": b"log"}
    assert container.asked == [DATA, f"{DATA}/away"]


def test_an_archive_that_breaks_off_is_asked_for_again(files: ContainerFiles, container: Container) -> None:
    container.cut = 4
    assert files.read("s/t.ibd") == FILES["s/t.ibd"]
    container.cut = 5
    with pytest.raises(ServerUnavailable, match=r"the archive of s/t\.ibd in \S+ was broken 5 times"):
        files.read("s/t.ibd")


def test_what_is_not_there_is_told_from_a_container_that_is_not_there(
    files: ContainerFiles, container: Container
) -> None:
    with pytest.raises(NoSuchFile, match=r"there is no file s/v\.ibd in the data directory of binlog-lab-made-up"):
        files.read("s/v.ibd")
    with pytest.raises(NoSuchFile, match="s is no file"):
        files.read("s")
    with pytest.raises(NoSuchFile, match=r"there is no folder for away/t\.ibd"):
        files.write("away/t.ibd", b"")
    container.error = docker.errors.NotFound("No such container: binlog-lab-made-up")
    with pytest.raises(ServerUnavailable, match="No such container"):
        files.read("s/t.ibd")


def test_an_engine_that_is_gone_is_told(files: ContainerFiles, container: Container) -> None:
    from requests.exceptions import ConnectionError as Gone

    container.error = Gone("connection refused")
    for ask in (lambda: files.read("s/t.ibd"), lambda: files.matching("s/*"), lambda: files.matching("binlog.*")):
        with pytest.raises(ServerUnavailable, match=r"the container engine could not .*: connection refused"):
            ask()


def test_a_file_is_written_as_the_servers_own(files: ContainerFiles, container: Container) -> None:
    files.write("s/t.cfg", b"new")
    ((place, entry, data),) = container.put
    assert (place, entry.name, entry.uid, entry.gid, data) == (f"{DATA}/s", "t.cfg", 999, 998, b"new")


def test_files_are_removed_by_a_program_of_the_container(files: ContainerFiles, container: Container) -> None:
    files.remove([])
    files.remove(["s/t.cfg", "./ibdata1"])
    assert container.run == [[f"{DATA}/s/t.cfg", f"{DATA}/ibdata1"]]
    container.exit_code = None
    with pytest.raises(ServerUnavailable, match="files cannot be removed in binlog-lab-made-up: /var/lib/mysql/x"):
        files.remove(["x"])


# --- programs --------------------------------------------------------------------------------------------------------


class Beside(Container):
    """The container of the programs of an image, and the engine's interface to it; each program ends as it is told."""

    id = "beside"

    def __init__(self, code: int | None = 0, out: bytes = b"", errors: bytes = b"") -> None:
        super().__init__()
        self.code = code
        self.looks = [True, False]  # whether the program still runs
        self.written = {"output": out, "errors": errors}
        self.folder: dict[str, tuple[int, bytes]] = {}

    def put_archive(self, path: str, data: bytes) -> bool:
        assert path == "/tmp"
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                self.folder[member.name.partition("/")[2]] = member.mode, content.read() if content else b""
        return True

    def exec_create(self, identity: str, command: list[str], **_: object) -> dict[str, str]:
        assert identity == self.id
        self.run.append(command)
        self.files = {f"{command[3].strip('/')}.out/{name}": data for name, data in self.written.items()}
        return {"Id": "exec"}

    def exec_start(self, execution: str) -> bytes:
        assert execution == "exec"
        return b""

    def exec_inspect(self, _: str) -> dict[str, Any]:
        running = self.looks.pop(0) if len(self.looks) > 1 else False
        return {"Running": running, "ExitCode": None if running else self.code}


def beside(container: Beside) -> Tool:
    run: Any = SimpleNamespace(tools={"image": container}, podman=False, client=SimpleNamespace(api=container))
    return Tool(run, "image")


def test_files_and_input_go_into_a_folder_that_only_root_may_read() -> None:
    container = Beside(3, b"out", b"words")
    tool = beside(container)
    done = tool.run(["mysql", "-N"], stdin=b"SELECT 1", files={"login.cnf": b"[client]"})
    assert (done.returncode, done.stdout, done.stderr, done.peak) == (3, b"out", b"words", 0)
    assert container.folder == {"": (0o700, b""), "login.cnf": (0o600, b"[client]"), ".input": (0o600, b"SELECT 1")}
    (shell, option, script, folder, before), words = container.run[0][:5], container.run[0][5:]
    assert (shell, option, words) == ("sh", "-c", ["mysql", "-N"])
    assert folder.startswith("/tmp/binlog-lab-")
    assert before == f"{folder}.none"
    assert "ulimit" not in script
    assert "timeout" not in script
    tool.run(["mysql"])
    assert container.run[1][4] == f"{folder}.out"  # what the first one left is removed then


def test_limits_are_words_of_the_shell() -> None:
    container = Beside()
    beside(container).run(["mysqlbinlog"], timeout=120.0, limits=Limits(10, 8 << 30))
    script = container.run[0][2]
    assert "ulimit -c 0; ulimit -H -t 11; ulimit -S -t 10; ulimit -v 8388608; (exec timeout -s KILL 120 " in script


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 1), (139, -11), (137, -9), (152, None), (255, 255)])
def test_the_shells_code_is_a_status_as_of_a_process(code: int, status: int | None) -> None:
    assert beside(Beside(code)).run(["mysqlbinlog"], limits=Limits(10, 1 << 30)).returncode == status


def test_a_program_that_was_not_started_is_unavailable() -> None:
    with pytest.raises(ServerUnavailable, match="the container engine broke off while mysqlbinlog was running"):
        beside(Beside(None)).run(["mysqlbinlog"])
    with pytest.raises(ServerUnavailable, match=r"mysqlbinlog cannot be started in binlog-lab-made-up"):
        beside(Beside(125)).run(["mysqlbinlog"])


def test_a_program_that_nothing_brings_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.servers.containers import programs

    container = Beside(127)
    images = SimpleNamespace(list=lambda name: [])
    run: Any = SimpleNamespace(
        tools={"sha256:made-up": container},
        podman=False,
        told=set(),
        client=SimpleNamespace(images=images, api=container),
    )
    image = SimpleNamespace(id="sha256:made-up", name="mysql:8.4.10", version="8.4.10", number=(8, 4, 10))
    server: Any = SimpleNamespace(image=image)
    monkeypatch.setattr(programs, "_installations", lambda: iter(()))
    with pytest.raises(ServerUnavailable) as caught:
        Programs(server, run).program("ibd2sdi")
    assert caught.value.missing == (
        "the image mysql:8.4.10 brings no ibd2sdi, the engine has no image binlog-lab-clients:8.4.10, "
        "and there is no ibd2sdi of MySQL 8.4 here"
    )
    assert caught.value.remedy.startswith(
        "docker build --build-arg SERVER=mysql:8.4.10 --tag binlog-lab-clients:8.4.10 docker/clients "
    )
