"""The features that a script uses, read from its statements: what findings are grouped by and what known ones name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.explore.steps import Step

_TRAITS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for name, pattern in (
        ("trigger before insert", r"CREATE TRIGGER .*BEFORE INSERT"),
        ("trigger before update", r"CREATE TRIGGER .*BEFORE UPDATE"),
        ("trigger after", r"CREATE TRIGGER .*AFTER (INSERT|UPDATE|DELETE)"),
        ("trigger delete", r"CREATE TRIGGER .*(BEFORE|AFTER) DELETE"),
        ("trigger sets", r"CREATE TRIGGER .*SET NEW\."),
        ("virtual column", r"\) VIRTUAL"),
        ("stored column", r"\) STORED"),
        ("functional index", r"INDEX \w+ \([^)]*\((?!.*ARRAY\)\))"),
        ("multi-valued index", r" ARRAY\)\)"),
        ("full-text index", r"FULLTEXT"),
        ("partitions", r"PARTITION BY"),
        ("foreign key", r"FOREIGN KEY"),
        ("check", r"CHECK \((?!TABLE)"),
        ("generated primary key", r"sql_generate_invisible_primary_key = ON"),
        ("no key", r"CREATE TABLE t\d \((?!.*(PRIMARY KEY|UNIQUE))"),
        ("row format", r"ROW_FORMAT=\w+"),
        ("page compression", r"COMPRESSION="),
        ("MyISAM", r"MyISAM"),
        ("view", r"CREATE VIEW"),
        ("routine", r"CALL "),
        ("prepared", r"EXECUTE "),
        ("XA", r"XA (COMMIT|ROLLBACK|PREPARE)"),
        ("savepoint", r"ROLLBACK TO"),
        ("rollback", r"^ROLLBACK$"),
        ("instant", r"INSTANT"),
        ("alter", r"ALTER TABLE|OPTIMIZE"),
        ("IGNORE", r"(UPDATE|INSERT) IGNORE"),
        ("REPLACE", r"^REPLACE"),
        ("ON DUPLICATE KEY", r"ON DUPLICATE KEY"),
        ("join", r"^UPDATE .* JOIN |^DELETE a"),
        ("self join", r"^UPDATE (?:IGNORE )?(\w+) a JOIN \1 b "),
        ("locked tables", r"^LOCK TABLES"),
        ("ORDER BY", r"^(UPDATE|DELETE|SELECT).*ORDER BY"),
        ("INSERT SELECT", r"^(INSERT|REPLACE)[^(]*\([^)]*\) SELECT"),
        ("key change", r"^UPDATE .*\bSET (?:.*, )?(?:\w\.)?(?:id|part) = |ON DUPLICATE KEY .*\bpart = "),
        ("JSON_SET", r"⟦.*JSON_SET"),
        ("JSON_REPLACE", r"⟦.*JSON_REPLACE"),
        ("JSON_REMOVE", r"⟦.*JSON_REMOVE"),
        ("partial image", r"'(MINIMAL|NOBLOB)'"),
        ("compression", r"transaction_compression = ON"),
        ("no partial option", r"value_options = ''"),
        ("statement format", r"binlog_format = '(MIXED|STATEMENT)'"),
        ("sql_mode", r"sql_mode = "),
        ("isolation", r"transaction_isolation = "),
        ("optimizer", r"optimizer_switch = "),
    )
)
_LONG: Final = re.compile(r"'(?:[^'\\]|\\.|''){30,}+'")  # no trait stands in a long literal


def traits_of(script: Iterable[Step]) -> frozenset[str]:
    """The names of the traits that some statement of the script has."""
    found: set[str] = set()
    for step in script:
        text = _LONG.sub("''", step.text)
        found.update(name for name, pattern in _TRAITS if name not in found and pattern.search(text))
    return frozenset(found)
