"""The bytes Case: a file that is given to a program, which must live.

``subject`` names the program: ``mysqlbinlog``, run with ``-v``. Its id is a hash of what it does. A file that crashes
other people's software has the hazard may-crash; it is stored with the report of a run and nowhere else.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.cases.update_case import CaseFrame, Hazard
from conformance.reference.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Mapping

MYSQLBINLOG: Final = "mysqlbinlog"
SUBJECTS: Final = (MYSQLBINLOG,)


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesCase(CaseFrame):
    """One file. ``name``: its special feature."""

    kind: ClassVar[str] = "bytes"

    subject: str = MYSQLBINLOG
    name: str = ""
    data: bytes


def bytes_id(subject: str, data: bytes) -> str:
    """The id of a generated Case."""
    return f"bytes-{hashlib.blake2b(subject.encode() + b' ' + data, digest_size=6).hexdigest()}"


def dump_bytes_case(case: BytesCase) -> dict[str, Any]:
    """A Case as JSON data, without the frame that all kinds share (``files``)."""
    return {"subject": case.subject, "name": case.name, "data": case.data.hex()}


BYTES_KEYS: Final = frozenset(("subject", "name", "data"))


def load_bytes_case(data: Mapping[str, Any], frame: Mapping[str, Any]) -> BytesCase:
    """The Case of JSON data. Raises :class:`DecodeError`, or what a malformed value makes Python raise."""
    if data["subject"] not in SUBJECTS:
        raise DecodeError("case-format", "no such subject", expected=SUBJECTS, got=data["subject"])
    return BytesCase(
        **frame,
        hazard=Hazard(data.get("hazard", "none")),
        subject=data["subject"],
        name=str(data.get("name", "")),
        data=bytes.fromhex(data["data"]),
    )
