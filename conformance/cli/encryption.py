"""The option that names a keyring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from pathlib import Path


def _path(_context: click.Context, _option: click.Parameter, value: str | None) -> Path | None:
    """The option as a path. ``pathlib`` takes as long to import as ``sdi`` to read a file."""
    if value is None:
        return None
    from pathlib import Path

    return Path(value)


keyring_option: Final = click.option(
    "--keyring", type=click.Path(dir_okay=False), callback=_path, metavar="FILE",
    help="The file of component_keyring_file, with the master keys of encrypted tablespaces and logs.",
)  # fmt: skip
