"""The image of docker/clients brings the programs that an official image leaves out, of the server's own version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.servers.containers import programs
from conformance.servers.containers.engine_run import engine_run
from conformance.servers.containers.image import find_image
from conformance.servers.containers.programs import ContainedProgram, clients_image
from conformance.servers.containers.server import ContainerMaker
from conformance.servers.errors import ServerUnavailable
from conformance.servers.programs import LocalProgram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.containers.image import Image
    from conformance.servers.containers.server import ContainerServer
    from docker import DockerClient

pytestmark = pytest.mark.container
_FOLDER = Path(__file__).parents[2] / "docker/clients"


@pytest.fixture(scope="module")
def image(official_image: str) -> Iterator[Image]:
    yield find_image(official_image)
    engine_run().close()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def server(image: Image, said: list[str]) -> Iterator[ContainerServer]:
    with ContainerMaker(image).launch(server_id=3, narrate=said.append) as running:
        yield running


@pytest.fixture
def tagged(engine: DockerClient, clients_image: str, image: Image) -> Iterator[str]:
    """The image under the name that the lab looks for."""
    name = programs.clients_image(image.version)
    repository, _, tag = name.partition(":")
    assert engine.images.get(clients_image).tag(repository, tag)
    yield name
    engine.images.remove(name)


def test_programs_come_from_the_image_of_clients(server: ContainerServer, tagged: str, said: list[str]) -> None:
    for name in ("mysqlbinlog", "ibd2sdi", "perror"):
        program = server.client_program(name)
        assert isinstance(program, ContainedProgram)
        assert server.image.version.partition("-")[0] in program.run(["--version"]).stdout.decode()
    assert [line for line in said if "mysqlbinlog" in line] == [
        f"{server.image.name} brings no mysqlbinlog: the image {tagged} stands in for it"
    ]
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        connection.execute("FLUSH TABLES t FOR EXPORT")
        data = server.files.read(f"{schema}/t.ibd")
        connection.execute("UNLOCK TABLES")
    done = server.run_program("ibd2sdi", ["t.ibd"], files={"t.ibd": data})
    assert done.returncode == 0, done.words
    assert b'"name": "t"' in done.stdout
    done = server.run_program("mysql", ["-N"], login=True, stdin=b"SELECT @@version;\n")
    assert (done.returncode, done.stdout.decode()) == (0, f"{server.version}\n")


def test_without_it_the_error_names_the_command_that_makes_it(
    server: ContainerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(server.client_program("mysqldump"), ContainedProgram)  # the image's own
    monkeypatch.setattr(programs, "_installations", lambda: iter(()))
    with pytest.raises(ServerUnavailable) as caught:
        server.client_program("mysqlbinlog")
    wanted = clients_image(server.image.version)
    assert caught.value.missing == (
        f"the image {server.image.name} brings no mysqlbinlog, the engine has no image {wanted}, "
        "and there is no mysqlbinlog of MySQL 9.7 here"
    )
    assert f"docker build --build-arg SERVER={server.image.name} --tag {wanted} docker/clients" in caught.value.remedy


def test_a_program_of_this_machine_stands_in_and_logs_in_over_the_published_port(server: ContainerServer) -> None:
    try:
        program = server.client_program("mysqlbinlog", login=True)
    except ServerUnavailable as error:
        pytest.skip(str(error))
    assert isinstance(program, LocalProgram)
    done = program.run(["--read-from-remote-server", "binlog.000001"])
    assert done.returncode == 0, done.words
    assert b"Start: binlog v 4" in done.stdout


def test_an_image_without_packages_of_mysql_is_refused(engine: DockerClient, image: Image) -> None:
    from docker.errors import BuildError

    with pytest.raises(BuildError, match="returned a non-zero code: 1") as caught:
        engine.images.build(path=str(_FOLDER), buildargs={"SERVER": _emptied(engine, image)}, rm=True, forcerm=True)
    words = "".join(str(line.get("stream", "")) for line in caught.value.build_log)
    assert "programs.sh: this image has neither apt-get nor microdnf" in words


def _emptied(engine: DockerClient, image: Image) -> str:
    """The image without package tools."""
    container = engine.containers.create(image.id, ["-f", "/usr/bin/apt-get"], entrypoint=["rm"], user="0")
    try:
        container.start()
        container.wait(timeout=60)
        return str(container.commit(changes=["USER root"]).id)
    finally:
        container.remove(force=True, v=True)
