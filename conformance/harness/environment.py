"""The facts about the machine that a report shows; no names of people, hosts or paths."""

from __future__ import annotations

import os
import platform
from importlib import metadata


def environment() -> dict[str, str]:
    """Python, system, cores, and the versions of the packages that matter."""
    facts = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count() or 1),
    }
    for package in ("mysql-connector-python", "pytest", "zstandard"):
        try:
            facts[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            facts[package] = "not installed"
    return facts
