"""Whether the four packages are those of this installation: other distributions may have packages of the same names.

pip lets two distributions write the same file, and says nothing; removing one of them removes the file of both. And
Python takes the first folder of a name on ``sys.path``, which may be one in the working directory.
"""

from __future__ import annotations

from importlib.machinery import PathFinder
from os.path import dirname, exists, join, realpath  # pathlib takes longer to import than a file's SDI to read
from typing import Final

from conformance.user_errors import CouldNotRun

PACKAGES: Final = ("conformance", "fuzz", "generators", "scenarios")
DISTRIBUTION: Final = "binlog-lab"  # the docstring of each package names it
_REMEDY: Final = (
    "give the lab an environment of its own (python3 -m venv, pipx, uv tool), or remove the other package and call "
    "pip install --force-reinstall for binlog-lab"
)


def require_own_packages(place: str = dirname(dirname(dirname(__file__)))) -> None:  # noqa: PTH120 - see the import
    """Raise :class:`CouldNotRun` unless Python finds each package in ``place``, as we wrote it."""
    for name in PACKAGES:
        begin = join(place, name, "__init__.py")  # noqa: PTH118
        found = PathFinder.find_spec(name)
        first = found.origin if found is not None and found.origin is not None else begin
        if not exists(begin):  # noqa: PTH110
            said = f"the package {name} of {DISTRIBUTION} is gone: there is no {begin}"
        elif DISTRIBUTION not in _text(begin):
            said = f"the package {name} of {DISTRIBUTION} was overwritten: {begin} is not ours"
        elif realpath(first) != realpath(begin):
            said = f"Python finds another package {name} before that of {DISTRIBUTION}: {first}"
        else:
            continue
        raise CouldNotRun(said + _others(name), hint=_REMEDY)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()


def _others(name: str) -> str:
    """The other distributions with a package of this name, as the end of a sentence."""
    from importlib.metadata import distributions  # takes as long as all that most commands import

    found = {
        f"{each.name} {each.version}"
        for each in distributions()
        if each.name != DISTRIBUTION and any(file.parts[0] == name for file in each.files or ())
    }
    return f"; it is also a package of {', '.join(sorted(found))}" if found else ""
