"""The values of the dialect table's rows, from the answers of a live server (versions 11).

Answers are a flat mapping from a question to text, a number, or hexadecimal bytes; the module
``conformance.harness.version_probes`` asks. The mapping lacks a question that could not be asked; ``None`` is the
answer that there is no such thing. A probe that cannot decide from the answers raises :class:`Undecided`; it never
guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.rows import ROWS_TYPES, V1_TYPES, LazyRows, PartitionInfo
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.tables.metadata import Field
from conformance.reference.tables.table_map import TableMap
from conformance.requirements.versions import SWITCHES, Cell, Value, text_of

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import Dialect
    from conformance.requirements.versions import Version

Answers: TypeAlias = Mapping[str, Any]

VARIABLES: Final = (
    "binlog_row_value_options", "log_bin_use_v1_row_events", "sql_generate_invisible_primary_key",
    "binlog_transaction_compression", "enable_cascade_triggers", "default_table_encryption", "sql_require_primary_key",
    "replica_parallel_workers", "slave_parallel_workers", "gtid_mode", "persisted_globals_load",
)  # fmt: skip
COMPILED: Final = ("gtid_mode", "log_bin", "server_id", "replica_parallel_workers", "slave_parallel_workers")
# Statements that are only parsed: 1064 is the answer of a server that does not know the words.
STATEMENTS: Final = {
    "json": "SELECT CAST('1' AS JSON)",
    "vector": "CREATE TABLE binlog_lab_probe (v VECTOR(2))",
    "change SOURCE": "CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY = 1",
    "change MASTER": "CHANGE MASTER TO MASTER_CONNECT_RETRY = 1",
    "replica REPLICA": "SHOW REPLICA STATUS",
    "replica SLAVE": "SHOW SLAVE STATUS",
    "log BINARY LOG STATUS": "SHOW BINARY LOG STATUS",
    "log MASTER STATUS": "SHOW MASTER STATUS",
    "reset BINARY LOGS AND GTIDS": "RESET BINARY LOGS AND GTIDS",
    "reset MASTER": "RESET MASTER",
}
NOT_UNDERSTOOD: Final = 1064
FAST_AND_EXACT: Final = "-1.1030161663305387"  # the two parsers read it differently
TAGGED_SET: Final = "3e11fa47-71ca-11e1-9e33-c80aa9429562:tag:1"
NO_V1_ROWS: Final = 1730
_FORMS: Final = ("log", "json")  # parts of the dialect


class Undecided(Exception):
    """The answers do not decide the value."""


def probe(row: str, answers: Answers) -> Value:
    """The value of a row as this server shows it. Raises :class:`Undecided`."""
    if row not in _PROBES:
        raise Undecided("a running server cannot be asked for it")
    return _PROBES[row](answers)


def has_probe(row: str) -> bool:
    """Whether there is a question for a row."""
    return row in _PROBES


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A row beside what the server showed. ``found`` is text for reports; ``agrees`` is ``None`` where the server
    showed nothing."""

    row: str
    cell: Cell
    found: Value
    agrees: bool | None
    note: str = ""

    @property
    def contradicts(self) -> bool:
        """A finding about the table: it has a certain value, and the server shows another."""
        return self.agrees is False and not self.cell.probe


def probe_all(version: Version, answers: Answers) -> tuple[Probed, ...]:
    """All rows of the table for a server of this version."""
    out = []
    for row, switch in SWITCHES.items():
        cell = switch.at(version)
        try:
            found = probe(row, answers)
        except Undecided as undecided:
            out.append(Probed(row=row, cell=cell, found=None, agrees=None, note=str(undecided)))
        except (CodecError, ValueError, LookupError, TypeError) as error:  # bytes and texts of an unknown server
            words = f": {error}" if isinstance(error, CodecError) else ""  # Python's own words depend on its version
            note = f"the answer makes no sense: {type(error).__name__}{words}"
            out.append(Probed(row=row, cell=cell, found=None, agrees=None, note=note))
        else:
            agrees = found == cell.value or (row in _AT_LEAST and _at_least(cell.value, found))
            out.append(Probed(row=row, cell=cell, found=found, agrees=agrees))
    return tuple(out)


# Rows of which a log shows a lower bound only: a commit group ticket is written where it is not zero.
_AT_LEAST: Final = frozenset({"gtid_extra"})


