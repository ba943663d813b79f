"""The recorded data files of 9.7.4 in ``tests/data/innodb``, unpacked, and what the manifest says of them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.reference.innodb.pages import Tablespace

DATA: Final = Path(__file__).parents[2] / "data" / "innodb"
FIXTURES: Final[dict[str, dict[str, Any]]] = {
    entry["name"]: entry for entry in json.loads((DATA / "manifest.json").read_text("utf-8"))["fixtures"]
}
ALL_FILES: Final = tuple(sorted(path.name.removesuffix(".ibd.gz") for path in DATA.glob("*.ibd.gz")))


@cache
def unpacked(name: str) -> bytes:
    """Any recorded data file by its name, unpacked; some are not in the manifest."""
    return gzip.decompress((DATA / f"{name}.ibd.gz").read_bytes())


@cache
def file_bytes(name: str) -> bytes:
    """The data file, unpacked."""
    return gzip.decompress((DATA / FIXTURES[name]["file"]).read_bytes())


def tablespace(data: bytes, *, verify: bool = True) -> Tablespace:
    """A tablespace over bytes in memory."""
    return Tablespace.of_bytes(data, verify=verify)


def fixture(name: str, *, verify: bool = True) -> Tablespace:
    """The tablespace of a fixture."""
    return tablespace(file_bytes(name), verify=verify)
