"""The checksum of events: CRC-32. The compiled build computes that of short events itself (crc.pyx)."""

from __future__ import annotations

from zlib import crc32

__all__ = ["crc32"]