def _at_least(predicted: Value, found: Value) -> bool:
    return isinstance(predicted, int) and isinstance(found, int) and predicted == found + 1 == 4


# --- reading the answers ---------------------------------------------------------------------------------------------


def _ask(answers: Answers, question: str) -> Any:
    if question not in answers:
        raise Undecided(f"not asked: {question}")
    return answers[question]


def _has(variable: str) -> Callable[[Answers], Value]:
    return lambda answers: _ask(answers, f"variable {variable}") is not None


def _understood(name: str) -> Callable[[Answers], Value]:
    return lambda answers: _ask(answers, f"statement {name}") != NOT_UNDERSTOOD


def _words(kind: str, *forms: str) -> Callable[[Answers], Value]:
    """The first of the keywords that the server understands. Versions in between know both."""

    def find(answers: Answers) -> Value:
        known = [form for form in forms if _ask(answers, f"statement {kind} {form}") != NOT_UNDERSTOOD]
        if len(known) != 1:
            raise Undecided(f"understood: {', '.join(known) or 'none'}")
        return known[0]

    return find


def _compiled(*names: str, number: bool = False, switch: bool = False) -> Callable[[Answers], Value]:
    def find(answers: Answers) -> Value:
        for name in names:
            value = answers.get(f"default {name}")
            if value is not None:
                return int(value) if number else value == "ON" if switch else str(value)
        raise Undecided("the lab, or its owner, told the server otherwise, or the server does not say what is compiled")

    return find


def events_of(answers: Answers, name: str) -> list[Event]:
    """Captured events of a statement, decoded with the description of their file."""
    description = bytes.fromhex(_ask(answers, "description"))
    decoder = EventDecoder()
    decoder.decode(description)
    return [decoder.decode(bytes.fromhex(event)) for event in _ask(answers, f"events {name}")]


def _description(answers: Answers) -> FormatDescription:
    body = EventDecoder().decode(bytes.fromhex(_ask(answers, "description"))).body
    assert isinstance(body, FormatDescription)
    return body


def _table_map(answers: Answers, name: str) -> TableMap:
    found = [event.body for event in events_of(answers, name) if isinstance(event.body, TableMap)]
    if not found:
        raise Undecided("no TABLE_MAP was written")
    return found[0]


def _rows(answers: Answers, name: str) -> LazyRows:
    found = [event.body for event in events_of(answers, name) if isinstance(event.body, LazyRows)]
    if not found:
        raise Undecided("no row event was written")
    return found[0]


def _group_begin(answers: Answers) -> Event | None:
    """The GTID event of the first group, if there is one."""
    kinds = (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED)
    return next((event for event in events_of(answers, "insert") if event.header.type in kinds), None)


# --- the rows --------------------------------------------------------------------------------------------------------


def _v1_deprecated(answers: Answers) -> Value:
    if _ask(answers, "variable log_bin_use_v1_row_events") is None:
        return None
    return bool(1287 in _ask(answers, "warnings v1"))


def _reads_v1(answers: Answers) -> Value:
    error = _ask(answers, "binlog v1")
    if error not in (0, NO_V1_ROWS):
        raise Undecided(f"the BINLOG statement gave {error}")
    return bool(error == 0)


def _v1_header(answers: Answers) -> Value:
    lengths = {_description(answers).post_header_length(code) for code in V1_TYPES}
    if len(lengths) != 1:
        raise Undecided(f"lengths {sorted(map(str, lengths))}")
    return lengths.pop()


def _gtid_extra(answers: Answers) -> Value:
    event = _group_begin(answers)
    if event is None:
        return 0
    body = event.body
    assert isinstance(body, Gtid | GtidTagged)
    if body.commit_group_ticket is not None:
        return 4
    steps = (body.immediate_commit_timestamp, body.transaction_length, body.immediate_server_version)
    return sum(step is not None for step in steps)


def _without_gtids(answers: Answers) -> None:
    if _ask(answers, "variable gtid_mode") != "OFF":
        raise Undecided("the server has GTIDs")


def _previous_gtids(answers: Answers) -> Value:
    _without_gtids(answers)
    return bool(_ask(answers, "second event") == EventType.PREVIOUS_GTIDS)


def _anonymous(answers: Answers) -> Value:
    _without_gtids(answers)
    begin = _group_begin(answers)
    return begin is not None and begin.header.type == EventType.ANONYMOUS_GTID


