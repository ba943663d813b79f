"""The tablespaces in a data directory: found by their names, and by their first page where the server lets users name
them.

Left out are the files of temporary tables, which a shutdown empties, and all that is no tablespace: logs, doublewrite
files, keys, tables of other engines.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from conformance.reference.innodb.pages import names_a_tablespace
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ALWAYS: Final = re.compile(r".*\.ib[du]|ibdata\d+|undo_\d+")  # damaged ones too
_NEVER: Final = re.compile(r"ibtmp\d+|.*\.(?:ibt|dblwr|cfg|cfp)|#ib_redo\d+.*|#innodb_(?:temp|redo)|.*\.(?:MYD|MYI)")
_HEAD: Final = 64  # bytes of a file that tell


def is_directory(path: str) -> bool:
    """Whether this is a directory, and so all tablespaces in it are meant."""
    return os.path.isdir(path)  # noqa: PTH112 - as the data files


def data_files_of(paths: Sequence[str]) -> list[str]:
    """The files, and for each directory the tablespaces in it and below, in the order of their names.

    Files of the system tablespace stand together. Raises :class:`Usage` for a directory that cannot be read, or has
    none.
    """
    found: list[str] = []
    for path in paths:
        if not is_directory(path):
            found.append(path)
            continue
        inside = list(_tablespaces_below(path))
        if not inside:
            raise Usage(f"{path}: no tablespace is in the directory", hint="expected the data directory of a server")
        found += inside
    return found


def _tablespaces_below(path: str) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(path), key=lambda entry: (entry.is_dir(), _order(entry.name)))
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem
    for entry in entries:
        if _NEVER.fullmatch(entry.name):
            continue
        if entry.is_dir():
            yield from _tablespaces_below(entry.path)
        elif entry.is_file() and (_ALWAYS.fullmatch(entry.name) or _looks_like_one(entry.path)):
            yield entry.path


def _order(name: str) -> tuple[str, int]:
    """The place of a name: ``ibdata10`` comes behind ``ibdata9``."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _looks_like_one(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as the data files
            return names_a_tablespace(file.read(_HEAD))
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem
