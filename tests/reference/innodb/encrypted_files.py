"""The recorded data files of encrypted tables in ``tests/data/innodb/encrypted``, and the keyring that opens them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any, Final

from conformance.reference.encryption.keyring import Keyring
from conformance.reference.innodb.pages import Tablespace
from tests.reference.innodb.fixture_files import DATA

FOLDER: Final = DATA / "encrypted"
KEYRING_FILE: Final = FOLDER / "keyring.json"
KEYRING: Final = Keyring.parse(KEYRING_FILE.read_bytes())
FILES: Final[dict[str, dict[str, Any]]] = {
    entry["name"]: entry for entry in json.loads((FOLDER / "manifest.json").read_text("utf-8"))["files"]
}


@cache
def file_bytes(name: str) -> bytes:
    """The data file, unpacked."""
    return gzip.decompress((FOLDER / f"{name}.ibd.gz").read_bytes())


def opened(data: bytes, *, keyring: Keyring | None = KEYRING, verify: bool = True) -> Tablespace:
    """A tablespace over bytes in memory, with a keyring."""
    return Tablespace(lambda at, count: data[at : at + count], len(data), verify=verify, keyring=keyring)