def _tlv_max(answers: Answers) -> Value:
    if not _table_map(answers, "insert").metadata:
        return 0
    return max((field.field for field in _table_map(answers, "metadata").metadata), default=0)


def _year(answers: Answers) -> Value:
    """Columns id INT, y YEAR, i INT UNSIGNED: the bits are 0 1 1 with the year, 0 1 without."""
    for field in _table_map(answers, "insert").metadata:
        if field.field == Field.SIGNEDNESS:
            return getattr(field, "bits", ()) == (False, True, True)
    return None


def _padding(answers: Answers) -> Value:
    """The first insert has three columns: five bits of its null bitmap are unused."""
    unused = _rows(answers, "insert").data[0] >> 3
    if unused not in (0, 0x1F):
        raise Undecided(f"unused bits {unused:05b}")
    return int(unused == 0x1F)


def _partition(answers: Answers) -> Value:
    return any(isinstance(info, PartitionInfo) for info in _rows(answers, "partition").extra)


def _status_max(answers: Answers) -> Value:
    """The highest code of a status variable, from the system variables that the codes stand for."""
    for code, name in (
        (21, "enable_cascade_triggers"),
        (20, "default_table_encryption"),
        (19, "sql_require_primary_key"),
    ):
        if _ask(answers, f"variable {name}") is not None:
            return code
    return 16


def _through_view(answers: Answers) -> Value:
    if _ask(answers, "variable binlog_row_value_options") is None:
        return None
    rows = [event.body for event in events_of(answers, "view") if event.header.type in ROWS_TYPES]
    if not rows or not isinstance(rows[0], LazyRows) or rows[0].type != EventType.PARTIAL_UPDATE_ROWS:
        raise Undecided("the update was not logged as event 39")
    return bool(next(rows[0].rows()).partial_columns)


def _rows_query(answers: Answers) -> Value:
    found = [event.body for event in events_of(answers, "rows query") if isinstance(event.body, RowsQuery)]
    if not found:
        raise Undecided("no ROWS_QUERY was written")
    known = {0: "zero", len(found[0].text) & 0xFF: "low-byte"}
    if found[0].length_byte not in known:
        raise Undecided(f"the byte is {found[0].length_byte}, for {len(found[0].text)} bytes")
    return known[found[0].length_byte]


def _time_hours(answers: Answers) -> Value:
    """Return which hours of 838:59:59 a document keeps: all, or those of a datetime.

    Of the latter, its text as it was made shows the hours of the last day alone.
    """
    text = _ask(answers, "text time")
    hours = {'"838:59:59.000000"': "all", '"06:59:59.000000"': "of-datetime"}
    if text is not None and text not in list(hours):  # a list: no answer has to be hashable
        raise Undecided(f"the time is {text!r}")
    return None if text is None else hours[text]


def _text_double(answers: Answers) -> Value:
    text = _ask(answers, "text parsed double")
    return None if text is None else "exact" if text == FAST_AND_EXACT else "fast"


def _printed_json(answers: Answers) -> Value:
    if _ask(answers, "statement json") == NOT_UNDERSTOOD:
        return None
    return "text" if _ask(answers, "printed json") else "bytes"


def _printed_flags(answers: Answers) -> Value:
    return "list" if "RELAXED_UNIQUE_CHECKS_F" in _ask(answers, "printed flags") else "STMT_END_F"


def _skips_unknown(answers: Answers) -> Value:
    if not _table_map(answers, "insert").metadata:
        return None
    return "UNSIGNED" not in _ask(answers, "printed metadata")


def _replica_variables(answers: Answers) -> Value:
    return "replica_" if _ask(answers, "variable replica_parallel_workers") is not None else "slave_"


def _native(answers: Answers) -> Value:
    status = _ask(answers, "plugin mysql_native_password")
    return "gone" if status is None else "on" if status == "ACTIVE" else "off"


def _pages(new: frozenset[int], old: frozenset[int]) -> Callable[[Answers], frozenset[int]]:
    return lambda answers: frozenset(_ask(answers, "page types")) & (new | old)


_NEW_LOB, _OLD_LOB, _SDI = frozenset(range(22, 30)), frozenset((10, 11, 12)), 17853


def _lob_format(answers: Answers) -> Value:
    found = _pages(_NEW_LOB, _OLD_LOB)(answers)
    if not found:
        raise Undecided("no page of a long column was found")
    return "new" if found & _NEW_LOB else "old"


