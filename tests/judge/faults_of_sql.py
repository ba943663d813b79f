"""Answers of a server that errs to statements about the option: planted from requirements 1 and requirements 2.

Each fault doctors one answer of an otherwise perfect server: the first judged statement of its requirement whose text
matches. Written down before the checks that must catch them.
"""

from __future__ import annotations

from typing import Any, Final

from tests.faults.fault import Fault


def answered(name: str, requirement: str, statement: str, **change: Any) -> Fault:
    """``statement``: a pattern of the statement, or of the options of a start. ``change``: a field of its answer
    (error, warnings, text, rows, form) and what it becomes; ``texts``: the text that its warnings get, or some words of
    theirs and those in their place."""
    return Fault(name, requirement, name, change, at=statement)


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
    answered(f"{warning}-text-{name}", f"W{warning}.text", statement, texts=change)
    for warning, rows in ((1, _TEXTS_1), (3, _TEXTS_3))
    for name, statement, change in rows
)

SQL_FAULTS: Final = (
    # Values.
    answered("name-refused", "S1", r"SET .*= 'partial_json'$", error=1231),
    answered("name-kept-out", "S1", r"SELECT @@SESSION", rows=(("BOTH",),)),
    answered("unknown-name-taken", "S1", r"SET .*= 'invalid'$", error=None),
    answered("null-taken", "S1", r"SET .*= NULL$", error=None),
    answered("number-2-as-wrong-type", "S1", r"SET .*= 2$", error=1232),
    answered("decimal-as-wrong-value", "S1", r"SET .*= 1\.5$", error=1231),
    answered("bad-name-not-named", "S1", r"SET .*= 'PARTIAL_JSON,bad'$",
             text="Variable 'binlog_row_value_options' can't be set"),
    # Scopes.
    answered("global-touches-open-session", "S2", r"SELECT @@SESSION", rows=_PARTIAL),
    answered("default-is-compiled-in", "S2", r"copied by DEFAULT", rows=_EMPTY),
    answered("new-session-starts-empty", "S2", r"of a new session", rows=_EMPTY),
    # Restrictions.
    answered("set-in-transaction", "S3", r"in a transaction", error=None),
    answered("persist-only-refused", "S3", r"SET PERSIST_ONLY", error=1766),
    answered("set-in-procedure", "S3", r"^CREATE PROCEDURE|^CALL", error=None),
    answered("function-as-procedure", "S3", r"FUNCTION", error=1838),
    answered("prepared-refused", "S3", r"^EXECUTE", error=1295),
    # Privileges.
    answered("set-without-privilege", "S4", r"SET SESSION", error=None),
    answered("no-right-to-global", "S4", r"SET GLOBAL", error=1045),
    answered("persist-only-as-global", "S4", r"SET PERSIST_ONLY", error=1227),
    # The hint.
    answered("hint-without-warning", "S5", r"SET_VAR", warnings=()),
    answered("hint-obeyed", "S5", r"^SELECT .*SET_VAR", rows=_PARTIAL),
    answered("hint-obeyed-by-update", "S5", r"^UPDATE .*SET_VAR", form="whole"),
    # Command line.
    answered("starts-with-bad-value", "S6", r"=BAD", error=None),
    answered("starts-without-argument", "S6", r"value-options$", error=None),
    answered("option-forgotten", "S6", r"SELECT @@GLOBAL", rows=(("BOTH",),)),
    # Warning 1.
    answered("1a-missing", "W1a", r"SET SESSION", warnings=()),
    answered("1a-twice", "W1a", r"SET SESSION", warnings=(3645, 3645)),
    answered("1a-with-3", "W1a", r"SET SESSION", warnings=(3645, 3647)),
    answered("1b-missing", "W1b", r"binlog_format='STATEMENT'", warnings=(1287,)),
    answered("1b-order", "W1b", r"binlog_format='STATEMENT'", warnings=(3645, 1287)),
    answered("1b-log-bin-other", "W1b", r"sql_log_bin=0", warnings=(3647,)),
    answered("1c-missing", "W1c", r"SET GLOBAL", warnings=()),
    answered("1c-persist-with-3", "W1c", r"SET PERSIST", warnings=(3645, 3647)),
    answered("1d-missing", "W1d", r"SET GLOBAL", warnings=(1287,)),
    answered("1d-as-3", "W1d", r"SET PERSIST", warnings=(1287, 3647)),
    answered("1e-missing", "W1e", r"value-options=PARTIAL_JSON", warnings=()),
    answered("1e-as-3", "W1e", r"value-options=PARTIAL_JSON", warnings=(13103,)),
    *_TEXT_FAULTS,
    # Warning 3.
    answered("1a-is-a-note", "W1a", r"SET SESSION", notes=(3645,)),
    answered("1c-is-a-note", "W1c", r"SET GLOBAL", notes=(3645,)),
    answered("3a-is-a-note", "W3a", r"SET SESSION", notes=(3647,)),
    answered("3d-is-a-note", "W3d", r"SET PERSIST", notes=(3647,)),
    answered("3a-missing", "W3a", r"SET SESSION", warnings=()),
    answered("3a-as-1", "W3a", r"SET SESSION", warnings=(3645,)),
    answered("3b-missing", "W3b", r"row_image='FULL'", warnings=()),
    answered("3b-wrong-number", "W3b", r"row_image='FULL'", warnings=(3646,)),
    answered("3c-missing", "W3c", r"SET GLOBAL", warnings=()),
    answered("3c-twice", "W3c", r"SET PERSIST", warnings=(3647, 3647)),
    answered("3d-missing", "W3d", r"SET PERSIST", warnings=()),
    answered("3d-with-1", "W3d", r"SET GLOBAL", warnings=(3645, 3647)),
    answered("3e-missing", "W3e", r"value-options=PARTIAL_JSON", warnings=()),
    answered("3e-as-1", "W3e", r"value-options=PARTIAL_JSON", warnings=(13101,)),
    # Neither warning: negatives.
    answered("warned-when-turned-off", "W0", r"options=''", warnings=(3647,)),
    answered("warned-for-mixed", "W0", r"format='MIXED'", warnings=(1287, 3645)),
    answered("persist-only-warns", "W0", r"SET PERSIST_ONLY", warnings=(3645,)),
    answered("noblob-warns", "W0", r"image='NOBLOB'", warnings=(3647,)),
    # The seven conditions: the form of one update.
    answered("logged-though-disabled", "D1", r"^UPDATE", form="none"),
    answered("d1-whole", "D1", r"^UPDATE", form="whole"),
    answered("d2-old-event", "D2", r"^UPDATE", form="full"),
    answered("d2-query", "D2", r"^UPDATE", form="query"),
    answered("d3-rows-for-statement", "D3", r"'\$\.a',2", form="partial"),
    answered("d3-statement-for-rows", "D3", r"UUID", form="query"),
    answered("d5-remove-not-partial", "D5", r"JSON_REMOVE\(j", form="whole"),
    answered("d5-insert-partial", "D5", r"JSON_INSERT", form="partial"),
    answered("d6-equal-size-partial", "D6", r"'xxxx'", form="whole"),
    answered("d6-holes-forgotten", "D6", r"'yyyy'", form="whole"),
    answered("d7-diffs-before", "D7", r"^UPDATE", form="diffs in a before-image"),
    answered("d7-untouched-whole", "D7", r"n=n\+1", form="whole"),
    # What requirements 2 adds: joins, what does not disqualify, statements that are no updates, NOBLOB.
    answered("first-of-join-whole", "D10", r"t STRAIGHT_JOIN t2", form="whole"),
    answered("second-of-join-partial", "D10", r"t2 STRAIGHT_JOIN t ", form="partial"),
    answered("view-whole", "D11", r"^UPDATE v", form="whole"),
    answered("partitions-whole", "D11", r"partitions does not", form="whole"),
    answered("generated-column-lost", "D11", r"stored-column", form="none"),
    answered("duplicate-partial", "D12", r"ON DUPLICATE KEY", form="partial"),
    answered("myisam-partial", "D12", r"the engine has no", form="partial"),
    answered("noblob-without-json", "D14", r"n=n\+1", form="none-json"),
    answered("noblob-off-as-on", "D14", r"leaves out no JSON", form="whole"),
)  # fmt: skip
