"""How the TABLE_MAPs of a log are read: by the rules of the server version that its FORMAT_DESCRIPTION names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.tables.metadata import SHIPPED, WORKLOG, MetadataRules

if TYPE_CHECKING:
    from conformance.reference.dialect import Dialect

_AS_SHIPPED: Final = ("8.4.", "9.")  # a reader of their logs need not load the table of all versions


def rules_of(version: str) -> MetadataRules:
    """How the server that the file names writes metadata; an unknown version counts as the newest."""
    if version.startswith(_AS_SHIPPED):
        return SHIPPED
    from conformance.requirements.versions import dialect_of, parse_version

    try:
        return rules_in(dialect_of(parse_version(version)))
    except ValueError:
        return SHIPPED


def rules_in(dialect: Dialect) -> MetadataRules:
    """How a dialect writes metadata."""
    from conformance.reference.binlog.versions import version_rules

    return WORKLOG if dialect.numbering.worklog_metadata else version_rules(dialect.log)
