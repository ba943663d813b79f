"""The facts about a table in TABLE_MAP, and the variable ``binlog_row_metadata`` (WL#4618)."""
