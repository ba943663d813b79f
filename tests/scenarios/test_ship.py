"""Executors get the package whenever their first task comes, and say what they lack without failing."""

from __future__ import annotations

import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.version import __version__
from scenarios.spark import ship
from scenarios.spark.session import SparkUnavailable, python_of
from tests.live import ROOT


class _Session:
    """Takes artifacts, as a session of a cluster does: by their place, from which executors fetch them later."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def addArtifacts(self, place: str, *, pyfile: bool) -> None:  # noqa: N802 - Spark's name
        assert pyfile
        self.places.append(place)


def test_the_zip_is_still_there_for_an_executor_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observed with two workers: the second one's first task came after the check, and its zip was gone."""
    monkeypatch.setattr(ship, "is_local", lambda _: False)
    session = _Session()

    def check(_: object) -> None:
        if not session.places:
            raise ship.PackageMissing("the executors have no package 'conformance'")

    monkeypatch.setattr(ship, "check_executors", check)
    ship.prepare(session)
    (place,) = session.places
    assert {
        "conformance/version.py",
        "scenarios/worker.py",
        "scenarios/spark/binlogs.py",
        "conformance/logs/rows/tuples.py",
    } <= set(zipfile.ZipFile(Path(place)).namelist())


_ASK = """
import sys
sys.path[:] = [item for item in sys.path if item not in ("", {root!r})]
sys.path.append({packages!r})
from pyspark import cloudpickle
(batch,) = cloudpickle.loads(bytes.fromhex({probe!r}))(iter([None]))
print(*batch.to_pylist()[0].values())
"""


def test_an_executor_without_the_package_answers_the_probe() -> None:
    """In a Python that has neither this tree nor the installation: nothing raises, and what is missing is named."""
    import pyspark
    from pyspark import cloudpickle

    packages = str(Path(pyspark.__file__).parents[1])
    probe = cloudpickle.dumps(ship._probe()).hex()  # type: ignore[no-untyped-call]
    program = _ASK.format(root=str(ROOT), packages=packages, probe=probe)
    base = str(getattr(sys, "_base_executable", sys.executable))
    done = subprocess.run([base, "-I", "-c", program], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.split()[1:] == ["None", "conformance"]
    assert not done.stderr
    (batch,) = ship._probe()(iter([None]))
    assert batch.to_pylist()[0]["package"] == __version__


def test_executors_here_run_our_python_unless_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a plain script, where Spark would start the python3 of the PATH."""
    context = SimpleNamespace(master="local[2]", pythonExec="python3")
    session = SimpleNamespace(sparkContext=context)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with ship.our_python(session):
        assert context.pythonExec == sys.executable
    assert context.pythonExec == "python3"
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    with ship.our_python(session):
        assert context.pythonExec == "python3"


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9", "PYSPARK_PYTHON before the session"),
        ('Cannot run program "python7": error=2, No such file', "the executors run python7, which is missing or of"),
        ("ModuleNotFoundError: No module named 'pyarrow'", "no package 'pyarrow': pip install "),
    ],
)
def test_executors_of_another_python_are_named_in_a_sentence(problem: str, said: str) -> None:
    def fails(*_: object) -> object:
        raise RuntimeError(problem)

    rows = SimpleNamespace(mapInArrow=fails)
    context = SimpleNamespace(pythonExec="python7", master="local")
    session = SimpleNamespace(range=lambda *_: rows, sparkContext=context)
    with pytest.raises(SparkUnavailable, match=said) as raised:
        ship.check_executors(session)
    assert raised.value.__suppress_context__  # no trace of Spark's before it
    assert "\n" not in str(raised.value)


def test_executors_get_a_python_that_can_run_our_functions() -> None:
    assert python_of("local[2]") == python_of("local-cluster[2,1,1024]") == sys.executable
    assert python_of("spark://127.0.0.1:7077") == python_of(f"spark://{socket.gethostname()}:7077") == sys.executable
    assert python_of("spark://elsewhere:7077,127.0.0.1:1") == python_of("yarn") == f"python3.{sys.version_info[1]}"
