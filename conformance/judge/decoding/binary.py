"""Bytes in all their forms."""

from __future__ import annotations

import binascii
from typing import Any

from conformance.reference.portable import base64_bytes


def bytes_of_form(value: Any) -> bytes | None:
    """The bytes of ``{"hex"}``, ``{"base64"}`` or Python bytes."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((form, text),) = value.items()
    if not isinstance(text, str):
        return None
    if form == "hex":
        return hex_bytes(text)
    return base64_bytes(text) if form == "base64" else None


def hex_bytes(text: str) -> bytes | None:
    """The bytes of hexadecimal text."""
    try:
        return binascii.unhexlify(text)
    except (binascii.Error, ValueError):
        return None


def utf8_bytes(text: str) -> bytes | None:
    """The UTF-8 bytes of a text."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
