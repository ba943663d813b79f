"""The package as one zip for executors that have not installed it, and the check that executors can run it."""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.extras import to_install
from conformance.version import __version__
from scenarios.spark.session import SparkUnavailable, is_connect, is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.resources.abc import Traversable


class PackageMissing(SparkUnavailable):
    """The executors lack our own package."""


PACKAGES: Final = ("conformance", "generators", "scenarios")
_SUFFIXES: Final = (".py", ".toml", ".json", ".css", ".j2")
_SCRIPT: Final = '''"""spark-submit --py-files {zip} {script} NAME [--scenarios N] [--report DIR]"""

from scenarios.submit import main

main()
'''


def write_zip(target: Path) -> Path:
    """Write the zip, and beside it the script for spark-submit; return the script's path."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            _add(archive, resources.files(package), package)
    script = target.with_suffix(".py")
    script.write_text(_SCRIPT.format(zip=target.name, script=script.name), "utf-8")
    return script


def _add(archive: zipfile.ZipFile, folder: Traversable, name: str) -> None:
    for item in sorted(folder.iterdir(), key=lambda each: each.name):
        place = f"{name}/{item.name}"
        if item.is_dir():
            if item.name != "__pycache__":
                _add(archive, item, place)
        elif item.name.endswith(_SUFFIXES):
            # A fixed date: the same content gives the same zip.
            archive.writestr(zipfile.ZipInfo(place), item.read_bytes(), zipfile.ZIP_DEFLATED)


def prepare(spark: Any) -> None:
    """Make sure that the executors can run the package; give it to those that lack it."""
    if is_local(spark):
        given = shutil.which(os.environ.get("PYSPARK_PYTHON", sys.executable))
        if given is not None and Path(given).absolute() == Path(sys.executable).absolute():
            return
    try:
        check_executors(spark)
    except PackageMissing:
        # Executors that come later fetch it too, so it stays as long as this process.
        scratch = tempfile.mkdtemp(prefix="binlog-lab-zip-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        target = Path(scratch) / f"binlog_lab_{__version__.replace('.', '_')}.zip"
        write_zip(target)
        spark.addArtifacts(str(target), pyfile=True)
        check_executors(spark)


@contextmanager
def our_python(spark: Any) -> Iterator[None]:
    """Let executors of this machine run what is made inside in this Python, unless ``PYSPARK_PYTHON`` names another.

    Spark starts the ``python3`` of the PATH: another one, where a virtual environment is not activated.
    """
    if is_connect(spark) or not is_local(spark) or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    context = spark.sparkContext
    given, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = given


def check_executors(spark: Any) -> None:
    """Run one row on an executor; raise an error with a remedy if that fails, or if executor and driver differ."""
    try:
        answer = spark.range(0, 1, 1, 1).mapInArrow(_probe(), "python STRING, package STRING, missing STRING")
        (row,) = answer.collect()
    except Exception as error:
        for package in ("pyspark", "pyarrow", "pandas"):
            if f"No module named '{package}" in str(error):
                raise SparkUnavailable(_remedy(package)) from None
        if "PYTHON_VERSION_MISMATCH" in str(error) or "Cannot run program" in str(error):
            raise SparkUnavailable(_other_python(spark)) from None
        raise
    if row[2] is not None:
        raise (PackageMissing if row[2] in PACKAGES else SparkUnavailable)(_remedy(row[2]))
    mine = platform.python_version()
    if row[1] != __version__ or row[0].split(".")[:2] != mine.split(".")[:2]:
        raise SparkUnavailable(
            f"the executors have Python {row[0]} and binlog-lab {row[1]}; expected those of the driver,"
            f" {mine} and {__version__}: set PYSPARK_PYTHON to such a Python before the session begins"
        )


def _other_python(spark: Any) -> str:
    given = "their Python" if is_connect(spark) else spark.sparkContext.pythonExec
    return (
        f"the executors run {given}, which is missing or of another version; expected Python"
        f" {sys.version_info[0]}.{sys.version_info[1]}, that of the driver: set PYSPARK_PYTHON before the session"
        f" begins, here to {sys.executable}"
    )


def _remedy(package: str) -> str:
    return (
        f"the executors have no package {package!r}: {to_install('spark')} in their Python (PYSPARK_PYTHON),"
        " or give them an archive of an environment that has it"
    )


def _probe() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for ``mapInArrow`` that needs no package of ours: an inner function travels as code, not as a name.

    So an executor without the package answers, where a name that it cannot import fails the task four times, with a
    trace of each.
    """
    packages = PACKAGES

    def probe(batches: Iterator[Any]) -> Iterator[Any]:
        import platform
        from importlib import import_module

        import pyarrow as pa

        for _ in batches:
            version = missing = None
            try:
                for package in packages:
                    import_module(package)
                version = import_module("conformance.version").__version__
            except ModuleNotFoundError as error:
                missing = (error.name or "").partition(".")[0]
            found = {"python": [platform.python_version()], "package": [version], "missing": [missing]}
            schema = pa.schema([(name, pa.string()) for name in found])
            yield pa.RecordBatch.from_pydict(found, schema=schema)

    return probe
