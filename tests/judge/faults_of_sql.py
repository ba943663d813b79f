"""Answers of a server that errs to statements about the option: planted from requirements 1 and requirements 2.

Each fault doctors one answer of an otherwise perfect server: the first judged statement of its requirement whose text
matches. Written down before the checks that must catch them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFault:
    """``change``: fields of the answer (error, warnings, text, rows, form) and what they become; ``texts``: the text
    that its warnings get, or some words of theirs and those in their place."""

    id: str
    requirement: str
    statement: str  # a pattern of the statement, or of the options of a start
    change: dict[str, object]


IGNORED_TEXT: Final = (
    "When binlog_format=STATEMENT, the setting binlog_row_value_options=PARTIAL_JSON will be ignored and no partial"
    " updates will be written to the binary log."
)
ONLY_AFTER_TEXT: Final = (
    "When binlog_row_image=FULL, the option binlog_row_value_options=PARTIAL_JSON will be used only for the"
    " after-image. Full values will be written in the before-image, so the saving in disk space due to"
    " binlog_row_value_options is limited to less than 50%."
)
_PARTIAL: Final = (("PARTIAL_JSON",),)
_EMPTY: Final = (("",),)

_Row = tuple[str, str, object]
_TEXTS_1: Final[tuple[_Row, ...]] = (
    ("one-word", r"^SET SESSION binlog_row", ("no partial", "partial")),
    ("one-word-in-global", r"^SET GLOBAL", ("binary log.", "relay log.")),
    ("one-word-in-persist", r"^SET PERSIST", ("the setting", "a setting")),
    ("one-word-at-start", r"^mysqld", ("will be", "will not be")),
    ("half-of-the-other-wording", r"^SET SESSION binlog_row", ("the setting", "the option")),
    ("no-end", r"^SET SESSION binlog_format", (" and no partial updates", "")),
    ("cause-disabled", r"statement-\w+-on-log$", ("binlog_format=STATEMENT", "the binary log is disabled")),
    ("cause-statement", r"row-\w+-on-nolog$", ("the binary log is disabled", "binlog_format=STATEMENT")),
    ("cause-at-start", r"binlog-format=STATEMENT", ("binlog_format=STATEMENT", "binlog_format=MIXED")),
    ("empty", r"^SET @@GLOBAL", ""),
    ("of-warning-3", r"^SET LOCAL", ONLY_AFTER_TEXT),
)
_TEXTS_3: Final[tuple[_Row, ...]] = (
    ("one-word", r"^SET SESSION binlog_row_value", ("after-image", "before-image")),
    ("one-word-of-image", r"^SET SESSION binlog_row_image", ("less", "more")),
    ("one-word-in-global", r"^SET GLOBAL", ("50%", "50%%")),
    ("one-word-in-persist", r"^SET PERSIST", ("Full values", "No values")),
    ("one-word-at-start", r"^mysqld", ("only for", "for")),
    ("cause", r"^SET SESSION", ("binlog_row_image=FULL", "binlog_row_image=NOBLOB")),
    ("empty", r"^SET @@GLOBAL", ""),
    ("of-warning-1", r"^SET LOCAL", IGNORED_TEXT),
)
_TEXT_FAULTS: Final = tuple(
    SqlFault(id=f"{warning}-text-{name}", requirement=f"W{warning}.text", statement=statement, change={"texts": change})
    for warning, rows in ((1, _TEXTS_1), (3, _TEXTS_3))
    for name, statement, change in rows
)

SQL_FAULTS: Final[tuple[SqlFault, ...]] = (
    # Values.
    SqlFault(id="name-refused", requirement="S1", statement=r"SET .*= 'partial_json'$", change={"error": 1231}),
    SqlFault(id="name-kept-out", requirement="S1", statement=r"SELECT @@SESSION", change={"rows": (("BOTH",),)}),
    SqlFault(id="unknown-name-taken", requirement="S1", statement=r"SET .*= 'invalid'$", change={"error": None}),
    SqlFault(id="null-taken", requirement="S1", statement=r"SET .*= NULL$", change={"error": None}),
    SqlFault(id="number-2-as-wrong-type", requirement="S1", statement=r"SET .*= 2$", change={"error": 1232}),
    SqlFault(id="decimal-as-wrong-value", requirement="S1", statement=r"SET .*= 1\.5$", change={"error": 1231}),
    SqlFault(
        id="bad-name-not-named",
        requirement="S1",
        statement=r"SET .*= 'PARTIAL_JSON,bad'$",
        change={"text": "Variable 'binlog_row_value_options' can't be set"},
    ),
    # Scopes.
    SqlFault(
        id="global-touches-open-session", requirement="S2", statement=r"SELECT @@SESSION", change={"rows": _PARTIAL}
    ),
    SqlFault(id="default-is-compiled-in", requirement="S2", statement=r"copied by DEFAULT", change={"rows": _EMPTY}),
    SqlFault(id="new-session-starts-empty", requirement="S2", statement=r"of a new session", change={"rows": _EMPTY}),
    # Restrictions.
    SqlFault(id="set-in-transaction", requirement="S3", statement=r"in a transaction", change={"error": None}),
    SqlFault(id="persist-only-refused", requirement="S3", statement=r"SET PERSIST_ONLY", change={"error": 1766}),
    SqlFault(id="set-in-procedure", requirement="S3", statement=r"^CREATE PROCEDURE|^CALL", change={"error": None}),
    SqlFault(id="function-as-procedure", requirement="S3", statement=r"FUNCTION", change={"error": 1838}),
    SqlFault(id="prepared-refused", requirement="S3", statement=r"^EXECUTE", change={"error": 1295}),
    # Privileges.
    SqlFault(id="set-without-privilege", requirement="S4", statement=r"SET SESSION", change={"error": None}),
    SqlFault(id="no-right-to-global", requirement="S4", statement=r"SET GLOBAL", change={"error": 1045}),
    SqlFault(id="persist-only-as-global", requirement="S4", statement=r"SET PERSIST_ONLY", change={"error": 1227}),
    # The hint.
    SqlFault(id="hint-without-warning", requirement="S5", statement=r"SET_VAR", change={"warnings": ()}),
    SqlFault(id="hint-obeyed", requirement="S5", statement=r"^SELECT .*SET_VAR", change={"rows": _PARTIAL}),
    SqlFault(id="hint-obeyed-by-update", requirement="S5", statement=r"^UPDATE .*SET_VAR", change={"form": "whole"}),
    # Command line.
    SqlFault(id="starts-with-bad-value", requirement="S6", statement=r"=BAD", change={"error": None}),
    SqlFault(id="starts-without-argument", requirement="S6", statement=r"value-options$", change={"error": None}),
    SqlFault(id="option-forgotten", requirement="S6", statement=r"SELECT @@GLOBAL", change={"rows": (("BOTH",),)}),
    # Warning 1.
    SqlFault(id="1a-missing", requirement="W1a", statement=r"SET SESSION", change={"warnings": ()}),
    SqlFault(id="1a-twice", requirement="W1a", statement=r"SET SESSION", change={"warnings": (3645, 3645)}),
    SqlFault(id="1a-with-3", requirement="W1a", statement=r"SET SESSION", change={"warnings": (3645, 3647)}),
    SqlFault(id="1b-missing", requirement="W1b", statement=r"binlog_format='STATEMENT'", change={"warnings": (1287,)}),
    SqlFault(
        id="1b-order", requirement="W1b", statement=r"binlog_format='STATEMENT'", change={"warnings": (3645, 1287)}
    ),
    SqlFault(id="1b-log-bin-other", requirement="W1b", statement=r"sql_log_bin=0", change={"warnings": (3647,)}),
    SqlFault(id="1c-missing", requirement="W1c", statement=r"SET GLOBAL", change={"warnings": ()}),
    SqlFault(id="1c-persist-with-3", requirement="W1c", statement=r"SET PERSIST", change={"warnings": (3645, 3647)}),
    SqlFault(id="1d-missing", requirement="W1d", statement=r"SET GLOBAL", change={"warnings": (1287,)}),
    SqlFault(id="1d-as-3", requirement="W1d", statement=r"SET PERSIST", change={"warnings": (1287, 3647)}),
    SqlFault(id="1e-missing", requirement="W1e", statement=r"value-options=PARTIAL_JSON", change={"warnings": ()}),
    SqlFault(id="1e-as-3", requirement="W1e", statement=r"value-options=PARTIAL_JSON", change={"warnings": (13103,)}),
    *_TEXT_FAULTS,
    # Warning 3.
    SqlFault(id="1a-is-a-note", requirement="W1a", statement=r"SET SESSION", change={"notes": (3645,)}),
    SqlFault(id="1c-is-a-note", requirement="W1c", statement=r"SET GLOBAL", change={"notes": (3645,)}),
    SqlFault(id="3a-is-a-note", requirement="W3a", statement=r"SET SESSION", change={"notes": (3647,)}),
    SqlFault(id="3d-is-a-note", requirement="W3d", statement=r"SET PERSIST", change={"notes": (3647,)}),
    SqlFault(id="3a-missing", requirement="W3a", statement=r"SET SESSION", change={"warnings": ()}),
    SqlFault(id="3a-as-1", requirement="W3a", statement=r"SET SESSION", change={"warnings": (3645,)}),
    SqlFault(id="3b-missing", requirement="W3b", statement=r"row_image='FULL'", change={"warnings": ()}),
    SqlFault(id="3b-wrong-number", requirement="W3b", statement=r"row_image='FULL'", change={"warnings": (3646,)}),
    SqlFault(id="3c-missing", requirement="W3c", statement=r"SET GLOBAL", change={"warnings": ()}),
    SqlFault(id="3c-twice", requirement="W3c", statement=r"SET PERSIST", change={"warnings": (3647, 3647)}),
    SqlFault(id="3d-missing", requirement="W3d", statement=r"SET PERSIST", change={"warnings": ()}),
    SqlFault(id="3d-with-1", requirement="W3d", statement=r"SET GLOBAL", change={"warnings": (3645, 3647)}),
    SqlFault(id="3e-missing", requirement="W3e", statement=r"value-options=PARTIAL_JSON", change={"warnings": ()}),
    SqlFault(id="3e-as-1", requirement="W3e", statement=r"value-options=PARTIAL_JSON", change={"warnings": (13101,)}),
    # Neither warning: negatives.
    SqlFault(id="warned-when-turned-off", requirement="W0", statement=r"options=''", change={"warnings": (3647,)}),
    SqlFault(id="warned-for-mixed", requirement="W0", statement=r"format='MIXED'", change={"warnings": (1287, 3645)}),
    SqlFault(id="persist-only-warns", requirement="W0", statement=r"SET PERSIST_ONLY", change={"warnings": (3645,)}),
    SqlFault(id="noblob-warns", requirement="W0", statement=r"image='NOBLOB'", change={"warnings": (3647,)}),
    # The seven conditions: the form of one update.
    SqlFault(id="logged-though-disabled", requirement="D1", statement=r"^UPDATE", change={"form": "none"}),
    SqlFault(id="d1-whole", requirement="D1", statement=r"^UPDATE", change={"form": "whole"}),
    SqlFault(id="d2-old-event", requirement="D2", statement=r"^UPDATE", change={"form": "full"}),
    SqlFault(id="d2-query", requirement="D2", statement=r"^UPDATE", change={"form": "query"}),
    SqlFault(id="d3-rows-for-statement", requirement="D3", statement=r"'\$\.a',2", change={"form": "partial"}),
    SqlFault(id="d3-statement-for-rows", requirement="D3", statement=r"UUID", change={"form": "query"}),
    SqlFault(id="d5-remove-not-partial", requirement="D5", statement=r"JSON_REMOVE\(j", change={"form": "whole"}),
    SqlFault(id="d5-insert-partial", requirement="D5", statement=r"JSON_INSERT", change={"form": "partial"}),
    SqlFault(id="d6-equal-size-partial", requirement="D6", statement=r"'xxxx'", change={"form": "whole"}),
    SqlFault(id="d6-holes-forgotten", requirement="D6", statement=r"'yyyy'", change={"form": "whole"}),
    SqlFault(id="d7-diffs-before", requirement="D7", statement=r"^UPDATE", change={"form": "diffs in a before-image"}),
    SqlFault(id="d7-untouched-whole", requirement="D7", statement=r"n=n\+1", change={"form": "whole"}),
    # What requirements 2 adds: joins, what does not disqualify, statements that are no updates, NOBLOB.
    SqlFault(id="first-of-join-whole", requirement="D10", statement=r"t STRAIGHT_JOIN t2", change={"form": "whole"}),
    SqlFault(
        id="second-of-join-partial", requirement="D10", statement=r"t2 STRAIGHT_JOIN t ", change={"form": "partial"}
    ),
    SqlFault(id="view-whole", requirement="D11", statement=r"^UPDATE v", change={"form": "whole"}),
    SqlFault(id="partitions-whole", requirement="D11", statement=r"partitions does not", change={"form": "whole"}),
    SqlFault(id="generated-column-lost", requirement="D11", statement=r"stored-column", change={"form": "none"}),
    SqlFault(id="duplicate-partial", requirement="D12", statement=r"ON DUPLICATE KEY", change={"form": "partial"}),
    SqlFault(id="myisam-partial", requirement="D12", statement=r"the engine has no", change={"form": "partial"}),
    SqlFault(id="noblob-without-json", requirement="D14", statement=r"n=n\+1", change={"form": "none-json"}),
    SqlFault(id="noblob-off-as-on", requirement="D14", statement=r"leaves out no JSON", change={"form": "whole"}),
)
