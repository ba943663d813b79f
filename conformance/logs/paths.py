"""The binary log files that a path names: a file, the files of a directory, or those that a pattern matches."""

from __future__ import annotations

import glob
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from conformance.logs.rows.options import OptionError

INDEX: Final = ".index"  # MySQL's list of its logs, in the same directory
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")
_MAGIC: Final = re.compile(r"[*?\[]")


def find_logs(path: str, *, name_filter: str | None = None, recursive: bool = False) -> list[str]:
    """Sorted names of the files. A path that matches nothing is an error.

    A directory or a pattern leaves out hidden files and the server's index file. Reading later decides whether the
    others are binary logs. ``name_filter``: a pattern for the names of files; ``recursive``: directories are read at
    any depth.
    """
    place = _local(path)
    if Path(place).is_dir():
        found = _inside(Path(place), recursive=recursive)
    elif Path(place).exists() or not _MAGIC.search(place):
        if not Path(place).exists():
            raise OptionError(f"option path: no such file or directory: {path}")
        found = [place]
    else:
        found = []
        for name in glob.glob(place):  # noqa: PTH207 - Path.glob wants the pattern apart from the directory
            inside = Path(name).is_dir()
            found += _inside(Path(name), recursive=recursive) if inside else [name] if _is_log(Path(name)) else []
    if name_filter is not None:
        found = [name for name in found if fnmatchcase(Path(name).name, name_filter)]
    if not found:
        raise OptionError(f"option path: no files in {path}{'' if name_filter is None else f' with {name_filter}'}")
    return sorted(found)


def _local(path: str) -> str:
    if path.startswith("file:"):
        return unquote(urlsplit(path).path)
    if _SCHEME.match(path):
        raise OptionError(
            f"option path: expected a path of the file system that driver and executors share, got {path};"
            " scenarios.spark.hadoop.read_binlogs reads what Spark itself can read"
        )
    return path


def _inside(directory: Path, *, recursive: bool) -> list[str]:
    found = []
    for item in filter(_is_log, directory.iterdir()):
        if not item.is_dir():
            found.append(str(item))
        elif recursive:
            found += _inside(item, recursive=True)
    return found


def _is_log(item: Path) -> bool:
    return not item.name.startswith((".", "_")) and item.suffix != INDEX