_PROBES: Final[dict[str, Callable[[Answers], Value]]] = {
    "has_json": _understood("json"),
    "has_event39": _has("binlog_row_value_options"),
    "has_v1_option": _has("log_bin_use_v1_row_events"),
    "v1_option_deprecated": _v1_deprecated,
    "reads_v1_rows": _reads_v1,
    "fde_types": lambda answers: len(_description(answers).post_header_lengths),
    "fde_v1_header_len": _v1_header,
    "gtid_post_header": lambda answers: _description(answers).post_header_length(EventType.GTID),
    "gtid_extra": _gtid_extra,
    "tagged_gtid": lambda answers: _ask(answers, "text tagged set") is not None,
    "previous_gtids_always": _previous_gtids,
    "anonymous_gtid": _anonymous,
    "tlv_max": _tlv_max,
    "signedness_counts_year": _year,
    "null_bitmap_padding": _padding,
    "reader_skips_unknown_tlv": _skips_unknown,
    "partition_chunk": _partition,
    "gipk_flag": _has("sql_generate_invisible_primary_key"),
    "rows_flags_mask": lambda answers: 0x1F if _rows(answers, "insert").flags & 0x10 else 0x0F,
    "rows_query_length": _rows_query,
    "query_status_max": _status_max,
    "payload_event": _has("binlog_transaction_compression"),
    "partial_through_view": _through_view,
    "json_text_double": _text_double,
    "json_time_hours": _time_hours,
    "json_double_text": lambda answers: _ask(answers, "text double"),
    "corrupt_event_symbol": lambda answers: _ask(answers, "symbol 1610"),
    "change_source_syntax": _words("change", "SOURCE", "MASTER"),
    "replica_syntax": _words("replica", "REPLICA", "SLAVE"),
    "log_status_syntax": _words("log", "BINARY LOG STATUS", "MASTER STATUS"),
    "reset_syntax": _words("reset", "BINARY LOGS AND GTIDS", "MASTER"),
    "replica_var_names": _replica_variables,
    "gtid_mode_default": _compiled("gtid_mode"),
    "log_bin_default": _compiled("log_bin", switch=True),
    "server_id_default": _compiled("server_id", number=True),
    "binlog_format_deprecated": lambda answers: 1287 in _ask(answers, "warnings format"),
    "applier_workers_default": _compiled("replica_parallel_workers", "slave_parallel_workers", number=True),
    "auth_default": lambda answers: _ask(answers, "plugin of an account"),
    "native_password": _native,
    "persist": _has("persisted_globals_load"),
    "lob_format": _lob_format,
    "sdi": lambda answers: _SDI in _ask(answers, "page types"),
    "mysqlbinlog_json_text": _printed_json,
    # In front of the variable: a Query event behind it sets its own character sets, in all versions.
    "mysqlbinlog_variable_charset": lambda answers: (
        "character_set_client" in str(_ask(answers, "printed variable")).partition("SET @`v`")[0]
    ),
    "mysqlbinlog_flag_list": _printed_flags,
    "vector_type": _understood("vector"),
}


def value_words(value: Value) -> str:
    """A value of the table, for reports."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def row_of(probed: Probed) -> dict[str, Any]:
    """The row in the result stream."""
    cell = probed.cell
    out: dict[str, Any] = {
        "row": probed.row, "predicted": value_words(cell.value), "known": not cell.probe, "mark": cell.mark,
    }  # fmt: skip
    if probed.agrees is None:
        return out | {"note": probed.note}
    return out | {"found": value_words(probed.found), "agrees": probed.agrees}


def dialect_as_shown(dialect: Dialect, probed: tuple[Probed, ...]) -> Dialect:
    """The dialect with the values of the server where they differ from the table's.

    The forms of events and documents that the table knows for a version stand: a server that writes others is judged by
    them, and not taken for an older one.
    """
    for item in probed:
        switch = SWITCHES[item.row]
        known = item.contradicts and switch.part in _FORMS
        if item.agrees is False and not known:
            part = replace(getattr(dialect, switch.part), **{switch.name: item.found})
            dialect = replace(dialect, **{switch.part: part})
    return dialect


def contradiction_words(version: Version, probed: Probed) -> str:
    """A contradiction as text."""
    cell = probed.cell
    return (
        f"the dialect table says {probed.row} = {value_words(cell.value)} from {text_of(cell.since)} on ({cell.mark}), "
        f"a server of version {text_of(version)} shows {value_words(probed.found)}"
    )
