"""GTIDs: transactions without one, with one, with a tag; the sets at the start of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, Written, recorded, words
from conformance.checks.decoders.suite.rewrite import laid, parts_of
from conformance.reference.binlog.gtid_set import PreviousGtids

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.declare import Recorded

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"
_UUID: Final = "11111111-2222-3333-4444-555555555555"
_OTHER: Final = "99999999-8888-7777-6666-555555555555"
_TAGGED: Final = (
    "Event 42 is newer than most decoders: as an unknown event it ends some streams (go-mysql #845, debezium #7504)."
)
_WHY: Final = "A consumer resumes from the GTID: a wrong one repeats or loses transactions."
_SET: Final = "A set in the tagged form has other counts and a tag for each entry: readers of the old form fail at the second event of the file."


def _next(gtid: str) -> str:
    return f"SET SESSION gtid_next = '{gtid}'"


def _gtid(
    name: str,
    title: str,
    why: str,
    *statements: str,
    prepare: tuple[str, ...] = (),
    setting: Setting | None = None,
    requirements: str = "DEC17",
) -> Recorded:
    return recorded(
        f"gtid/{name}",
        title,
        why,
        requirements,
        setting=setting or Setting(gtids=True),
        prepare=(_TABLE, *prepare),
        statements=statements,
    )


_PARTIAL: Final = (
    "CREATE TABLE u (id INT PRIMARY KEY, j JSON)",
    "INSERT INTO u VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)))",
)
_INSERT: Final = "INSERT INTO t VALUES ({0}, 'row {0}')"


def _insert(number: int) -> str:
    return _INSERT.format(number)


def _empty_tagged(bases: Mapping[str, DecoderCase]) -> bytes:
    parts = parts_of(bases["gtid/anonymous"])
    return laid([
        type(part)(PreviousGtids(tagged=True), part.timestamp, part.server_id, part.flags) if isinstance(part.body, PreviousGtids) else part
        for part in parts
    ])  # fmt: skip


CASES: Final = (
    _gtid("anonymous", "Transactions without GTIDs", "ANONYMOUS_GTID stands where GTIDs are off.", _insert(1), _insert(2), setting=Setting()),
    _gtid("normal", "A transaction with a GTID", _WHY, _next(f"{_UUID}:7"), _insert(1), _next("AUTOMATIC")),
    _gtid("automatic", "Two transactions whose GTIDs the server chose", _WHY, _insert(1), _insert(2)),
    _gtid("several-sources", "GTIDs of two servers in turn", _WHY, _next(f"{_UUID}:7"), _insert(1), _next(f"{_OTHER}:1"), _insert(2), _next(f"{_UUID}:8"), _insert(3), _next("AUTOMATIC")),
    _gtid("largest-number", "The largest number of a GTID", "Numbers are 64 bits.", _next(f"{_UUID}:9223372036854775806"), _insert(1), _next("AUTOMATIC")),
    _gtid("tagged", "A transaction with a tag in its GTID", _TAGGED, _next(f"{_UUID}:some_tag:7"), _insert(1), _next("AUTOMATIC")),
    _gtid("tagged-automatic", "A tag, and a number that the server chose", _TAGGED, _next("AUTOMATIC:auto_tag"), _insert(1), _insert(2), _next("AUTOMATIC")),
    _gtid("tag-of-32", "The longest tag, and one of a single letter", "Tags have 1 to 32 characters.", _next(f"{_UUID}:{'t' * 32}:1"), _insert(1), _next(f"{_UUID}:_:2"), _insert(2), _next("AUTOMATIC")),
    _gtid("tagged-largest-number", "The largest number with a tag", "Numbers are written with one to nine bytes in this event.", _next(f"{_UUID}:x:9223372036854775806"), _insert(1), _next("AUTOMATIC")),
    _gtid("tagged-between", "A tagged transaction between two without a tag", "What comes behind the unknown event is lost where it ends the stream.", _next(f"{_UUID}:1"), _insert(1), _next(f"{_UUID}:x:1"), _insert(2), _next(f"{_UUID}:2"), _insert(3), _next("AUTOMATIC")),
    _gtid("tagged-partial", "A partial update under a tagged GTID", _TAGGED, _next(f"{_UUID}:x:1"), "UPDATE u SET j = JSON_SET(j, '$.a', 2)", _next("AUTOMATIC"), prepare=_PARTIAL, setting=Setting(gtids=True, partial=True), requirements="DEC17 DEC1"),
    _gtid("tagged-compressed", "A compressed partial update under a tagged GTID", "Three events that old decoders do not know in one transaction.", _next(f"{_UUID}:x:1"), "UPDATE u SET j = JSON_SET(j, '$.a', 2)", _next("AUTOMATIC"), prepare=_PARTIAL, setting=Setting(gtids=True, partial=True, compressed=True), requirements="DEC17 DEC16 DEC1"),
    _gtid("empty-transaction", "An empty transaction with a GTID in front of one with rows", "It uses a GTID up and has no rows.", _next(f"{_UUID}:7"), "COMMIT", _next(f"{_UUID}:8"), _insert(1), _next("AUTOMATIC")),
    _gtid("previous-gtids", "A set of earlier GTIDs at the start of the file", "The second event of the file is skipped or read, never an error.", _insert(3), prepare=(_next(f"{_UUID}:7"), _insert(1), _next("AUTOMATIC"), _insert(2))),
    _gtid("previous-gtids-intervals", "A set of two servers with gaps", "Intervals end before their second number.", _insert(9), prepare=(*(statement for number in (1, 2, 5, 7) for statement in (_next(f"{_UUID}:{number}"), _insert(number))), _next(f"{_OTHER}:1000000"), _insert(8), _next("AUTOMATIC"))),
    _gtid("tagged-previous-gtids", "A set with a tagged entry at the start of the file", _SET, _insert(3), prepare=(_next(f"{_UUID}:x:7"), _insert(1), _next("AUTOMATIC"), _insert(2))),
    _gtid("tagged-previous-gtids-many", "A set with several tags of one server", _SET, _insert(9), prepare=(*(statement for number, tag in enumerate(("a:", "b:", "", "abc_def:"), 1) for statement in (_next(f"{_UUID}:{tag}{number}"), _insert(number))), _next("AUTOMATIC"))),
    Written(
        id="gtid/tagged-previous-gtids-empty", title="An empty set in the tagged form", why="The count stands in other bytes of the first eight: read as a plain count it is enormous.", requirements=words("DEC17"),
        build=_empty_tagged, same_as="gtid/anonymous",
    ),
)  # fmt: skip
