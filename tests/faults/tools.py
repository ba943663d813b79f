"""The three tools that a planted fault meets, as steps that are run in child processes.

``vectors``     the tests of the reference with bytes kept by hand or captured
``fuzzing``     the targets of :mod:`fuzz.targets` that look into the faulty module: first their seeds and stored inputs
                once each, then so many executions of atheris
``properties``  Hypothesis, with the profile ``mutation``: the same 100 examples each time, and none made small
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz.runner.corpora import COMMITTED, content_name, read_archive
from fuzz.targets import load, target_names
from tests.faults.catalogue import PACKAGE, ROOT
from tests.reference.kit import MODULES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.faults.fault import Fault

TOOLS: Final = ("vectors", "fuzzing", "properties")
_SLOW: Final = ("test_binlog_hostile.py", "test_binlog_charsets.py", "test_binlog_corpus.py")
_FOLDERS: Final = ("reference", "generators", "cases")


class Step(NamedTuple):
    """One child process: whose it is, what it is called, how dear it is (0: a second), its arguments behind the
    fault."""

    tool: str
    name: str
    cost: int
    arguments: tuple[str, ...]


def _is_property(path: Path) -> bool:
    return path.stem.endswith("_properties")


@cache
def _texts() -> dict[Path, str]:
    found = [path for folder in _FOLDERS for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
    return {path: path.read_text(encoding="utf-8") for path in found}


def _near(module: str, path: Path, text: str) -> bool:
    """Whether a test file speaks of a module: by its path, or by a name imported from its package."""
    if path.name in _SLOW:
        return False
    if path.name == "test_vectors.py":
        return module in MODULES  # which it takes from a kit
    package, _, last = f"{PACKAGE}.{module}".rpartition(".")
    return f"{package}.{last} " in text or f"from {package} import {last}" in text


def near_files(module: str, *, properties: bool = False) -> list[Path]:
    """The test files that speak of a module; nobody but the rows of events speaks of images."""
    module = "binlog.rows" if module == "binlog.images" else module
    return [
        path for path, text in _texts().items() if _near(module, path, text) and (properties or not _is_property(path))
    ]


def vector_steps(fault: Fault) -> list[Step]:
    """The tests that speak of the module first: mostly they are enough, and cheap."""
    reference = ROOT / "tests" / "reference"
    texts = [path for path in _texts() if not _is_property(path) and path.is_relative_to(reference)]
    near = near_files(fault.at)
    rest = [path for path in texts if path not in near]
    return [
        Step("vectors", name, cost, ("pytest", *map(str, files)))
        for name, cost, files in (("tests of the module", 0, near), ("the other tests", 2, rest))
        if files
    ]


def property_files() -> list[Path]:
    """Every file of properties."""
    return sorted((ROOT / "tests").rglob("test_*_properties.py"))


def property_steps(fault: Fault, reached: Mapping[str, list[str]]) -> list[Step]:
    """Every file of properties that runs the faulty module."""
    return [
        Step("properties", path.stem.removeprefix("test_"), 3, ("pytest", str(path)))
        for path in property_files()
        if fault.at in reached[str(path)]
    ]


def store_inputs(folder: Path) -> None:
    """Write what the sound targets have: seeds from the boundary vectors, and the stored corpora."""
    for name in target_names():
        out = folder / name
        out.mkdir(parents=True)
        for number, (_, data) in enumerate(load(name).seeds()):
            (out / f"seed-{number:04}").write_bytes(data)
        for data in read_archive(COMMITTED / f"{name}.zip"):
            (out / content_name(data)).write_bytes(data)


def fuzz_steps(
    fault: Fault,
    inputs: Path,
    scratch: Path,
    *,
    reached: Mapping[str, list[str]],
    runs: int,
    rng: int,
    seconds: int = 0,
) -> list[Step]:
    """The stored inputs of all targets, then atheris on those that run the faulty module."""
    steps = [Step("fuzzing", "replay", 1, ("replay", str(inputs), *target_names()))]
    for name in target_names() if runs else ():
        if fault.at in reached[name]:
            out = scratch / f"{fault.id}-{name}"
            modules = ",".join((*load(name).INSTRUMENT, f"{PACKAGE}.{fault.at}"))
            arguments = ("fuzz", name, modules, str(out), str(inputs / name), str(runs), str(rng), str(seconds))
            steps.append(Step("fuzzing", f"atheris {name}", 4, arguments))
    return steps
