"""The declarations of the suite's Cases, one module a group; their order is that of the archive."""

from importlib import import_module
from typing import Final

from conformance.checks.decoders.suite.declare import Declared

GROUPS: Final = (
    "diffs", "jsonb", "holes", "columns", "charsets", "images", "updates", "metadata", "payload", "gtid", "xa", "checksums",
    "files", "versions", "hostile",
)  # fmt: skip


def declarations() -> tuple[Declared, ...]:
    """All Cases that are declared, in the order of the groups."""
    package = "conformance.checks.decoders.suite.groups"
    return tuple(case for name in GROUPS for case in import_module(f"{package}.{name}").CASES)
