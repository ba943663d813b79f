"""Errors of the decoder as errors of a command that reads logs: what is wrong with a file, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from conformance.reference.errors import CodecError

_GO_ON: Final = dict.fromkeys(
    ("payload-bomb", "payload-too-large"), "--max-uncompressed MB goes on up to so many megabytes, if the log is yours"
)


def refused(path: str, error: CodecError) -> Usage | InputCorrupt:
    """The command's error for an error of the decoder."""
    if error.code == "not-a-binlog":
        return Usage(f"{path}: {error.message}")
    hint = "give the keyring of its server with --keyring" if error.code == "encrypted" else hint_of(error.code)
    return InputCorrupt(f"{path}: {error}", hint=hint)


def hint_of(code: str) -> str | None:
    """How to go on in spite of an error with this code."""
    return _GO_ON.get(code)
