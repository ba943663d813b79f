"""Differences between servers, and between a server and the worklogs, as small frozen parts.

Three parts are about reading, behaviour and field numbers. Four parts say what a version writes, prints, calls things
and supports. Their defaults are those of 9.7. No other code asks for a version; a table in ``conformance.requirements``
gives each version its values. ``None``: the switch makes no sense for that version.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRules:
    """How lenient a reader of bytes is."""

    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBehaviour:
    """Choices that the worklog leaves to the server, and behaviour of a server that contradicts the worklog."""

    partial_remove: bool = True  # JSON_REMOVE can be logged as a diff; the worklog's condition 5 omits it
    refuse_unchanging_replace: bool = True  # in place, a REPLACE that changes no byte gives 3648 (partial-update 8.1)
    null_takes_empty_diffs: bool = True  # empty diffs turn SQL NULL into JSON null (partial-update 8.4)
    stores_invalid_text: bool = True  # strings and keys of a diff may be invalid UTF-8 (partial-update 8.5)
    reads_wide_decimals: bool = True  # of a diff, with a digit too many; 1032 where one is written (requirements, FR5)
    copies_full_values: bool = True  # the applier stores a full value without checking it (requirements FR5)
    diffs_miss_triggers: bool = True  # the log has the SET clause's diffs, not a BEFORE trigger's change (FR2)
    looks_up_by_before_image: bool = True  # without a key: documents equal by = and as text, or no row is found (FR4)
    nests_without_limit: bool = True  # in place, a document may get deeper than 100 levels (partial-update 8.3)
    empties_damaged_keys: bool = True  # of a diff, a key that points elsewhere may be read as "" (requirements FR5)
    storage_misses_triggers: bool = True  # of an off-page document only the SET clause's ranges are stored (FR2)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNumbering:
    """Numbers that the worklog and the shipped server assign differently (table-map-metadata 4)."""

    worklog_metadata: bool = False  # WL#4618 numbers 7, 8, 9 of the optional table metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class LogForms:
    """The form of a version's binary log: what the version writes, and what it reads (versions 5, versions 11)."""

    has_event39: bool = True
    reads_v1_rows: bool = False
    fde_types: int = 42  # entries in the table of post-header lengths
    fde_v1_header_len: int = 0
    gtid_post_header: int = 42
    gtid_extra: int = 4  # 1 timestamps, 2 and the length, 3 and the versions, 4 and the commit group ticket
    tagged_gtid: bool = True
    previous_gtids_always: bool = True
    anonymous_gtid: bool = True
    tlv_max: int = 13
    signedness_counts_year: bool | None = True
    null_bitmap_padding: int = 0
    reader_skips_unknown_tlv: bool | None = False
    partition_chunk: bool = True
    gipk_flag: bool = True
    rows_flags_mask: int = 0x1F
    row_end_checked: bool = True  # by the applier: a row that goes beyond its event is error 1610
    rows_query_length: str = "zero"  # or low-byte: what stands in front of the statement in ROWS_QUERY
    query_status_max: int = 21
    payload_event: bool = True
    partial_through_view: bool | None = True  # versions 6.3
    vector_type: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonForms:
    """How a version reads and prints JSON text (versions 6.1, versions 6.2)."""

    exists: bool = True
    text_double: str | None = "exact"  # or fast
    double_text: str | None = "1.0"  # or 1
    time_hours: str | None = "all"  # or of-datetime: 24 are kept of every 32 hours of a TIME (jsonb 4.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTerms:
    """The names that a version uses in statements and messages (versions 2 to 4)."""

    corrupt_event_symbol: str = "ER_REPLICA_CORRUPT_EVENT"
    change_source: str = "SOURCE"
    replica: str = "REPLICA"
    log_status: str = "BINARY LOG STATUS"
    reset_logs: str = "BINARY LOGS AND GTIDS"
    replica_variables: str = "replica_"

    @property
    def change(self) -> str:
        """The statement that points a replica at a source, without its options."""
        return "CHANGE REPLICATION SOURCE TO" if self.change_source == "SOURCE" else "CHANGE MASTER TO"

    @property
    def replica_status(self) -> str:
        """The statement that shows a replica's threads; :meth:`today` translates its column names."""
        return f"SHOW {self.replica} STATUS"

    @property
    def show_log(self) -> str:
        """The statement that shows the current end of the log."""
        return f"SHOW {self.log_status}"

    @property
    def reset(self) -> str:
        """The statement that removes all logs and resets the GTIDs."""
        return f"RESET {self.reset_logs}"

    def named(self, text: str) -> str:
        """Variables and options, given by their 9.7 names, under the names of this version."""
        if self.replica_variables == "replica_":
            return text
        return text.replace("replica_", "slave_").replace("replica-", "slave-").replace("source_", "master_")

    @staticmethod
    def today(column: str) -> str:
        """The 9.7 name of a column of the replica's status."""
        return column.replace("Master", "Source").replace("Slave", "Replica")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Features and defaults of a version: options, accounts, storage, and its mysqlbinlog (versions 1, versions 7,
    versions 8).
    """

    has_v1_option: bool = False
    v1_option_deprecated: bool | None = None
    gtid_mode: str = "ON"
    log_bin: bool = True
    server_id: int = 1
    binlog_format_deprecated: bool = True
    applier_workers: int = 4
    authentication: str = "caching_sha2_password"
    native_password: str = "gone"  # noqa: S105 - or on, or off: whether there is the plugin
    persist: bool = True
    lob_format: str = "new"
    small_lob_changes: str | None = "first"  # or any: the versions of a LOB whose pages small changes overwrite
    sdi: bool = True
    max_row_versions: int | None = 255
    mysqlbinlog_json: str | None = "text"
    mysqlbinlog_flags: str = "list"
    mysqlbinlog_variable_charset: bool = True  # a user variable stands between SETs of character sets
    deviations: str | None = "observed"
    initialises_itself: bool = True
    utf8mb4_is_safe: bool = True
    secure_file_priv_empty: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Dialect:
    """One combination of reading, behaviour and field numbers, with the forms of a version."""

    name: str
    reader: ReaderRules = field(default_factory=ReaderRules)
    behaviour: ServerBehaviour = field(default_factory=ServerBehaviour)
    numbering: FieldNumbering = field(default_factory=FieldNumbering)
    log: LogForms = field(default_factory=LogForms)
    json: JsonForms = field(default_factory=JsonForms)
    terms: ServerTerms = field(default_factory=ServerTerms)
    server: ServerFacts = field(default_factory=ServerFacts)

    def __repr__(self) -> str:
        return f"<dialect {self.name}>"  # short: it stands in signatures as a default


def checked_dialect(dialect: Dialect) -> Dialect:
    """Return a dialect that a caller gave. Raises TypeError for another kind of value, such as a version's text."""
    if not isinstance(dialect, Dialect):
        raise TypeError(f"expected a Dialect, such as dialect('9.7.4') gives, not {dialect!r}")
    return dialect


def flipped(dialect: Dialect, *switches: str) -> Dialect:
    """The dialect with the given switches inverted."""
    now = {switch: not getattr(dialect.behaviour, switch) for switch in switches}
    return replace(dialect, behaviour=replace(dialect.behaviour, **now))


MYSQL: Final = Dialect(name="mysql-9.7")
SOURCE: Final = flipped(MYSQL, "refuse_unchanging_replace")
"""For diffs in the log of a server that made the change itself: its own applier refuses some of them."""
WORKLOG: Final = Dialect(
    name="worklog",
    reader=ReaderRules(strict=True),
    behaviour=ServerBehaviour(
        partial_remove=False,
        refuse_unchanging_replace=False,
        null_takes_empty_diffs=False,
        stores_invalid_text=False,
        reads_wide_decimals=False,
        copies_full_values=False,
        looks_up_by_before_image=False,
        diffs_miss_triggers=False,
        nests_without_limit=False,
        empties_damaged_keys=False,
        storage_misses_triggers=False,
    ),
    numbering=FieldNumbering(worklog_metadata=True),
)
DIALECTS: Final = {dialect.name: dialect for dialect in (MYSQL, WORKLOG)}
