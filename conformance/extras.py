"""How an extra is installed, in words that fit where this installation came from.

An installation from a folder, such as a clone, knows it (``direct_url.json``, PEP 610); the package index knows none.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

_NAME: Final = "binlog-lab"


def to_install(extra: str) -> str:
    """The command that installs an extra: ``pip install 'binlog-lab[spark]'``, or the same of a clone's folder."""
    folder, editable = _folder()
    what = shlex.quote(f"{folder or _NAME}[{extra}]")
    return f"pip install {'--editable ' if editable else ''}{what}"


def _folder() -> tuple[str, bool]:
    """The folder that this installation came from, if it did, and whether it still runs there."""
    import json  # here, for most runs miss nothing
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        told = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:  # a clone that is not installed
        root = Path(__file__).parents[1]
        return (str(root), False) if (root / "pyproject.toml").is_file() else ("", False)
    source = json.loads(told or "{}")
    url = urlsplit(source.get("url", ""))
    if url.scheme != "file" or "dir_info" not in source or not Path(unquote(url.path)).is_dir():
        return "", False
    return unquote(url.path), bool(source["dir_info"].get("editable"))
