"""The option that names a keyring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from conformance.cli.console import Usage
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.encryption.keyring import Keyring


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


def read_keyring(path: Path | None) -> Keyring | None:
    """The keys in a file, if one is named; a file that is no keyring is a wrong argument."""
    if path is None:
        return None
    from conformance.reference.encryption.keyring import Keyring

    try:
        return Keyring.parse(path.read_bytes())
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem
    except CodecError as error:
        raise Usage(f"{path}: {error}") from error
