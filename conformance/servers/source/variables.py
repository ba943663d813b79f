"""System variables of a source: what a server of the log's version has, as far as clients ask for it.

Variables that a source without semi-synchronous replication lacks are unknown here too (error 1193): that is how a
server refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.servers.source.packets import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.servers.source.packets import Value

_FIXED: Final[dict[str, Value]] = {
    "auto_increment_increment": 1,
    "auto_increment_offset": 1,
    "autocommit": 1,
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_value_options": "",
    "binlog_rows_query_log_events": 0,
    "binlog_transaction_compression": 0,
    "binlog_expire_logs_seconds": 2592000,
    "character_set_client": "utf8mb4",
    "character_set_connection": "utf8mb4",
    "character_set_database": "utf8mb4",
    "character_set_results": "utf8mb4",
    "character_set_server": "utf8mb4",
    "character_set_system": "utf8mb3",
    "collation_connection": "utf8mb4_0900_ai_ci",
    "collation_database": "utf8mb4_0900_ai_ci",
    "collation_server": "utf8mb4_0900_ai_ci",
    "default_storage_engine": "InnoDB",
    "enforce_gtid_consistency": "ON",
    "event_scheduler": "OFF",
    "foreign_key_checks": 1,
    "have_ssl": "YES",
    "hostname": "localhost",
    "init_connect": "",
    "innodb_version": "",
    "interactive_timeout": 28800,
    "innodb_lock_wait_timeout": 50,
    "license": "Apache-2.0",
    "local_infile": 0,
    "lock_wait_timeout": 31536000,
    "log_bin": 1,
    "log_replica_updates": 1,
    "log_slave_updates": 1,
    "lower_case_table_names": 0,
    "max_allowed_packet": 67108864,
    "max_execution_time": 0,
    "max_connections": 151,
    "net_buffer_length": 16384,
    "net_read_timeout": 30,
    "net_write_timeout": 60,
    "performance_schema": 0,
    "protocol_version": 10,
    "query_cache_size": 0,
    "query_cache_type": "OFF",
    "read_only": 0,
    "require_secure_transport": 0,
    "secure_file_priv": "",
    "session_track_gtids": "OFF",
    "skip_networking": 0,
    "socket": "",
    "sql_mode": "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION",
    "sql_require_primary_key": 0,
    "super_read_only": 0,
    "system_time_zone": "UTC",
    "time_zone": "SYSTEM",
    "transaction_isolation": "REPEATABLE-READ",
    "transaction_read_only": 0,
    "tx_isolation": "REPEATABLE-READ",
    "tx_read_only": 0,
    "version_comment": "binlog-lab source",
    "version_compile_machine": "x86_64",
    "version_compile_os": "Linux",
    "wait_timeout": 28800,
    "warning_count": 0,
}
_SWITCHES: Final = frozenset(
    (
        "autocommit", "binlog_rows_query_log_events", "binlog_transaction_compression", "foreign_key_checks",
        "local_infile", "log_bin", "log_replica_updates", "log_slave_updates", "performance_schema", "read_only",
        "require_secure_transport", "skip_networking", "sql_require_primary_key", "super_read_only",
        "transaction_read_only", "tx_read_only",
    )
)  # fmt: skip
_SCOPES: Final = ("global.", "session.", "local.")


class Variables:
    """The global variables, with what the log says; each session may set its own."""

    def __init__(self, facts: Mapping[str, Value]) -> None:
        self._global: dict[str, Value] = {**_FIXED, **facts}

    def own(self) -> dict[str, Value]:
        """The variables of a new session."""
        return dict(self._global)

    def follow(self, facts: Mapping[str, Value]) -> None:
        """Take new values of variables that follow the logs."""
        self._global.update(facts)

    def value(self, session: Mapping[str, Value], name: str) -> Value:
        """``@@name``, with or without a scope. Raises :class:`Refused` for an unknown one."""
        low = name.lower()
        found: Mapping[str, Value] = session
        for scope in _SCOPES:
            if low.startswith(scope):
                low = low.removeprefix(scope)
                found = self._global if scope == "global." else session
        if low not in found:
            raise Refused(1193, "HY000", f"Unknown system variable '{low}'")
        return found[low]

    def shown(self, session: Mapping[str, Value]) -> list[tuple[str, str]]:
        """Names and values as SHOW VARIABLES has them."""
        return sorted((name, _text(name, value)) for name, value in session.items())


def _text(name: str, value: Value) -> str:
    if name in _SWITCHES:
        return "ON" if value in (1, "1", "ON", "on") else "OFF"
    return "" if value is None else str(value)
