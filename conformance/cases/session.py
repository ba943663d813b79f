"""The session variables that shape what a statement writes, and the log events they leave around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.cases.row_images import RowImage

SQL_MODE_TEXT: Final = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION"
)
SORT_BUFFER: Final = 256 << 20  # read-backs sort rows with whole documents (else error 1038)
SQL_MODE: Final = 0x45A00020  # the same as the server writes it into QUERY events


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Settings of the session that runs a Case. ``row_metadata`` is global: it must be the server's own."""

    row_image: RowImage = RowImage.FULL
    partial_json: bool = True
    compression: bool = False
    rows_query: bool = False
    foreign_key_checks: bool = True
    unique_checks: bool = True

    def statements(self) -> list[str]:
        """The SET statements that make a session like this, whatever the server's defaults are."""
        settings = {
            "sql_mode": f"'{SQL_MODE_TEXT}'",
            "collation_server": "utf8mb4_0900_ai_ci",
            "default_collation_for_utf8mb4": "utf8mb4_0900_ai_ci",
            "autocommit": "1",
            "sort_buffer_size": str(SORT_BUFFER),
            "time_zone": "'+00:00'",
            "binlog_format": "ROW",
            "binlog_row_image": str(self.row_image),
            "binlog_row_value_options": "'PARTIAL_JSON'" if self.partial_json else "''",
            "binlog_transaction_compression": str(int(self.compression)),
            "binlog_rows_query_log_events": str(int(self.rows_query)),
            "foreign_key_checks": str(int(self.foreign_key_checks)),
            "unique_checks": str(int(self.unique_checks)),
        }
        return [
            "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
            "SET " + ", ".join(f"SESSION {name}={value}" for name, value in settings.items()),
        ]
