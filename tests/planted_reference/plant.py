"""A planted fault in this process: the loader hands out the edited text of the module; nothing on disk changes.

Works for whoever imports the module afterwards, a fuzzer that instruments it included.
"""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance import reference
from tests.reference.kit import PACKAGE, faulty_text

if TYPE_CHECKING:
    from tests.reference.kit import Fault

_FOLDER: Final = Path(reference.__path__[0])


def plant(fault: Fault) -> None:
    """Serve the faulty text from now on. The module must not have been imported yet."""
    name = f"{PACKAGE}.{fault.module}"
    if name in sys.modules:
        raise AssertionError(f"{fault.id}: {name} was imported before its fault could be planted")
    source = str(_FOLDER / f"{fault.module.replace('.', '/')}.py")
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
