"""What differs between servers, and between a server and the worklogs: three small frozen parts.

Nothing else in the project asks for a version; which version has which dialect is a table in
``conformance.requirements``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRules:
    """How forgiving a reader of bytes is."""

    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBehaviour:
    """Choices of a server that the worklog leaves open, or that a server makes against it."""

    partial_remove: bool = True  # JSON_REMOVE can be logged as a diff; the worklog's condition 5 omits it
    refuse_unchanging_replace: bool = True  # in place, a REPLACE that changes no byte gives 3648 (sheet 8, deviation 1)
    null_takes_empty_diffs: bool = True  # empty diffs turn SQL NULL into JSON null (sheet 8, deviation 4)
    stores_invalid_text: bool = True  # strings and keys of a diff need not be UTF-8 (sheet 8, deviation 5)
    copies_full_values: bool = True  # a full value is stored without a look at it (requirements sheet, FR5)
    diffs_miss_triggers: bool = True  # the log has the SET clause's diffs, not a BEFORE trigger's change (FR2)
    looks_up_by_before_image: bool = True  # without a key: documents equal by = and as text, or no row is found (FR4)
    nests_without_limit: bool = True  # in place, a document may get deeper than 100 levels (sheet 8, deviation 3)
    storage_misses_triggers: bool = True  # of an off-page document only the SET clause's ranges are stored (FR2)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNumbering:
    """Numbers that the worklog and the shipped server give differently."""

    worklog_metadata: bool = False  # WL#4618 numbers 7, 8, 9 of the optional table metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way of reading, behaving and numbering."""

    name: str
    reader: ReaderRules = field(default_factory=ReaderRules)
    behaviour: ServerBehaviour = field(default_factory=ServerBehaviour)
    numbering: FieldNumbering = field(default_factory=FieldNumbering)


def flipped(dialect: Dialect, *switches: str) -> Dialect:
    """The dialect with some of its behaviours turned round."""
    now = {switch: not getattr(dialect.behaviour, switch) for switch in switches}
    return replace(dialect, behaviour=replace(dialect.behaviour, **now))


MYSQL: Final = Dialect(name="mysql-9.7")
WORKLOG: Final = Dialect(
    name="worklog",
    reader=ReaderRules(strict=True),
    behaviour=ServerBehaviour(
        partial_remove=False,
        refuse_unchanging_replace=False,
        null_takes_empty_diffs=False,
        stores_invalid_text=False,
        copies_full_values=False,
        looks_up_by_before_image=False,
        diffs_miss_triggers=False,
        nests_without_limit=False,
        storage_misses_triggers=False,
    ),
    numbering=FieldNumbering(worklog_metadata=True),
)
DIALECTS: Final = {dialect.name: dialect for dialect in (MYSQL, WORKLOG)}
