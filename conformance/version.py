"""The version of the kit: written here once, read by the package metadata and by every report."""

from __future__ import annotations

__version__ = "0.1.0"
