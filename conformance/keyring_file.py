"""The keyring that a user names: a file of component_keyring_file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.errors import CodecError
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.encryption.keyring import Keyring


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
