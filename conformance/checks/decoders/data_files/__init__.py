"""The case suite for readers of data files: files of a real server with names, their rows and dictionary information.

``groups`` declares the Cases, ``record`` makes them on a real server and writes the archive beside this file. The
archive has the form of that for decoders, and so have its Cases.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.archive import load_requirements as _requirements
from conformance.checks.decoders.suite.archive import load_suite

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.archive import Suite

ARCHIVE: Final = Path(__file__).with_name("data-file-suite.zip")


def load_files() -> Suite:
    """The archive of the package."""
    return load_suite(ARCHIVE)


def file_requirements() -> dict[str, tuple[str, ...]]:
    """The requirements of each Case by its id."""
    return _requirements(ARCHIVE)
