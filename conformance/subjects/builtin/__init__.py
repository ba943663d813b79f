"""Built-in subjects: other people's decoders with pinned versions, fetched on request into the cache.

``catalogue.toml`` names them; nothing of it is a dependency of the kit. ``open`` starts what ``install`` has fetched.
"""

from __future__ import annotations

from conformance.subjects.builtin.catalogue import Entry, entry, names
from conformance.subjects.builtin.install import Installed, install, installed
from conformance.subjects.builtin.opening import open_subject as open  # noqa: A004 (callers write builtin.open)

__all__ = ["Entry", "Installed", "entry", "install", "installed", "names", "open"]
