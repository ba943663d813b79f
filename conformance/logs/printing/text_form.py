"""The parts that the text of a log has, as the options of ``mysqlbinlog`` choose them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BASE64: Final = ("auto", "decode-rows", "never")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """The parts of a text. ``rows``: pseudo-SQL, with ``types`` as ``-vv``. ``base64``: one of :data:`BASE64`.

    ``for_reading``: the user asked for rows, but not for a text without base64. ``metadata``: columns of TABLE_MAPs.
    """

    rows: bool
    types: bool
    base64: str
    for_reading: bool
    metadata: bool
    hexdump: bool

    @classmethod
    def of(cls, verbose: int, base64: str | None, *, metadata: bool, hexdump: bool) -> TextForm:
        """Return the form for options. ``verbose``: how often ``-v`` stands there."""
        return cls(
            rows=verbose > 0, types=verbose > 1, base64=base64 or ("decode-rows" if verbose else "auto"),
            for_reading=verbose > 0 and base64 is None, metadata=metadata, hexdump=hexdump,
        )  # fmt: skip
