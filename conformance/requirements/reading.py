"""The meaning of the version in a log's FORMAT_DESCRIPTION: how TABLE_MAPs are read, which lengths it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.tables.metadata import SHIPPED, WORKLOG, MetadataRules

if TYPE_CHECKING:
    from conformance.reference.dialect import Dialect

_BEFORE: Final = ("5.1.", "5.5.")
_TYPES_BEFORE: Final = 27
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


def described_lengths(version: str) -> bytes:
    """The table in the description of a version's logs. Those of 5.1 and 5.5, which are not in the table of versions,
    have the first 27 types of 5.6."""
    from conformance.reference.binlog.versions import post_header_lengths
    from conformance.requirements.versions import dialect_of, parse_version

    if not version.startswith(_BEFORE):
        return post_header_lengths(dialect_of(parse_version(version)).log)
    lengths = bytearray(post_header_lengths(dialect_of((5, 6, 51)).log)[:_TYPES_BEFORE])
    lengths[14] = 57 + _TYPES_BEFORE
    return bytes(lengths)
