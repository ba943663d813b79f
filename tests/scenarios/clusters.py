"""Real Spark clusters on the loopback interface, from the programs that the wheel of pyspark brings along.

Each process is started here and stopped by its id. Executors run the interpreter without this environment's ``.pth``
files, so an editable installation of the lab is not seen by them: they must be given it.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from scenarios.spark.session import adapted, java_home
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE_PYTHON: Final = str(getattr(sys, "_base_executable", sys.executable))
PATIENCE: Final = 120.0  # seconds until a process has to be ready


def environment(scratch: Path) -> dict[str, str]:
    """For the processes of a cluster: their Java, and a Python without the lab."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    home = java_home()
    if home is not None:
        found["JAVA_HOME"] = adapted(home, Path(tempfile.mkdtemp(prefix="java-", dir=scratch)))
    paths = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *_packages()))
    return found | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": BASE_PYTHON,
        "PYTHONPATH": os.pathsep.join(paths),
    }


def _packages() -> list[str]:
    """Where this Python has its packages, if that is another place."""
    return [
        str(Path(spec.origin).parents[1])
        for name in ("pyspark", "pyarrow")
        if (spec := find_spec(name)) and spec.origin
    ]


def driver_environment(scratch: Path) -> dict[str, str]:
    """For our own command: this tree; executors get what :func:`environment` says."""
    return environment(scratch) | {"PYTHONPATH": str(ROOT)}


def executors_beside(driver: int) -> list[psutil.Process]:
    """The executors of the workers that were started here; ``driver``: the process of a run, which is no worker."""
    found = []
    for worker in psutil.Process().children():
        for process in worker.children(recursive=True) if worker.pid != driver else ():
            with suppress(psutil.NoSuchProcess):
                if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                    found.append(process)
    return found


def spark_program(name: str) -> str:
    """One of the scripts in the wheel."""
    return str(resources.files("pyspark").joinpath("bin", name))


@contextmanager
def standalone(scratch: Path, *, workers: int = 2) -> Iterator[str]:
    """A master and workers of one core each; gives the master's URL."""
    with ExitStack() as stack:
        master = scratch / "master.log"
        place = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        stack.enter_context(_daemon(scratch, master, "spark-class", "org.apache.spark.deploy.master.Master", *place))
        url = _wait(master, r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            log = scratch / f"worker-{number}.log"
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(scratch / f"work-{number}"))
            stack.enter_context(
                _daemon(scratch, log, "spark-class", "org.apache.spark.deploy.worker.Worker", *place, *size, url)
            )
            _wait(log, r"(Successfully registered) with master")
        yield url


@contextmanager
def connect_server(scratch: Path) -> Iterator[str]:
    """A Spark Connect server with two cores; gives the URL for clients."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(scratch / "connect"),
    }
    given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    log = scratch / "connect.log"
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with _daemon(scratch, log, "spark-submit", "--class", name, "--master", "local[2]", *given):
        _wait(log, r"(Spark Connect server started at)")
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def _daemon(scratch: Path, log: Path, program: str, *arguments: str) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [spark_program(program), *arguments],
            cwd=scratch, env=environment(scratch), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            yield
        finally:
            stop(process.pid)
            process.wait(timeout=30)


def stop(pid: int) -> None:
    """End a process that was started here, and those that it started."""
    try:
        first = psutil.Process(pid)
        family = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    first.terminate()
    _, left = psutil.wait_procs(family, timeout=20)
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=20)


def _wait(log: Path, pattern: str) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        match = re.search(pattern, log.read_text("utf-8", "replace"))
        if match is not None:
            return match[1]
        time.sleep(0.2)
    raise AssertionError(f"{log} does not say {pattern!r}: {log.read_text('utf-8', 'replace')[-2000:]}")
