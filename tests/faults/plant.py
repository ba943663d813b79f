"""A planted fault in this process: the loader hands out the changed text of the module; nothing on disk changes.

Works for whoever imports the module afterwards, a fuzzer that instruments it included.
"""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from typing import TYPE_CHECKING, Any

from tests.faults.catalogue import PACKAGE, faulty_text, path_of

if TYPE_CHECKING:
    from tests.faults.fault import Fault


def plant(fault: Fault) -> None:
    """Serve the faulty text from now on. The module must not have been imported yet."""
    name = f"{PACKAGE}.{fault.at}"
    if name in sys.modules:
        raise AssertionError(f"{fault.id}: {name} was imported before its fault could be planted")
    source = str(path_of(fault.at))
    compiled = cache_from_source(source)
    text = faulty_text(fault).encode()
    read: Any = SourceFileLoader.get_data

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        if path == compiled:
            raise FileNotFoundError(path)  # bytecode of the sound text
        found: bytes = text if path == source else read(self, path)
        return found

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign,assignment]
    sys.dont_write_bytecode = True
