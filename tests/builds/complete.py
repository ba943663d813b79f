"""Whether a wheel has every file of its packages: ``python -m tests.builds.complete WHEEL``.

Prints each tracked file that it lacks; exit status 1 if there is one.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from tests.builds.wheel import ROOT


def missing(wheel: Path) -> list[str]:
    """Files of the packages, as git knows them, that the wheel neither has nor leaves out on purpose."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        build = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *build["packages"]], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    left_out = tuple(f"{folder.lstrip('/')}/" for folder in build["exclude"])
    tracked = {name for name in listed.stdout.split("\0") if name and not name.startswith(left_out)}
    return sorted(tracked - set(zipfile.ZipFile(wheel).namelist()))


def main(wheel: str) -> int:
    """Exit status."""
    found = missing(Path(wheel))
    sys.stdout.write("\n".join(found or ["the wheel has every file of its packages"]) + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
