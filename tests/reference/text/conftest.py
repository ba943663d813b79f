"""The client whose text the tests of this folder compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation


@pytest.fixture(scope="module")
def mysqlbinlog(installation: Installation) -> list[str]:
    try:
        return installation.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(str(error))
