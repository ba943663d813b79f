"""Whether a wheel has every file of its packages: ``python -m tests.builds.complete WHEEL``.

Prints each tracked file that it lacks; exit status 1 if there is one.
"""

from __future__ import annotations

import sys
import tomllib
import zipfile
from pathlib import Path

from tests.repository import ROOT, tracked


def missing(wheel: Path) -> list[str]:
    """Files of the packages, that the wheel neither has nor leaves out on purpose."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        build = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    left_out = tuple(f"{folder.lstrip('/')}/" for folder in build["exclude"])
    packages = tuple(f"{name}/" for name in build["packages"])
    due = {name for name in tracked() if name.startswith(packages) and not name.startswith(left_out)}
    return sorted(due - set(zipfile.ZipFile(wheel).namelist()))


def main(wheel: str) -> int:
    """Exit status."""
    found = missing(Path(wheel))
    sys.stdout.write("\n".join(found or ["the wheel has every file of its packages"]) + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
