"""A server with ``component_keyring_file``, for live tests of what it encrypts."""

from __future__ import annotations

import dataclasses
import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.servers.run.process import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer


@contextmanager
def server_with_keyring(installation: Installation, keyring: Path, **options: str) -> Iterator[ProcessServer]:
    """A server whose manifest names the component. Manifest and settings stand beside links to its files.

    ``keyring`` is the file of the keys, alone in a folder.
    """
    folder, plugins = keyring.parent, keyring.parent / "plugins"
    plugins.mkdir()
    (option,) = [word for word in installation.options if word.startswith("--plugin-dir=")] or [""]
    component = Path(option.partition("=")[2], "component_keyring_file.so")
    if not option or not component.exists():
        pytest.skip("the server has no component_keyring_file")
    (plugins / component.name).symlink_to(component)
    (folder / "mysqld").symlink_to(installation.mysqld)
    (folder / "mysqld.my").write_text('{"components": "file://component_keyring_file"}', "utf-8")
    settings = {"path": str(keyring), "read_only": False}
    (plugins / "component_keyring_file.cnf").write_text(json.dumps(settings), "utf-8")
    with launch(
        dataclasses.replace(installation, mysqld=folder / "mysqld"), options={"plugin-dir": str(plugins), **options}
    ) as running:
        yield running
