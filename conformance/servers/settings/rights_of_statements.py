"""The rights that a statement of a Case needs beside those of every check, as needs for ``harness.needs``.

A statement that the account may not run says nothing about the server. Facts: the reference manual on privileges.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

CREATOR: Final = "creator"
"""The need of triggers and functions where the binary log is on: SUPER, or log_bin_trust_function_creators."""

_RIGHTS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), needs)
    for pattern, needs in (
        (r"^(ALTER|RENAME) TABLE\b", ("right ALTER",)),
        (r"^(CREATE|ALTER) TABLE\b.*\bREFERENCES\b", ("right REFERENCES",)),
        (r"^CREATE TEMPORARY TABLE\b", ("right CREATE TEMPORARY TABLES",)),
        (r"^(CREATE( UNIQUE)?|DROP) INDEX\b", ("right INDEX",)),
        (r"^(CREATE( OR REPLACE)?|ALTER)\b[^(]*\bVIEW\b", ("right CREATE VIEW",)),
        (r"^SHOW CREATE VIEW\b", ("right SHOW VIEW",)),
        (r"^CREATE\b[^(]*\bTRIGGER\b", ("right TRIGGER", CREATOR)),
        (r"^DROP TRIGGER\b", ("right TRIGGER",)),
        (r"^CREATE\b[^(]*\bFUNCTION\b", ("right CREATE ROUTINE", "right EXECUTE", CREATOR)),
        (r"^CREATE\b[^(]*\bPROCEDURE\b", ("right CREATE ROUTINE", "right EXECUTE")),
        (r"^CALL\b", ("right EXECUTE",)),
        (r"^CREATE\b[^(]*\bEVENT\b", ("right EVENT",)),
        (r"^LOCK TABLES?\b", ("right LOCK TABLES",)),
        (r"^FLUSH\b", ("right RELOAD",)),
        (r"^LOAD DATA INFILE\b|\bINTO (OUT|DUMP)FILE\b", ("right FILE",)),
        (r"^XA RECOVER\b", ("right XA_RECOVER_ADMIN",)),
        (r"^BINLOG\b", ("right BINLOG_ADMIN",)),
    )
)


_TABLE: Final = re.compile(r"\b(?:FROM|JOIN) ((?:performance_schema|mysql)\.\w+)", re.IGNORECASE)


def needs_of_statements(statements: Iterable[str]) -> tuple[str, ...]:
    """The needs of these statements, each once."""
    texts = list(statements)
    needs = (name for text in texts for pattern, names in _RIGHTS if pattern.search(text.lstrip()) for name in names)
    tables = (f"reads {name}" for text in texts for name in _TABLE.findall(text))
    return tuple(dict.fromkeys((*needs, *tables)))
