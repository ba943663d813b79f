"""A wheel of this checkout, compiled or pure, unpacked into a folder that goes first on the path of a process."""

# Running pip is the job of this module.

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def unpacked(place: Path, *, compiled: bool, wheel: Path | None = None) -> Path:
    """Build the wheel as pip does, in an environment of its own, and unpack it below ``place``. ``wheel``: it is there
    already."""
    wheel = wheel or _built(place, compiled=compiled)
    folder = place / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _built(place: Path, *, compiled: bool) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT)]
    environment = {**os.environ, "BINLOG_LAB_COMPILE": "1" if compiled else "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    (wheel,) = place.glob("*.whl")
    return wheel
